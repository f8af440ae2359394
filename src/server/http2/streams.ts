import { ConnectionError } from './frame/frame.js'
import type { Http2Stream } from './stream.js'

/** Streams of ours that a client may not know yet to be reset: what still comes for them is no error (RFC 9113, 5.4.2). */
const REMEMBERED_RESETS = 128

/** The streams of a connection (RFC 9113, 5.1). */
export class Streams implements Iterable<Http2Stream> {
  /** The highest that the client has opened. */
  lastId = 0
  readonly #open = new Map<number, Http2Stream>()
  readonly #resetIds: number[] = []
  #count = 0

  /** Streams that are open, and those whose handler has not ended: giving up a stream makes no room for another at once. */
  get count(): number {
    return this.#count
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  get(streamId: number): Http2Stream | undefined {
    return this.#open.get(streamId)
  }

  /** The stream of a frame; none when it is closed. One that never was is an error. */
  existing(streamId: number, frame: string): Http2Stream | undefined {
    if (streamId === 0) throw new ConnectionError('PROTOCOL_ERROR', `${frame} on stream 0`)
    if (streamId > this.lastId || streamId % 2 === 0) {
      throw new ConnectionError('PROTOCOL_ERROR', `${frame} on stream ${streamId}, which is idle`)
    }
    return this.#open.get(streamId)
  }

  add(stream: Http2Stream): void {
    this.#open.set(stream.id, stream)
    this.#count += 1
  }

  /** False when it was closed before. */
  close(stream: Http2Stream): boolean {
    if (!this.#open.delete(stream.id)) return false
    if (stream.isHandled) this.#count -= 1
    return true
  }

  handled(stream: Http2Stream): void {
    if (!this.#open.has(stream.id)) this.#count -= 1
  }

  rememberReset(streamId: number): void {
    if (this.#resetIds.push(streamId) > REMEMBERED_RESETS) this.#resetIds.shift()
  }

  wasReset(streamId: number): boolean {
    return this.#resetIds.includes(streamId)
  }

  /** Those of this moment, whatever comes or ends meanwhile. */
  [Symbol.iterator](): Iterator<Http2Stream> {
    return [...this.#open.values()].values()
  }
}
