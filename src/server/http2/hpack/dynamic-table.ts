import { type Field, MIN_FIELD_BYTES } from './field.js'

/** The dynamic table of one direction of a connection, newest entry first (RFC 7541, 2.3.2 and 4). */
export class DynamicTable {
  /** A ring buffer: the newest entry is just before `#next`. */
  readonly #ring: (Field | undefined)[]
  #next = 0
  #count = 0
  #sizeBytes = 0
  #maxBytes: number

  /** `maxBytes` is the upper bound for later resizes. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#ring = new Array(Math.floor(maxBytes / MIN_FIELD_BYTES) + 1)
  }

  /** The entry at `index`; the newest has index 0. */
  get(index: number): Field | undefined {
    return index < this.#count ? this.#ring[this.#at(index)] : undefined
  }

  /**
   * Adds a field at the front and evicts the oldest entries that no longer fit. A field larger than the table empties
   * it.
   */
  add(field: Field): void {
    this.#evict(this.#maxBytes - field.sizeBytes)
    if (field.sizeBytes > this.#maxBytes) return
    this.#ring[this.#next] = field
    this.#next = (this.#next + 1) % this.#ring.length
    this.#count += 1
    this.#sizeBytes += field.sizeBytes
  }

  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes
    this.#evict(maxBytes)
  }

  #evict(toBytes: number): void {
    while (this.#count > 0 && this.#sizeBytes > toBytes) {
      const oldest = this.#at(this.#count - 1)
      this.#sizeBytes -= this.#ring[oldest]?.sizeBytes ?? 0
      this.#ring[oldest] = undefined
      this.#count -= 1
    }
  }

  #at(index: number): number {
    return (this.#next - 1 - index + this.#ring.length) % this.#ring.length
  }
}
