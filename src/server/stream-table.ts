import { types } from 'node:util'

interface Held<S> {
  stream: S | undefined
}

/**
 * The open streams of a session by their ids: a Map that lets go of what is deleted. A Map of V8 does not, when a table of
 * it that was filled up has grown old: it points to the table that came after it and so on, and each of them to what it
 * held when it was replaced. Here that is an empty object for each stream, and not the whole of a call.
 */
export class StreamTable<S> extends Map<number, S> {
  readonly #held = new Map<number, Held<S>>()

  override get size(): number {
    return this.#held.size
  }

  override has(id: number): boolean {
    return this.#held.has(id)
  }

  override get(id: number): S | undefined {
    return this.#held.get(id)?.stream
  }

  override set(id: number, stream: S): this {
    const held = this.#held.get(id)
    if (held === undefined) this.#held.set(id, { stream })
    else held.stream = stream
    return this
  }

  override delete(id: number): boolean {
    const held = this.#held.get(id)
    if (held !== undefined) held.stream = undefined
    return this.#held.delete(id)
  }

  override clear(): void {
    for (const id of this.#held.keys()) this.delete(id)
  }

  override *entries(): MapIterator<[number, S]> {
    for (const [id, { stream }] of this.#held) if (stream !== undefined) yield [id, stream]
  }

  override keys(): MapIterator<number> {
    return this.#held.keys()
  }

  override *values(): MapIterator<S> {
    for (const [, stream] of this.entries()) yield stream
  }

  override [Symbol.iterator](): MapIterator<[number, S]> {
    return this.entries()
  }

  override forEach(visit: (stream: S, id: number, map: Map<number, S>) => void, self?: unknown): void {
    for (const [id, stream] of this.entries()) Reflect.apply(visit, self, [stream, id, this])
  }
}

/**
 * Gives a session without streams such a table. Node keeps its own in a private field: should that go away, or hold
 * anything but an empty Map, it stays as it is and collections take longer.
 */
export const useStreamTable = (session: object): boolean => {
  const [symbol] = Object.getOwnPropertySymbols(session).filter(({ description }) => description === 'state')
  const state: unknown = symbol && Reflect.get(session, symbol)
  if (typeof state !== 'object' || state === null) return false
  const streams: unknown = Reflect.get(state, 'streams')
  if (!types.isMap(streams) || streams.size > 0) return false
  return Reflect.set(state, 'streams', new StreamTable())
}
