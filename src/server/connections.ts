import { InFlight } from '../work/in-flight.js'

/** The open connections. A shutdown can wait until there are none. */
export class Connections<T> implements Iterable<T> {
  readonly #open = new Set<T>()
  readonly #inFlight = new InFlight()

  get size(): number {
    return this.#open.size
  }

  add(connection: T): void {
    this.#open.add(connection)
    this.#inFlight.begin()
  }

  delete(connection: T): void {
    if (this.#open.delete(connection)) this.#inFlight.end()
  }

  /** Resolves when none is open. */
  idle(): Promise<void> {
    return this.#inFlight.idle()
  }

  /** Iterates over a copy, so connections may open or close meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#open].values()
  }
}
