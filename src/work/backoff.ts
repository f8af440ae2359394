export interface BackoffOptions {
  readonly firstMs: number
  readonly maxMs: number
  /** 0 to 1: spreads the tries of many processes over the second half of each time. 1 by default, which is the whole of it. */
  readonly random?: (() => number) | undefined
}

/** How long to wait before the next try: twice as long each time. */
export class Backoff {
  readonly #options: BackoffOptions
  #failures = 0

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  next(): number {
    const { firstMs, maxMs } = this.#options
    return this.spread(Math.min(maxMs, firstMs * 2 ** this.#failures++))
  }

  /** A time of one's own, spread like the others. */
  spread(limitMs: number): number {
    const { random = () => 1 } = this.#options
    return Math.round(limitMs * (0.5 + random() / 2))
  }

  reset(): void {
    this.#failures = 0
  }
}
