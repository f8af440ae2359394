import { ConnectionError, StreamError } from './frame/frame.js'
import type { Http2Stream } from './stream.js'
import type { Streams } from './streams.js'

/** The parts of the connection that receiving needs. */
export interface ReceivingHost {
  /** Runs `work`; a StreamError in it ends only that stream. */
  guarded(work: () => void): void
  /** Runs `work` for a stream; an error in it ends only the request. */
  deliver(stream: Http2Stream, work: () => void): void
  windowUpdate(streamId: number, sizeBytes: number): void
  /** Counts a frame without content. */
  countIdle(): void
}

/**
 * Processes DATA frames of a connection: assigns them to streams and keeps the flow-control windows (RFC 9113, 5.2 and
 * 6.1).
 */
export class Receiving {
  readonly #streams: Streams
  readonly #maxWindowBytes: number
  readonly #host: ReceivingHost
  #windowBytes: number
  #owedBytes = 0
  /** The stream of the present frame, if it accepts data. */
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
    // Padding, and bytes without a receiver.
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

  /** Returns bytes to the window of the connection. */
  consumed(sizeBytes: number): void {
    // Counted for all streams together. Counted per stream, small remains of many streams could close the window for
    // ever.
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
