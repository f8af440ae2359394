/** A queue of uploads to a slow store, as other queues of the process see it. */
export interface OrderedQueue {
  /** The number of the oldest upload that waits or is in flight; infinite if there is none. */
  readonly oldest: number
  /** Called when other queues may have made progress, and once when all stores are built. */
  goOn(): void
}

/**
 * The order of all uploads that wait in this process. An action result is uploaded only after all blobs that were
 * queued before it, in whatever queue, so that no other server finds a result whose blobs it cannot find.
 */
export class UploadOrder {
  readonly #queues = new Set<OrderedQueue>()
  #last = 0
  #hasBegun = false

  /** Whether uploads may begin: only then are the uploads known that an earlier process left in any queue. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Numbers grow. Those of uploads that an earlier process left are negative. */
  next(): number {
    this.#last += 1
    return this.#last
  }

  /** Adds a queue until the returned function is called. */
  add(queue: OrderedQueue): () => void {
    this.#queues.add(queue)
    return () => void this.#queues.delete(queue)
  }

  /** All stores are built. */
  begin(): void {
    this.#hasBegun = true
    for (const queue of this.#queues) queue.goOn()
  }

  /** The number of the oldest upload in the other queues. */
  oldestBeside(one: OrderedQueue): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const queue of this.#queues) if (queue !== one) oldest = Math.min(oldest, queue.oldest)
    return oldest
  }

  /** The oldest upload of a queue has ended. */
  changed(one: OrderedQueue): void {
    for (const queue of this.#queues) if (queue !== one) queue.goOn()
  }
}
