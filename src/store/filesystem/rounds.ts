import type { Clock } from '../../base/clock.js'

export interface RoundsOptions {
  readonly clock: Clock
  /** How often to see whether something is to be done. */
  readonly everyMs: number
  /** Begins a round; undefined when there is nothing to do now. */
  begin(): Promise<void> | undefined
  /** Told of a round that failed. The next one comes all the same. */
  failed(error: unknown): void
}

/** What a store does by itself, behind the back of every call: round after round, and never two at a time. */
export class Rounds {
  readonly #options: RoundsOptions
  readonly #stopTimer: () => void
  #underWay: Promise<void> | undefined
  #isStopped = false

  constructor(options: RoundsOptions) {
    this.#options = options
    this.#stopTimer = options.clock.every(options.everyMs, () => this.look())
  }

  /** Whether a round under way is to leave off. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Begins a round, unless one is under way or there is nothing to do. */
  look(): void {
    if (this.#underWay !== undefined || this.#isStopped) return
    this.#underWay = this.#options
      .begin()
      ?.catch(this.#options.failed)
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
