/** What is kept for the next upload at most, and for how long: the parts that leave at a time by default are that much. */
const MAX_IDLE_BYTES = 64 * 1024 * 1024
const IDLE_MS = 10_000

/**
 * Memory for the parts of uploads, used again: fresh pages for each part, and the collections they bring, cost more than to
 * send it.
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

  /** Nobody reads or writes it any more. */
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
