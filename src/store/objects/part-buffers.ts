/** Bounds on the memory kept for later uploads, and on how long. By default this holds all concurrent parts. */
const MAX_IDLE_BYTES = 64 * 1024 * 1024
const IDLE_MS = 10_000

/**
 * Reuses the memory of upload parts, because allocating and collecting fresh memory costs more than sending a part.
 */
export class PartBuffers {
  readonly #partBytes: number
  readonly #idle: Buffer[] = []
  #forgetting: NodeJS.Timeout | undefined

  constructor(partBytes: number) {
    this.#partBytes = partBytes
  }

  take(sizeBytes: number): Buffer {
    const idle = sizeBytes === this.#partBytes ? this.#idle.pop() : undefined
    return idle ?? Buffer.allocUnsafeSlow(sizeBytes)
  }

  /** Returns a buffer that is no longer in use. */
  giveBack(buffer: Buffer): void {
    if (buffer.length !== this.#partBytes || (this.#idle.length + 1) * buffer.length > MAX_IDLE_BYTES) return
    this.#idle.push(buffer)
    this.#forgetting ??= setTimeout(() => this.#forget(), IDLE_MS).unref()
  }

  #forget(): void {
    this.#idle.length = 0
    this.#forgetting = undefined
  }
}
