import { Readable } from 'node:stream'

/**
 * The request messages of a streaming call. One message is held at a time: grpc-js' own stream reads sixteen ahead,
 * which is 64 MiB of a client that sends 4 MiB each.
 */
export class RequestStream extends Readable {
  readonly #decode: (bytes: Buffer) => unknown
  readonly #startRead: () => void

  /** `startRead` asks for one more message, which comes as a call of `message` or of `halfClosed`. */
  constructor(decode: (bytes: Buffer) => unknown, startRead: () => void) {
    super({ objectMode: true, highWaterMark: 1 })
    this.#decode = decode
    this.#startRead = startRead
    // Whoever reads gets the error; a handler that does not read yet (or any more) must not bring down the process.
    this.on('error', () => {})
  }

  override _read(): void {
    this.#startRead()
  }

  message(bytes: Buffer): void {
    if (this.destroyed) return
    try {
      this.push(this.#decode(bytes))
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /**
   * A reset stream looks half-closed first and cancelled a moment later. Asking for one more read makes grpc-js look at
   * the stream and report the cancellation on the next tick, so that what has not failed by then really ended.
   */
  halfClosed(): void {
    this.#startRead()
    setImmediate(() => {
      if (!this.destroyed) this.push(null)
    })
  }
}
