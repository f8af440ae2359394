/** An element that knows its position, so that its removal needs no search. */
export interface Positioned {
  /** Index in the collection. Maintained by the only collection it is in. */
  position: number
}

/**
 * The calls in progress. Not a Set: when the table of a Set is full, V8 allocates a new one, and the old one still refers
 * to it. An old table in the old generation then keeps all later ones, with calls that ended long ago. The bench case
 * `FindMissingBlobs(1) 4x32` guards this: with a Set 11.7 instead of 6.0 us of CPU a call, 168 instead of 115 MiB.
 */
export class CallsInFlight<T extends Positioned> implements Iterable<T> {
  readonly #calls: T[] = []

  add(call: T): void {
    call.position = this.#calls.length
    this.#calls.push(call)
  }

  delete(call: T): void {
    const last = this.#calls.pop()
    if (last === undefined || last === call) return
    this.#calls[call.position] = last
    last.position = call.position
  }

  /** Iterates over a copy, so calls may begin or end meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#calls].values()
  }
}
