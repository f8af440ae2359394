import { Writable } from 'node:stream'
import type { StatusError } from '../../base/status-error.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { whenRoom } from '../send.js'

type Callback = (error?: Error | null) => void

/** The end of a read path: bytes become ReadResponses of at most 256 KiB, no faster than the client takes them. */
export class ResponseSink extends Writable {
  readonly #responses: Writable
  readonly #onShort: ((sentBytes: number) => StatusError | undefined) | undefined
  #sentBytes = 0

  /** `onShort` is asked at the end whether that was too little. */
  constructor(responses: Writable, onShort?: (sentBytes: number) => StatusError | undefined) {
    super({ highWaterMark: STAGE_BYTES })
    this.#responses = responses
    this.#onShort = onShort
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#sentBytes += chunk.length
    let hasRoom = true
    for (let at = 0; at < chunk.length; at += STAGE_BYTES) {
      if (this.#responses.destroyed) break
      hasRoom = this.#responses.write({ data: chunk.subarray(at, at + STAGE_BYTES) })
    }
    if (hasRoom && !this.#responses.destroyed) callback()
    else whenRoom(this.#responses, callback)
  }

  override _final(callback: Callback): void {
    callback(this.#onShort?.(this.#sentBytes) ?? null)
  }
}
