import type { Clock } from '../../../base/clock.js'
import type { Log } from '../../../log/log.js'
import type { Catalog } from './catalog.js'
import type { Inspection } from './inspection.js'

/** What the background work of a store needs. */
export interface UpkeepParts extends RoundsParts {
  readonly catalog: Catalog
  readonly inspection: Inspection
}

interface RoundsParts {
  readonly clock: Clock
  readonly log: Log
}

/** Background work of a store, in rounds that never overlap. No call waits for it. */
export abstract class Rounds {
  readonly #log: Log
  readonly #trouble: string
  readonly #stopTimer: () => void
  #underWay: Promise<void> | undefined
  #isStopped = false

  /** Checks every `everyMs` whether there is work. A failed round logs `trouble`; the next one runs as usual. */
  constructor({ clock, log }: RoundsParts, everyMs: number, trouble: string) {
    this.#log = log
    this.#trouble = trouble
    this.#stopTimer = clock.every(everyMs, () => this.look())
  }

  /** Starts a round; undefined when there is nothing to do now. */
  protected abstract round(): Promise<void> | undefined

  /** Whether the current round must stop. */
  protected get isStopped(): boolean {
    return this.#isStopped
  }

  /** Starts a round unless one is running or there is nothing to do. */
  look(): void {
    if (this.#underWay !== undefined || this.#isStopped) return
    this.#underWay = this.round()
      ?.catch((error: unknown) => this.#log.error(this.#trouble, { error }))
      .finally(() => {
        this.#underWay = undefined
      })
  }

  /** Resolves once the current round has ended. */
  async stop(): Promise<void> {
    this.#stopTimer()
    this.#isStopped = true
    await this.#underWay
  }
}
