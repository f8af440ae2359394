import { isStatus, type StatusError } from '../../base/status-error.js'

/** How far a reader may lag behind a copy before it has to leave it: what a copy keeps in memory at most, and a chunk. */
export const WINDOW_BYTES = 4 * 1024 * 1024

/** Bytes of a copy, and what has to be known of all up to their end by one who goes on behind them without it. */
export interface Shown<Mark> {
  readonly bytes: Buffer
  readonly mark: Mark
}

/** The latest bytes of a copy, for readers who keep up with it. It waits for none of them. */
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
   * No more comes: that was the whole blob, or the copy failed. A blob that is wrong fails its readers too; whatever else
   * happened to the copy, they may go on without it.
   */
  end(failure?: StatusError): void {
    if (this.#isOver) return
    this.#isOver = true
    if (isStatus(failure, 'DATA_LOSS')) this.#failure = failure
    else this.#isAbandoned = failure !== undefined
    this.wake()
  }

  /**
   * The bytes at a position, where some of those that were added begin, or why there are none: they are gone, are still to come,
   * the blob is over or wrong.
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

  /** Resolves when something has changed. */
  news(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Lets all who wait look again. */
  wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}
