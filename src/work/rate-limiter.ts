/** A number of events at once, and then so many a second. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

/** A token bucket. `now` returns milliseconds. */
export class RateLimiter {
  readonly #rate: Rate
  readonly #now: () => number
  #tokens: number
  #filledMs: number

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate
    this.#now = now
    this.#tokens = rate.burst
    this.#filledMs = now()
  }

  /** Takes a token; false if none is left. */
  take(): boolean {
    this.#fill()
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }

  /** Time until the next token. */
  get waitMs(): number {
    return Math.ceil((Math.max(0, 1 - this.#tokens) / this.#rate.perSecond) * 1000)
  }

  /** Adds tokens. */
  earn(count: number): void {
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + count)
  }

  #fill(): void {
    const nowMs = this.#now()
    this.earn((Math.max(0, nowMs - this.#filledMs) / 1000) * this.#rate.perSecond)
    this.#filledMs = nowMs
  }
}
