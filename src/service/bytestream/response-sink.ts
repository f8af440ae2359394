import { Writable } from 'node:stream'
import { whenRoom } from '../send.js'

type Callback = (error?: Error | null) => void

/**
 * The end of a read path: sends bytes as ReadResponses of at most `maxChunkBytes`, with backpressure from the client.
 */
export class ResponseSink extends Writable {
  readonly #responses: Writable
  readonly #maxChunkBytes: number
  #sentBytes = 0

  constructor(responses: Writable, maxChunkBytes: number) {
    // No buffer here: the bytes of a stalled client are held by the previous stage and by the transport.
    super({ highWaterMark: 1 })
    this.#responses = responses
    this.#maxChunkBytes = maxChunkBytes
  }

  get sentBytes(): number {
    return this.#sentBytes
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#sentBytes += chunk.length
    let hasRoom = true
    for (let at = 0; at < chunk.length; at += this.#maxChunkBytes) {
      if (this.#responses.destroyed) break
      hasRoom = this.#responses.write({ data: chunk.subarray(at, at + this.#maxChunkBytes) })
    }
    if (hasRoom && !this.#responses.destroyed) callback()
    else whenRoom(this.#responses, callback)
  }
}
