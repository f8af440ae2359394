/** The party that the process holds bytes for: a connection, its address, or an instance. */
export class Holder {
  readonly parent: Holder | undefined
  /** The share of each kind's bound that this holder may use. */
  readonly share: number
  /** Bytes by kind number. */
  readonly #heldBytes: number[] = []
  readonly #onEmpty: (() => void) | undefined
  #totalBytes = 0

  /** `onEmpty` is called whenever the held bytes drop to zero. */
  constructor(share: number, parent?: Holder, onEmpty?: () => void) {
    this.share = share
    this.parent = parent
    this.#onEmpty = onEmpty
  }

  get isEmpty(): boolean {
    return this.#totalBytes === 0
  }

  heldBytes(kind: number): number {
    return this.#heldBytes[kind] ?? 0
  }

  /** Only for `Kind`. */
  count(kind: number, byBytes: number): void {
    this.#heldBytes[kind] = this.heldBytes(kind) + byBytes
    this.#totalBytes += byBytes
    if (this.#totalBytes === 0) this.#onEmpty?.()
  }
}

/** An address whose connections are on several threads. Each of them counts in the same row of shared memory. */
export class SharedHolder extends Holder {
  readonly #row: Int32Array

  constructor(share: number, row: Int32Array, onEmpty?: () => void) {
    super(share, undefined, onEmpty)
    this.#row = row
  }

  override heldBytes(kind: number): number {
    return Atomics.load(this.#row, kind)
  }

  override count(kind: number, byBytes: number): void {
    Atomics.add(this.#row, kind, byBytes)
    super.count(kind, byBytes)
  }
}
