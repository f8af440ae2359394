import type { Rate } from './limits.js'

/** So many at once, and so many a second after that (RFC 9113, 10.5): a bucket of tokens. */
export class Allowance {
  readonly #rate: Rate
  readonly #now: () => number
  #left: number
  #filledMs: number

  /** `now` gives milliseconds. */
  constructor(rate: Rate, now: () => number) {
    this.#rate = rate
    this.#now = now
    this.#left = rate.burst
    this.#filledMs = now()
  }

  /** False when there is none left. The clock is asked only then: most clients never get there. */
  take(): boolean {
    if (this.#left < 1) this.#refill()
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }

  /** Work that was done well makes room for more of what comes with it. */
  earn(count: number): void {
    this.#left = Math.min(this.#rate.burst, this.#left + count)
  }

  #refill(): void {
    const nowMs = this.#now()
    this.earn(((nowMs - this.#filledMs) / 1000) * this.#rate.perSecond)
    this.#filledMs = nowMs
  }
}
