/**
 * How many bytes all calls of a process hold at a time (RFC 9113, 10.5): large messages that come in, and answers that wait
 * for their clients.
 */
export class Budget {
  readonly #maxBytes: number
  #takenBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** False, with nothing taken, when that would be too much. */
  take(sizeBytes: number): boolean {
    if (this.#takenBytes + sizeBytes > this.#maxBytes) return false
    this.#takenBytes += sizeBytes
    return true
  }

  release(sizeBytes: number): void {
    this.#takenBytes -= sizeBytes
  }

  get takenBytes(): number {
    return this.#takenBytes
  }
}
