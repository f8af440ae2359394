import { Writable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import type { Responses } from '../../rpc/rpc.js'

/**
 * Maximum bytes of one call queued in the transport. At the bound it accepts no further message; a message has usually
 * 256 KiB.
 */
const MAX_BYTES_IN_FLIGHT = 128 * 1024

type Callback = (error?: Error | null) => void

/** The transport's side of a response stream. */
export interface ResponseSender {
  /** Encodes and sends a message. Returns its size; calls `sent` with the size once it has left. */
  send(message: unknown, sent: (sizeBytes: number) => void): number
  whenRoom(callback: (sizeBytes: number) => void): void
}

/** The response messages of a streaming call, bounded by the bytes queued in the transport. */
export class ResponseStream extends Writable implements Responses {
  readonly #sender: ResponseSender
  #bytesInFlight = 0
  #blocked: Callback | undefined
  #failRoom: ((reason: Error) => void) | undefined

  constructor(sender: ResponseSender) {
    super({ objectMode: true, highWaterMark: 1 })
    this.#sender = sender
    // The handler sees the error when it uses the stream. Before that it must not end the process.
    this.on('error', () => {})
  }

  override _write(message: unknown, _encoding: BufferEncoding, callback: Callback): void {
    let sizeBytes: number
    try {
      sizeBytes = this.#sender.send(message, (sentBytes) => this.#sent(sentBytes))
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)))
      return
    }
    this.#bytesInFlight += sizeBytes
    if (this.#bytesInFlight < MAX_BYTES_IN_FLIGHT) callback()
    else this.#blocked = callback
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#failRoom?.(error ?? gone())
    callback(error)
  }

  room(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#failRoom = reject
      if (this.destroyed) reject(this.errored ?? gone())
      else this.#sender.whenRoom(resolve)
    })
  }

  lend(message: object, sent: () => void): void {
    if (this.destroyed) sent()
    else this.#sender.send(message, sent)
  }

  #sent(sizeBytes: number): void {
    this.#bytesInFlight -= sizeBytes
    if (this.#bytesInFlight >= MAX_BYTES_IN_FLIGHT) return
    const resume = this.#blocked
    this.#blocked = undefined
    resume?.()
  }
}

const gone = (): StatusError => new StatusError('CANCELLED', 'the client no longer reads the responses')
