/** Who the process holds bytes for: a connection, the address that it comes from, or an instance. */
export class Holder {
  readonly parent: Holder | undefined
  /** The part of each kind's bound that this holder may have. */
  readonly share: number
  /** Bytes by the number of their kind. */
  readonly #heldBytes: number[] = []
  readonly #onEmpty: (() => void) | undefined
  #totalBytes = 0

  /** `onEmpty` is called whenever nothing is held any more. */
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

  /** For `Kind` alone. */
  count(kind: number, byBytes: number): void {
    this.#heldBytes[kind] = this.heldBytes(kind) + byBytes
    this.#totalBytes += byBytes
    if (this.#totalBytes === 0) this.#onEmpty?.()
  }
}
