import type { Rate } from './limits.js'

/** A token bucket: a burst, and then a number of events per second (RFC 9113, 10.5). */
export class Allowance {
  readonly #rate: Rate
  readonly #now: () => number
  #left: number
  #filledMs: number

  /** `now` returns milliseconds. */
  constructor(rate: Rate, now: () => number) {
    this.#rate = rate
    this.#now = now
    this.#left = rate.burst
    this.#filledMs = now()
  }

  /** Takes a token; false if none is left. Reads the clock only when empty, which few clients cause. */
  take(): boolean {
    if (this.#left < 1) this.#refill()
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }

  /** Adds tokens for useful work, because such work causes some of these events. */
  earn(count: number): void {
    this.#left = Math.min(this.#rate.burst, this.#left + count)
  }

  #refill(): void {
    const nowMs = this.#now()
    this.earn(((nowMs - this.#filledMs) / 1000) * this.#rate.perSecond)
    this.#filledMs = nowMs
  }
}
