import type { Account } from '../../ledger/account.js'
import { ConnectionError } from './frame/frame.js'
import type { Http2Stream } from './stream.js'

/**
 * Number of remembered streams that the server has reset. The client may not know yet, so frames for them are no error
 * (RFC 9113, 5.4.2).
 */
const REMEMBERED_RESETS = 128

/** Memory of an open stream without its fields and messages. Measured: 2 to 3 KB. */
const STREAM_BYTES = 3 * 1024

/** The streams of a connection (RFC 9113, 5.1). */
export class Streams implements Iterable<Http2Stream> {
  /** The highest stream id that the client has opened. */
  lastId = 0
  readonly #open = new Map<number, Http2Stream>()
  readonly #resetIds: number[] = []
  readonly #held: Account
  #count = 0

  constructor(held: Account) {
    this.#held = held
  }

  /**
   * Number of open streams and of closed ones whose handler has not ended. So a reset does not immediately make room
   * for another stream.
   */
  get count(): number {
    return this.#count
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  get(streamId: number): Http2Stream | undefined {
    return this.#open.get(streamId)
  }

  /** The stream of a frame; undefined if it is closed. A stream that was never opened is an error. */
  existing(streamId: number, frame: string): Http2Stream | undefined {
    if (streamId === 0) throw new ConnectionError('PROTOCOL_ERROR', `${frame} on stream 0`)
    if (streamId > this.lastId || streamId % 2 === 0) {
      throw new ConnectionError('PROTOCOL_ERROR', `${frame} on stream ${streamId}, which is idle`)
    }
    return this.#open.get(streamId)
  }

  /** Reserves memory for one more stream. If true, the caller must `add` it. */
  makeRoom(fieldsBytes: number): boolean {
    return this.#held.take(STREAM_BYTES + fieldsBytes)
  }

  add(stream: Http2Stream): void {
    this.#open.set(stream.id, stream)
    this.#count += 1
  }

  /** False if it was already closed. */
  close(stream: Http2Stream): boolean {
    if (!this.#open.delete(stream.id)) return false
    if (stream.isHandled) this.#leave(stream)
    return true
  }

  handled(stream: Http2Stream): void {
    if (!this.#open.has(stream.id)) this.#leave(stream)
  }

  rememberReset(streamId: number): void {
    if (this.#resetIds.push(streamId) > REMEMBERED_RESETS) this.#resetIds.shift()
  }

  wasReset(streamId: number): boolean {
    return this.#resetIds.includes(streamId)
  }

  #leave({ fieldsBytes }: Http2Stream): void {
    this.#count -= 1
    this.#held.give(STREAM_BYTES + fieldsBytes)
  }

  /** Iterates over a copy, so streams may open or end meanwhile. */
  [Symbol.iterator](): Iterator<Http2Stream> {
    return [...this.#open.values()].values()
  }
}
