import type { Clock } from '../../base/clock.js'
import type { Log } from '../../base/log.js'
import type { Inspection } from './inspection.js'
import type { Shelf } from './shelf.js'

/** What those work with who look after what a store keeps. */
export interface UpkeepParts extends RoundsParts {
  readonly shelf: Shelf
  readonly inspection: Inspection
}

interface RoundsParts {
  readonly clock: Clock
  readonly log: Log
}

/** What a store does by itself, behind the back of every call: round after round, and never two at a time. */
export abstract class Rounds {
  readonly #log: Log
  readonly #trouble: string
  readonly #stopTimer: () => void
  #underWay: Promise<void> | undefined
  #isStopped = false

  /** Looks every so often whether something is to be done. `trouble` is the line of a round that failed; the next one comes all the same. */
  constructor({ clock, log }: RoundsParts, everyMs: number, trouble: string) {
    this.#log = log
    this.#trouble = trouble
    this.#stopTimer = clock.every(everyMs, () => this.look())
  }

  /** Begins a round; undefined when there is nothing to do now. */
  protected abstract round(): Promise<void> | undefined

  /** Whether a round under way is to leave off. */
  protected get isStopped(): boolean {
    return this.#isStopped
  }

  /** Begins a round, unless one is under way or there is nothing to do. */
  look(): void {
    if (this.#underWay !== undefined || this.#isStopped) return
    this.#underWay = this.round()
      ?.catch((error: unknown) => this.#log.error(this.#trouble, { error }))
      .finally(() => {
        this.#underWay = undefined
      })
  }

  /** Resolves once the round under way has ended. */
  async stop(): Promise<void> {
    this.#stopTimer()
    this.#isStopped = true
    await this.#underWay
  }
}
