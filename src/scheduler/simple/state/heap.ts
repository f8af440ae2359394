/** An item of a heap. It knows its index, so it can leave from the middle in O(log n); -1: in no heap. */
export interface HeapItem {
  heapIndex: number
}

/** A binary heap; `first` is its smallest item by `isBefore`. An item is in at most one heap at a time. */
export class Heap<T extends HeapItem> {
  readonly #items: T[] = []
  readonly #isBefore: (a: T, b: T) => boolean

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  /** In no particular order. */
  get items(): readonly T[] {
    return this.#items
  }

  get size(): number {
    return this.#items.length
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    this.#items.push(item)
    this.#raise(item, this.#items.length - 1)
  }

  /** `item` must be in this heap. */
  remove(item: T): void {
    const index = item.heapIndex
    const last = this.#items.pop()
    item.heapIndex = -1
    if (last === undefined || last === item) return
    this.#raise(last, index)
    this.#lower(last, last.heapIndex)
  }

  /** Call this after an item of this heap became smaller. */
  moved(item: T): void {
    this.#raise(item, item.heapIndex)
  }

  #raise(item: T, from: number): void {
    let index = from
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = this.#items[parentIndex]
      if (parent === undefined || !this.#isBefore(item, parent)) break
      this.#setAt(parent, index)
      index = parentIndex
    }
    this.#setAt(item, index)
  }

  #lower(item: T, from: number): void {
    let index = from
    for (;;) {
      let childIndex = 2 * index + 1
      let child = this.#items[childIndex]
      const right = this.#items[childIndex + 1]
      if (child === undefined) break
      if (right !== undefined && this.#isBefore(right, child)) {
        child = right
        childIndex++
      }
      if (!this.#isBefore(child, item)) break
      this.#setAt(child, index)
      index = childIndex
    }
    this.#setAt(item, index)
  }

  #setAt(item: T, index: number): void {
    this.#items[index] = item
    item.heapIndex = index
  }
}
