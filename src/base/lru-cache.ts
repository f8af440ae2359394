/** Values that can be found again, of bounded weight in all; what was not asked for the longest goes first. */
export class LruCache<V> {
  readonly #maxWeight: number
  readonly #entries = new Map<string, { readonly value: V; readonly weight: number }>()
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
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** What weighs more than a quarter of the whole is not kept: it would cost too much else. */
  set(key: string, value: V, weight: number): void {
    this.delete(key)
    if (weight > this.#maxWeight / 4) return
    this.#entries.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) return
      this.delete(oldest)
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }
}
