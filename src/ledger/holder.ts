import type { SharedLedgerMemory } from './totals.js'

/** The party that the process holds bytes for: a connection, its address, or an instance. */
export class Holder {
  readonly parent: Holder | undefined
  /** The share of each kind's bound that this holder may use. */
  readonly share: number
  /** Bytes by kind number. */
  readonly #heldBytes: number[] = []
  readonly #onEmpty: (() => void) | undefined
  #totalBytes = 0
  #keptCount = 0

  /** `onEmpty` is called whenever nothing is held any more. */
  constructor(share: number, parent?: Holder, onEmpty?: () => void) {
    this.share = share
    this.parent = parent
    this.#onEmpty = onEmpty
  }

  /** The number of its row in the memory that threads share; undefined if they share none. */
  get row(): number | undefined {
    return undefined
  }

  get isEmpty(): boolean {
    return this.#totalBytes === 0 && this.#keptCount === 0
  }

  /** Something is held that no kind counts, until the returned function is called, once. */
  keep(): () => void {
    this.#keptCount += 1
    return () => {
      this.#keptCount -= 1
      if (this.isEmpty) this.#onEmpty?.()
    }
  }

  heldBytes(kind: number): number {
    return this.#heldBytes[kind] ?? 0
  }

  /** Only for `Kind`. */
  count(kind: number, byBytes: number): void {
    this.#heldBytes[kind] = this.heldBytes(kind) + byBytes
    this.#totalBytes += byBytes
    if (this.isEmpty) this.#onEmpty?.()
  }
}

/** An address whose connections are on several threads. Each of them counts in the same row of shared memory. */
export class SharedHolder extends Holder {
  readonly #number: number
  readonly #row: Int32Array

  constructor(share: number, memory: SharedLedgerMemory, row: number, onEmpty?: () => void) {
    super(share, undefined, onEmpty)
    this.#number = row
    this.#row = memory.row(row)
  }

  override get row(): number {
    return this.#number
  }

  override heldBytes(kind: number): number {
    return Atomics.load(this.#row, kind)
  }

  override count(kind: number, byBytes: number): void {
    Atomics.add(this.#row, kind, byBytes)
    super.count(kind, byBytes)
  }
}
