/** The share of a call that is not answered yet. Most answers are smaller, and their size is unknown before. */
export const UNANSWERED_BYTES = 64 * 1024

/** An answer that waits for room. */
export interface Waiting {
  readonly sizeBytes: number
  /** Called once there is room. From then on the bytes count, until `left` is called for them. */
  readonly begin: () => void
}

/**
 * The answers of one connection that wait for its client. Flow control lets a client send requests without reading
 * answers (RFC 9113, 5.2 and 10.5). Above the bound, further requests of the connection wait, so that such a client
 * causes no more answers. Streamed answers do not count, because each stream waits for its client itself.
 *
 * It holds no memory of its own: the ledger counts the bytes of these answers, under `answers`.
 */
export class Backlog {
  readonly #maxBytes: number
  #waitingBytes = 0
  readonly #waiting = new Set<Waiting>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(sizeBytes: number): void {
    this.#waitingBytes += sizeBytes
  }

  left(sizeBytes: number): void {
    this.#waitingBytes -= sizeBytes
    for (const waiting of this.#waiting) {
      if (!this.#hasRoomFor(waiting.sizeBytes)) return
      this.#waiting.delete(waiting)
      this.#begin(waiting)
    }
  }

  /** Counts the bytes and returns true if there is room and nothing waits. */
  take(sizeBytes: number): boolean {
    if (this.#waiting.size > 0 || !this.#hasRoomFor(sizeBytes)) return false
    this.#waitingBytes += sizeBytes
    return true
  }

  /** Begins it once the client has taken enough. */
  wait(waiting: Waiting): void {
    this.#waiting.add(waiting)
  }

  /** Removes an answer that is no longer wanted. */
  forget(waiting: Waiting): void {
    this.#waiting.delete(waiting)
  }

  /** An answer above the bound is made alone. */
  #hasRoomFor(sizeBytes: number): boolean {
    return this.#waitingBytes <= Math.max(0, this.#maxBytes - sizeBytes)
  }

  #begin({ sizeBytes, begin }: Waiting): void {
    this.#waitingBytes += sizeBytes
    begin()
  }
}
