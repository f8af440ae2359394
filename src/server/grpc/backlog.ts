/** What a call that has not been answered yet counts for: most answers are smaller, and none is known before it is made. */
export const UNANSWERED_BYTES = 64 * 1024

/** An answer that is to be made. */
export interface Waiting {
  readonly sizeBytes: number
  /** Called once there is room for it: its bytes count from then on, and have to be told as `left`. */
  readonly begin: () => void
}

/**
 * The answers of one connection that wait for its client, which flow control lets ask without reading (RFC 9113, 5.2 and
 * 10.5). While they are many, further requests of the connection wait: a client that asks and does not read gets no more
 * answers made than that. Streams of answers are not counted, because each waits for its client by itself.
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

  /** Begins it at once, or once the client has taken enough. Answers whether it has begun. */
  whenRoom(waiting: Waiting): boolean {
    const isRoom = this.#waiting.size === 0 && this.#hasRoomFor(waiting.sizeBytes)
    if (isRoom) this.#begin(waiting)
    else this.#waiting.add(waiting)
    return isRoom
  }

  /** One that waits is not wanted any more. */
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
