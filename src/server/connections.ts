/** The open connections. A shutdown can wait until there are none. */
export class Connections<T> implements Iterable<T> {
  readonly #open = new Set<T>()
  #idle: (() => void)[] = []

  get size(): number {
    return this.#open.size
  }

  add(connection: T): void {
    this.#open.add(connection)
  }

  delete(connection: T): void {
    this.#open.delete(connection)
    if (this.#open.size > 0) return
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves when none is open. */
  idle(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Iterates over a copy, so connections may open or close meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#open].values()
  }
}
