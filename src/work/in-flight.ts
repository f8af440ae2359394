/** Counts work in flight, so that a shutdown can wait until there is none. */
export class InFlight {
  #count = 0
  #idle: (() => void)[] = []

  /** Counts `work` until it settles. It should not reject; if it does, the rejection is logged as one that nobody handles. */
  during(work: Promise<void>): void {
    this.begin()
    work.then(
      () => this.end(),
      (error: unknown) => {
        this.end()
        throw error
      },
    )
  }

  /** Counts one more, until a matching call of `end`. */
  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count > 0) return
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }
}
