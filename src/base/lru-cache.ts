interface Entry<V> {
  readonly key: string
  readonly value: V
  readonly weight: number
  /** What was asked for just before and just after it. */
  older: Entry<V> | undefined
  newer: Entry<V> | undefined
}

/**
 * Values that can be found again, of bounded weight in all; what was not asked for the longest goes first. The order is a
 * list and not that of the Map: an entry moved to its end with each `get` fills up its table again and again, and tables
 * that were left keep each other, and what came after them, from the collector.
 */
export class LruCache<V> {
  readonly #maxWeight: number
  readonly #entries = new Map<string, Entry<V>>()
  #oldest: Entry<V> | undefined
  #newest: Entry<V> | undefined
  #weight = 0

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry !== this.#newest) {
      this.#unlink(entry)
      this.#append(entry)
    }
    return entry.value
  }

  /** What weighs more than a quarter of the whole is not kept: it would cost too much else. */
  set(key: string, value: V, weight: number): void {
    this.delete(key)
    if (weight > this.#maxWeight / 4) return
    const entry: Entry<V> = { key, value, weight, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#append(entry)
    this.#weight += weight
    while (this.#weight > this.#maxWeight && this.#oldest !== undefined) this.delete(this.#oldest.key)
  }

  clear(): void {
    this.#entries.clear()
    this.#oldest = undefined
    this.#newest = undefined
    this.#weight = 0
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#unlink(entry)
    this.#weight -= entry.weight
  }

  #append(entry: Entry<V>): void {
    entry.older = this.#newest
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
  }

  /** Leaves nothing in it that points to another: one that has grown old would keep it. */
  #unlink(entry: Entry<V>): void {
    const { older, newer } = entry
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    entry.older = undefined
    entry.newer = undefined
  }
}
