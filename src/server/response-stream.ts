import { Writable } from 'node:stream'
import type { Encoded } from '../proto/codec.js'

/** Bytes of one call that may wait in the transport before it takes no further message, of usually 256 KiB. */
const MAX_BYTES_IN_FLIGHT = 128 * 1024

type Callback = (error?: Error | null) => void

/** The response messages of a streaming call, bounded in bytes (grpc-js' own stream counts sixteen messages). */
export class ResponseStream extends Writable {
  readonly #encode: (message: unknown) => Encoded
  readonly #send: (bytes: Encoded, sent: () => void) => void
  #bytesInFlight = 0
  #blocked: Callback | undefined

  /** `send` calls back when the transport has passed the bytes on, and never after the call was cancelled. */
  constructor(encode: (message: unknown) => Encoded, send: (bytes: Encoded, sent: () => void) => void) {
    super({ objectMode: true, highWaterMark: 1 })
    this.#encode = encode
    this.#send = send
    // The handler learns of it from its own use of the stream; before that it must not bring down the process.
    this.on('error', () => {})
  }

  override _write(message: unknown, _encoding: BufferEncoding, callback: Callback): void {
    let bytes: Encoded
    try {
      bytes = this.#encode(message)
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)))
      return
    }
    this.#bytesInFlight += bytes.byteLength
    this.#send(bytes, () => this.#sent(bytes.byteLength))
    if (this.#bytesInFlight < MAX_BYTES_IN_FLIGHT) callback()
    else this.#blocked = callback
  }

  #sent(sizeBytes: number): void {
    this.#bytesInFlight -= sizeBytes
    if (this.#bytesInFlight >= MAX_BYTES_IN_FLIGHT) return
    const resume = this.#blocked
    this.#blocked = undefined
    resume?.()
  }
}
