import { StatusError } from '../../../base/status-error.js'
import { guardedImmediate } from '../../../base/timers.js'
import { cancellation, whenAborted } from '../../../rpc/call.js'

export interface BatcherOptions<Item, Answer> {
  /** Bound on the bytes of a batch, and on the bytes that wait. */
  readonly maxBytes: () => number
  readonly maxQueuedBytes: number
  /** Concurrent batches. */
  readonly slots: number
  /** Sends a batch. Resolves with one answer per item, in order. */
  send(items: readonly Item[], signal: AbortSignal): Promise<readonly Answer[]>
}

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly sizeBytes: number
  resolve(answer: Answer): void
  reject(error: StatusError): void
  /** Called when the caller gives up. */
  gaveUp: () => void
}

/** Bytes of one item in a message besides its blob. */
const ITEM_BYTES = 256

/**
 * Joins small concurrent calls into batches. A batch is sent in the same turn of the event loop while a slot is free,
 * so no call waits for others. Calls that arrive while all slots are taken form the next batches.
 */
export class Batcher<Item, Answer> {
  readonly #options: BatcherOptions<Item, Answer>
  readonly #waiting = new Set<Waiting<Item, Answer>>()
  #queuedBytes = 0
  #used = 0
  #isScheduled = false

  constructor(options: BatcherOptions<Item, Answer>) {
    this.#options = options
  }

  /** Whether another item of this size may wait. */
  hasRoom(sizeBytes: number): boolean {
    return this.#queuedBytes + sizeBytes <= this.#options.maxQueuedBytes
  }

  /** Rejects when the batch fails, and as soon as `signal` aborts. */
  add(item: Item, sizeBytes: number, signal: AbortSignal): Promise<Answer> {
    if (signal.aborted) return Promise.reject(cancellation(signal))
    return new Promise((resolve, reject) => {
      const waiting: Waiting<Item, Answer> = {
        item,
        sizeBytes: sizeBytes + ITEM_BYTES,
        gaveUp: () => this.#forget(waiting),
        resolve: (answer) => {
          signal.removeEventListener('abort', abort)
          resolve(answer)
        },
        reject: (error) => {
          signal.removeEventListener('abort', abort)
          reject(error)
        },
      }
      const abort = (): void => {
        waiting.gaveUp()
        reject(cancellation(signal))
      }
      whenAborted(signal, abort)
      this.#waiting.add(waiting)
      this.#queuedBytes += waiting.sizeBytes
      this.#schedule()
    })
  }

  #forget(waiting: Waiting<Item, Answer>): void {
    if (this.#waiting.delete(waiting)) this.#queuedBytes -= waiting.sizeBytes
  }

  #schedule(): void {
    if (this.#isScheduled || this.#used >= this.#options.slots) return
    this.#isScheduled = true
    guardedImmediate(() => {
      this.#isScheduled = false
      while (this.#used < this.#options.slots && this.#waiting.size > 0) void this.#dispatch()
    })
  }

  async #dispatch(): Promise<void> {
    const batch = this.#nextBatch()
    const controller = new AbortController()
    let wanted = batch.length
    // A batch that no caller waits for is cancelled.
    for (const waiting of batch) {
      waiting.gaveUp = () => {
        wanted -= 1
        if (wanted === 0) controller.abort()
      }
    }
    this.#used += 1
    try {
      const items = batch.map(({ item }) => item)
      const answers = await this.#options.send(items, controller.signal)
      for (const [at, waiting] of batch.entries()) waiting.resolve(answers[at] as Answer)
    } catch (error) {
      for (const waiting of batch) waiting.reject(StatusError.from(error))
    } finally {
      this.#used -= 1
      this.#schedule()
    }
  }

  #nextBatch(): Waiting<Item, Answer>[] {
    const maxBytes = this.#options.maxBytes()
    const batch: Waiting<Item, Answer>[] = []
    let sizeBytes = 0
    for (const waiting of this.#waiting) {
      if (batch.length > 0 && sizeBytes + waiting.sizeBytes > maxBytes) break
      sizeBytes += waiting.sizeBytes
      batch.push(waiting)
      this.#forget(waiting)
    }
    return batch
  }
}
