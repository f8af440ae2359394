import { isStatus, type StatusError } from '../../../base/status-error.js'

/** How far a reader may lag behind a copy. A copy keeps at most this much, and one chunk, in memory. */
export const WINDOW_BYTES = 4 * 1024 * 1024

/** Bytes of a copy, and the state that a reader needs to continue after them on its own. */
export interface Shown<Mark> {
  readonly bytes: Buffer
  readonly mark: Mark
}

/** The latest bytes of a copy, for readers that keep up. It waits for none of them. */
export class Window<Mark> {
  readonly #chunks: Shown<Mark>[] = []
  #fromBytes = 0
  #endBytes = 0
  #isOver = false
  #isAbandoned = false
  #failure: StatusError | undefined
  #waiting: (() => void)[] = []

  add(bytes: Buffer, mark: Mark): void {
    this.#chunks.push({ bytes, mark })
    this.#endBytes += bytes.length
    for (let oldest = this.#chunks[0]; oldest !== undefined; oldest = this.#chunks[0]) {
      if (this.#endBytes - this.#fromBytes - oldest.bytes.length < WINDOW_BYTES) break
      this.#fromBytes += oldest.bytes.length
      this.#chunks.shift()
    }
    this.wake()
  }

  /**
   * Ends the window: the blob is complete, or the copy failed. Readers fail too if the blob is wrong. After any other
   * failure they may continue on their own.
   */
  end(failure?: StatusError): void {
    if (this.#isOver) return
    this.#isOver = true
    if (isStatus(failure, 'DATA_LOSS')) this.#failure = failure
    else this.#isAbandoned = failure !== undefined
    this.wake()
  }

  /**
   * The chunk that starts at a position, or why there is none: it was dropped, has not arrived, the blob has ended, or
   * it is wrong.
   */
  at(position: number): Shown<Mark> | 'gone' | 'later' | 'over' | StatusError {
    if (position < this.#fromBytes) return 'gone'
    let start = this.#fromBytes
    for (const chunk of this.#chunks) {
      if (position < start + chunk.bytes.length) return chunk
      start += chunk.bytes.length
    }
    if (!this.#isOver) return 'later'
    return this.#isAbandoned ? 'gone' : (this.#failure ?? 'over')
  }

  /** Resolves at the next change. */
  news(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Makes all waiting readers check again. */
  wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}
