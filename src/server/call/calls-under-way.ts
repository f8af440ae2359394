/** Something that knows its place among the calls under way, so that it can leave without a search. */
export interface UnderWay {
  /** Where it stands; kept by the one collection it is in. */
  position: number
}

/**
 * The calls under way. Not a Set, for the sake of the collector: whenever the table of a Set fills up V8 makes another and
 * lets the old one point to it and to what it held. One such table that has grown old keeps every later one alive, and
 * with them calls that ended long ago, each of which is then copied twice.
 */
export class CallsUnderWay<T extends UnderWay> implements Iterable<T> {
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

  /** Those of this moment, whatever comes or ends meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#calls].values()
  }
}
