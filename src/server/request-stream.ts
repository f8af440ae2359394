import { Readable } from 'node:stream'

/** Measured: a reset by a Node client on the same machine comes within two turns. */
const TURNS_BEFORE_END = 4

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
   * A reset stream looks half-closed first and cancelled a moment later: asking for one more read makes grpc-js look at
   * the stream and report it. Node's own clients half-close for real before they reset, in two writes, so a few turns
   * of the loop pass before the end is believed. Still: an upload is complete by its size and digest, not by its end.
   */
  halfClosed(turns = TURNS_BEFORE_END): void {
    this.#startRead()
    setImmediate(() => {
      if (this.destroyed) return
      if (turns > 1) this.halfClosed(turns - 1)
      else this.push(null)
    })
  }
}
