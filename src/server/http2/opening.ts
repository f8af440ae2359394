import { ConnectionError, type ErrorCodeName, StreamError } from './frame/frame.js'
import type { HeaderBlock } from './frame/header-block.js'
import { type DecodedBlock, HeaderDecoder } from './hpack/decoder.js'
import { encodeFields } from './hpack/encoder.js'
import type { ConnectionLimits } from './limits.js'
import { streamClosed } from './receiving.js'
import { requestHead, trailersProblem } from './request-head.js'
import { Http2Stream, type StreamHost } from './stream.js'
import type { Streams } from './streams.js'

/** What opening streams needs of its connection. */
export interface OpeningHost extends StreamHost {
  /** What the client takes on a new stream. */
  readonly sendWindowBytes: number
  /** Gives a stream what came for it. */
  deliver(stream: Http2Stream, work: () => void): void
  /** A request has come. */
  request(stream: Http2Stream): void
  sendReset(streamId: number, code: ErrorCodeName): void
  /** The client got a stream wrong; throws when that was once too often. */
  countReset(what: string): void
}

const FIELDS_TOO_LARGE = encodeFields([
  [':status', '431'],
  ['content-length', '0'],
])

/** The header blocks of a client: requests, which open streams, and trailers (RFC 9113, 5.1.1, 5.1.2, 8.1 and 8.3). */
export class Opening {
  /** The highest stream that is still taken (RFC 9113, 6.8). */
  lastWelcomeId = Number.POSITIVE_INFINITY
  readonly #streams: Streams
  readonly #limits: ConnectionLimits
  readonly #decoder: HeaderDecoder
  readonly #host: OpeningHost

  constructor(streams: Streams, limits: ConnectionLimits, host: OpeningHost) {
    this.#streams = streams
    this.#limits = limits
    this.#decoder = new HeaderDecoder(limits.maxHeaderListBytes)
    this.#host = host
  }

  /** A block that is complete: of a request, or of the trailers of one. */
  take({ streamId, isEndOfStream, dependsOn, fragment }: HeaderBlock): void {
    if (streamId % 2 === 0) throw new ConnectionError('PROTOCOL_ERROR', `a client opens stream ${streamId}`)
    const decoded = this.#decoder.decode(fragment)
    const stream = this.#streams.get(streamId)
    if (stream !== undefined) {
      this.#trailers(stream, isEndOfStream, decoded)
      return
    }
    if (streamId <= this.#streams.lastId) {
      if (this.#streams.wasReset(streamId)) return
      throw new ConnectionError('STREAM_CLOSED', `HEADERS on stream ${streamId}, which is closed`)
    }
    this.#streams.lastId = streamId
    if (dependsOn === streamId) throw new StreamError(streamId, 'PROTOCOL_ERROR', 'a stream depends on itself')
    this.#open(streamId, isEndOfStream, decoded)
  }

  #open(streamId: number, isEndOfStream: boolean, { lines, listBytes, isTooLarge }: DecodedBlock): void {
    if (streamId > this.lastWelcomeId) throw new StreamError(streamId, 'REFUSED_STREAM', 'the server is leaving')
    if (this.#streams.count >= this.#limits.maxConcurrentStreams) {
      this.#host.countReset('streams beyond their number')
      throw new StreamError(streamId, 'REFUSED_STREAM', 'more streams than there may be')
    }
    if (isTooLarge) {
      this.#host.sender.headers(streamId, FIELDS_TOO_LARGE, true)
      this.#host.countReset('fields that are too large')
      if (!isEndOfStream) this.#host.sendReset(streamId, 'NO_ERROR')
      return
    }
    const head = requestHead(lines)
    if (typeof head === 'string') throw new StreamError(streamId, 'PROTOCOL_ERROR', head)
    const windows = { receiveBytes: this.#limits.streamWindowBytes, sendBytes: this.#host.sendWindowBytes }
    const stream = new Http2Stream(streamId, { head, fieldsBytes: listBytes }, isEndOfStream, windows, this.#host)
    if (isEndOfStream) stream.checkBodyComplete()
    if (!this.#streams.makeRoom(listBytes)) {
      throw new StreamError(streamId, 'REFUSED_STREAM', 'the server holds as many requests as it can')
    }
    this.#streams.add(stream)
    this.#host.deliver(stream, () => this.#host.request(stream))
    if (isEndOfStream) this.#host.deliver(stream, () => stream.consumer?.ended())
  }

  #trailers(stream: Http2Stream, isEndOfStream: boolean, { lines }: DecodedBlock): void {
    const { id } = stream
    if (stream.isRemoteEnded) throw streamClosed(id)
    if (!isEndOfStream) throw new StreamError(id, 'PROTOCOL_ERROR', 'trailers do not end the stream')
    const problem = trailersProblem(lines)
    if (problem !== undefined) throw new StreamError(id, 'PROTOCOL_ERROR', problem)
    stream.checkBodyComplete()
    this.#host.deliver(stream, () => stream.remoteEnd())
  }
}
