import type { Clock } from './base/clock.js'

/** The time that work under way gets when the process is asked to stop; none when a start has failed. */
export class DrainTime {
  readonly #ms: number
  readonly #clock: Clock
  #endMs = Number.NEGATIVE_INFINITY

  constructor(ms: number, clock: Clock) {
    this.#ms = ms
    this.#clock = clock
  }

  begin(): void {
    this.#endMs = this.#clock.now() + this.#ms
  }

  get hasBegun(): boolean {
    return Number.isFinite(this.#endMs)
  }

  get leftMs(): number {
    return Math.max(0, this.#endMs - this.#clock.now())
  }
}
