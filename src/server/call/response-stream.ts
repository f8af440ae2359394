import { Writable } from 'node:stream'

/** Bytes of one call that may wait in the transport before it takes no further message, of usually 256 KiB. */
const MAX_BYTES_IN_FLIGHT = 128 * 1024

type Callback = (error?: Error | null) => void

/** Encodes a message and sends it: answers its bytes, and calls back with them when they have left. */
type Send = (message: unknown, sent: (sizeBytes: number) => void) => number

/** The response messages of a streaming call, bounded by the bytes that wait in the transport. */
export class ResponseStream extends Writable {
  readonly #send: Send
  #bytesInFlight = 0
  #blocked: Callback | undefined

  constructor(send: Send) {
    super({ objectMode: true, highWaterMark: 1 })
    this.#send = send
    // The handler learns of it from its own use of the stream; before that it must not bring down the process.
    this.on('error', () => {})
  }

  override _write(message: unknown, _encoding: BufferEncoding, callback: Callback): void {
    let sizeBytes: number
    try {
      sizeBytes = this.#send(message, (sentBytes) => this.#sent(sentBytes))
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)))
      return
    }
    this.#bytesInFlight += sizeBytes
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
