import { Readable } from 'node:stream'

/** Measured: a reset by a Node client on the same machine comes within two turns. */
const TURNS_BEFORE_END = 4

/** The request messages of a streaming call, one held at a time. */
export class RequestStream extends Readable {
  readonly #decode: (bytes: Buffer, cameCompressed: boolean) => unknown
  readonly #askForOne: () => void

  /** `askForOne` asks for one more message, which comes as a call of `message` or of `halfClosed`. */
  constructor(decode: (bytes: Buffer, cameCompressed: boolean) => unknown, askForOne: () => void) {
    super({ objectMode: true, highWaterMark: 1 })
    this.#decode = decode
    this.#askForOne = askForOne
    // Whoever reads gets the error; a handler that does not read yet (or any more) must not bring down the process.
    this.on('error', () => {})
  }

  override _read(): void {
    this.#askForOne()
  }

  message(bytes: Buffer, cameCompressed = false): void {
    if (this.destroyed) return
    try {
      this.push(this.#decode(bytes, cameCompressed))
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /**
   * Node's own clients half-close for real before they reset, in two writes, so a few turns of the loop pass before the
   * end is believed. Still: an upload is complete by its size and digest, not by its end.
   */
  halfClosed(turns = TURNS_BEFORE_END): void {
    setImmediate(() => {
      if (this.destroyed) return
      if (turns > 1) this.halfClosed(turns - 1)
      else this.push(null)
    })
  }
}
