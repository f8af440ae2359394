import { NEWER, NONE, OLDER, type Records } from './records.js'

/** The two ends of the order of use. The links between them are in the records. */
export interface RecencyImage {
  readonly oldest: number
  readonly newest: number
}

/** The order of last use: a doubly linked list through the records. Every operation is O(1). */
export class Recency {
  readonly #records: Records
  #oldest = NONE
  #newest = NONE

  constructor(records: Records) {
    this.#records = records
  }

  get oldest(): number {
    return this.#oldest
  }

  get newest(): number {
    return this.#newest
  }

  /** Restores the list that an earlier run left in the records. */
  restore({ oldest, newest }: RecencyImage): void {
    this.#oldest = oldest
    this.#newest = newest
  }

  clear(): void {
    this.#oldest = NONE
    this.#newest = NONE
  }

  /** From the least recently used slot to the most recently used. */
  *slots(): Generator<number> {
    for (let slot = this.#oldest; slot !== NONE; slot = this.#records.get(slot, NEWER)) yield slot
  }

  *newestFirst(): Generator<number> {
    for (let slot = this.#newest; slot !== NONE; slot = this.#records.get(slot, OLDER)) yield slot
  }

  append(slot: number): void {
    const records = this.#records
    records.set(slot, OLDER, this.#newest)
    records.set(slot, NEWER, NONE)
    if (this.#newest === NONE) this.#oldest = slot
    else records.set(this.#newest, NEWER, slot)
    this.#newest = slot
  }

  unlink(slot: number): void {
    const records = this.#records
    const older = records.get(slot, OLDER)
    const newer = records.get(slot, NEWER)
    if (older === NONE) this.#oldest = newer
    else records.set(older, NEWER, newer)
    if (newer === NONE) this.#newest = older
    else records.set(newer, OLDER, older)
  }

  moveToEnd(slot: number): void {
    if (slot === this.#newest) return
    const records = this.#records
    const older = records.exchange(slot, OLDER, this.#newest)
    // There is a newer one, because this one is not the newest.
    const newer = records.exchange(slot, NEWER, NONE)
    if (older === NONE) this.#oldest = newer
    else records.set(older, NEWER, newer)
    records.set(newer, OLDER, older)
    records.set(this.#newest, NEWER, slot)
    this.#newest = slot
  }
}
