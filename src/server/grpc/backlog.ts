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

  /** Begins it immediately if there is room, else once the client has taken enough. Returns whether it has begun. */
  whenRoom(waiting: Waiting): boolean {
    const isRoom = this.#waiting.size === 0 && this.#hasRoomFor(waiting.sizeBytes)
    if (isRoom) this.#begin(waiting)
    else this.#waiting.add(waiting)
    return isRoom
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
