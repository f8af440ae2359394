import { ConnectionError, StreamError } from './frame/frame.js'
import type { Http2Stream } from './stream.js'
import type { Streams } from './streams.js'

/** What receiving needs of its connection. */
export interface ReceivingHost {
  /** Runs what may throw a StreamError, which ends that stream alone. */
  guarded(work: () => void): void
  /** Gives a stream what came for it. */
  deliver(stream: Http2Stream, work: () => void): void
  windowUpdate(streamId: number, sizeBytes: number): void
  /** A frame came that carries nothing. */
  countIdle(): void
}

/** The DATA frames of a connection: whose they are, and what the client may still send (RFC 9113, 5.2 and 6.1). */
export class Receiving {
  readonly #streams: Streams
  readonly #maxWindowBytes: number
  readonly #host: ReceivingHost
  #windowBytes: number
  #owedBytes = 0
  /** Of the frame that is being read: the stream, if it takes anything. */
  #stream: Http2Stream | undefined
  #frameBytes = 0
  #bodyBytes = 0

  constructor(streams: Streams, windowBytes: number, host: ReceivingHost) {
    this.#streams = streams
    this.#maxWindowBytes = windowBytes
    this.#windowBytes = windowBytes
    this.#host = host
  }

  begin(streamId: number, lengthBytes: number): void {
    this.#windowBytes -= lengthBytes
    if (this.#windowBytes < 0) {
      throw new ConnectionError('FLOW_CONTROL_ERROR', 'the client sent more than the window of the connection')
    }
    this.#frameBytes = lengthBytes
    this.#bodyBytes = 0
    this.#stream = undefined
    this.#host.guarded(() => this.#beginOn(this.#streams.existing(streamId, 'DATA'), streamId, lengthBytes))
  }

  data(bytes: Buffer): void {
    const stream = this.#stream
    if (stream === undefined || stream.isGone) return
    this.#host.guarded(() => stream.countBody(bytes.length))
    if (stream.isGone) return
    this.#bodyBytes += bytes.length
    if (stream.consumer === undefined) stream.consumed(bytes.length)
    else this.#host.deliver(stream, () => stream.consumer?.data(bytes))
  }

  end(isEndOfStream: boolean): void {
    const stream = this.#stream
    if (this.#bodyBytes === 0 && !isEndOfStream) this.#host.countIdle()
    // Padding, and what nobody takes.
    const unusedBytes = this.#frameBytes - this.#bodyBytes
    if (unusedBytes > 0) {
      if (stream === undefined) this.consumed(unusedBytes)
      else stream.consumed(unusedBytes)
    }
    if (!isEndOfStream || stream === undefined || stream.isGone) return
    this.#host.guarded(() => {
      stream.checkBodyComplete()
      this.#host.deliver(stream, () => stream.remoteEnd())
    })
  }

  /** Gives bytes back to the window of the connection. */
  consumed(sizeBytes: number): void {
    // Counted for all streams together: kept back for each, small remains of many would close the window for ever.
    this.#owedBytes += sizeBytes
    if (this.#owedBytes < this.#maxWindowBytes / 4) return
    this.#host.windowUpdate(0, this.#owedBytes)
    this.#windowBytes += this.#owedBytes
    this.#owedBytes = 0
  }

  #beginOn(stream: Http2Stream | undefined, streamId: number, lengthBytes: number): void {
    if (stream === undefined) {
      if (!this.#streams.wasReset(streamId)) throw streamClosed(streamId)
      return
    }
    if (stream.isRemoteEnded) throw streamClosed(streamId)
    stream.receiveWindowBytes -= lengthBytes
    if (stream.receiveWindowBytes < 0) {
      throw new StreamError(streamId, 'FLOW_CONTROL_ERROR', 'the client sent more than the window of the stream')
    }
    this.#stream = stream
  }
}

export const streamClosed = (streamId: number): StreamError =>
  new StreamError(streamId, 'STREAM_CLOSED', `stream ${streamId} is closed`)
