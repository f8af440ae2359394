/** Shares one run of a piece of work among all concurrent callers with the same key. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T>>()

  run(key: string, work: () => Promise<T>): Promise<T> {
    const underWay = this.#flights.get(key)
    if (underWay !== undefined) return underWay
    const flight = work().finally(() => this.#flights.delete(key))
    this.#flights.set(key, flight)
    return flight
  }
}
