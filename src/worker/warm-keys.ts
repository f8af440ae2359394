import type { ToScheduler } from './connection.js'

/** Tells the scheduler what this worker holds ready for actions: all of it at a connection, then what changes. */
export class WarmKeys {
  readonly #look: () => readonly string[]
  readonly #send: (message: ToScheduler) => boolean
  #told: ReadonlySet<string> = new Set()

  /** `look` returns all that the worker holds now. */
  constructor(look: () => readonly string[], send: (message: ToScheduler) => boolean) {
    this.#look = look
    this.#send = send
  }

  /** For a Hello. */
  all(): readonly string[] {
    const keys = this.#look()
    this.#told = new Set(keys)
    return keys
  }

  /** Call it when something may have changed. Without a connection the next Hello tells it. */
  changed(): void {
    const now = new Set(this.#look())
    const added = [...now].filter((key) => !this.#told.has(key))
    const dropped = [...this.#told].filter((key) => !now.has(key))
    if (added.length + dropped.length > 0 && this.#send({ warm: { added, dropped } })) this.#told = now
  }
}
