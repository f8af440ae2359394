/** Counts work under way, for whoever must wait until there is none. */
export class Activity {
  #count = 0
  #idle: (() => void)[] = []

  /** Counts `work`, which must not reject, until it settles. */
  during(work: Promise<void>): void {
    this.begin()
    work.then(() => this.end())
  }

  /** Counts something more, until `end` is called for it. */
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

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }
}
