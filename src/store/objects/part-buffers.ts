import { ReusedBuffers } from '../../base/reused-buffers.js'
import { guardedTimeout } from '../../base/timers.js'

/** Bounds on the memory kept for later uploads, and on how long. By default this holds all concurrent parts. */
const MAX_IDLE_BYTES = 64 * 1024 * 1024
const IDLE_MS = 10_000

/**
 * Reuses the memory of upload parts, because allocating and collecting fresh memory costs more than sending a part.
 */
export class PartBuffers {
  readonly #partBytes: number
  readonly #whole: ReusedBuffers
  #forgetting: NodeJS.Timeout | undefined

  constructor(partBytes: number) {
    this.#partBytes = partBytes
    this.#whole = new ReusedBuffers(partBytes, MAX_IDLE_BYTES)
  }

  take(sizeBytes: number): Buffer {
    return sizeBytes === this.#partBytes ? this.#whole.take() : Buffer.allocUnsafeSlow(sizeBytes)
  }

  /** Returns a buffer that is no longer in use. */
  giveBack(buffer: Buffer): void {
    if (buffer.length !== this.#partBytes) return
    this.#whole.giveBack(buffer)
    this.#forgetting ??= guardedTimeout(() => this.#forget(), IDLE_MS).unref()
  }

  #forget(): void {
    this.#whole.forget()
    this.#forgetting = undefined
  }
}
