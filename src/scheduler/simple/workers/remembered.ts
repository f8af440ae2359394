import type { Standing } from '../state/standing.js'
import type { Worker } from '../state/state.js'

const MAX_NAMES = 1_000
const FOR_MS = 60 * 60_000

interface Left {
  readonly id: string
  readonly standing: Standing
  readonly forgetMs: number
}

/**
 * What became of actions on workers that have left, by name, so that a worker does not start with a clean record because it
 * connects again. Kept for an hour, and of at most 1,000 names.
 */
export class Remembered {
  readonly #byName = new Map<string, Left>()

  left({ id, offer: { name }, standing }: Worker, nowMs: number): void {
    this.#byName.delete(name)
    if (standing.isClean) return
    this.#byName.set(name, { id, standing, forgetMs: Math.max(nowMs, standing.untilMs) + FOR_MS })
    for (const oldest of this.#byName.keys()) {
      if (this.#byName.size <= MAX_NAMES) return
      this.#byName.delete(oldest)
    }
  }

  /** The record of the worker that comes back. A name that another worker has too does not say that it is the same one. */
  take(id: string, name: string, nowMs: number, others: Iterable<Worker>): Standing | undefined {
    const known = this.#byName.get(name)
    if (known === undefined) return undefined
    if (known.id !== id) for (const other of others) if (other.offer.name === name) return undefined
    this.#byName.delete(name)
    return nowMs < known.forgetMs ? known.standing : undefined
  }
}
