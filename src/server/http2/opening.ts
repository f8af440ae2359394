import { ConnectionError, type ErrorCodeName, StreamError } from './frame/frame.js'
import type { HeaderBlock } from './frame/header-block.js'
import { type DecodedBlock, HeaderDecoder } from './hpack/decoder.js'
import { encodeFields } from './hpack/encoder.js'
import { PADDED_VALUE } from './hpack/field.js'
import type { ConnectionLimits } from './limits.js'
import { paddedAnswer } from './padded-field.js'
import { streamClosed } from './receiving.js'
import { requestHead, trailersProblem } from './request-head.js'
import { Http2Stream, type StreamHost } from './stream.js'
import type { Streams } from './streams.js'

/** The parts of the connection that opening streams needs. */
export interface OpeningHost extends StreamHost {
  /** The initial send window of a new stream. */
  readonly sendWindowBytes: number
  /** How many bytes the client may send on a new stream. */
  readonly receiveWindowBytes: number
  /** Runs `work` for a stream; an error in it ends only the request. */
  deliver(stream: Http2Stream, work: () => void): void
  /** Called for each new request. */
  request(stream: Http2Stream): void
  sendReset(streamId: number, code: ErrorCodeName): void
  /** Counts a violation by the client. Throws when there are too many. */
  countReset(what: string): void
  /** Tells why a malformed request was answered and not served. */
  refused(reason: string): void
}

const FIELDS_TOO_LARGE = encodeFields([
  [':status', '431'],
  ['content-length', '0'],
])

/**
 * Processes header blocks of a client: requests, which open streams, and trailers (RFC 9113, 5.1.1, 5.1.2, 8.1 and
 * 8.3).
 */
export class Opening {
  /** The highest stream id that is still accepted (RFC 9113, 6.8). */
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

  /** Takes a complete block, of a request or of its trailers. */
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

  #open(streamId: number, isEndOfStream: boolean, decoded: DecodedBlock): void {
    const { listBytes, isTooLarge } = decoded
    if (streamId > this.lastWelcomeId) throw new StreamError(streamId, 'REFUSED_STREAM', 'the server is shutting down')
    if (this.#streams.count >= this.#limits.maxConcurrentStreams)
      throw new StreamError(streamId, 'REFUSED_STREAM', 'more concurrent streams than the limit')
    if (isTooLarge) {
      this.#host.sender.headers(streamId, FIELDS_TOO_LARGE, true)
      this.#host.countReset('fields that are too large')
      if (!isEndOfStream) this.#host.sendReset(streamId, 'NO_ERROR')
      return
    }
    if (decoded.problem === PADDED_VALUE) {
      this.#refuse(streamId, isEndOfStream, decoded)
      return
    }
    const head = requestHead(decoded)
    if (typeof head === 'string') throw new StreamError(streamId, 'PROTOCOL_ERROR', head)
    const windows = {
      receiveBytes: this.#host.receiveWindowBytes,
      maxBytes: this.#limits.streamWindowBytes,
      sendBytes: this.#host.sendWindowBytes,
    }
    const stream = new Http2Stream(streamId, { head, fieldsBytes: listBytes }, isEndOfStream, windows, this.#host)
    if (isEndOfStream) stream.checkBodyComplete()
    if (!this.#streams.makeRoom(listBytes)) {
      throw new StreamError(streamId, 'REFUSED_STREAM', 'the server has no memory left for requests')
    }
    this.#streams.add(stream)
    this.#host.deliver(stream, () => this.#host.request(stream))
    if (isEndOfStream) this.#host.deliver(stream, () => stream.consumer?.ended())
  }

  #refuse(streamId: number, isEndOfStream: boolean, { lines, problemField = '' }: DecodedBlock): void {
    const { block, reason } = paddedAnswer(problemField, lines)
    this.#host.sender.headers(streamId, block, true)
    this.#host.countReset('malformed requests')
    if (!isEndOfStream) this.#host.sendReset(streamId, 'NO_ERROR')
    this.#host.refused(reason)
  }

  #trailers(stream: Http2Stream, isEndOfStream: boolean, decoded: DecodedBlock): void {
    const { id } = stream
    if (stream.isRemoteEnded) throw streamClosed(id)
    if (!isEndOfStream) throw new StreamError(id, 'PROTOCOL_ERROR', 'trailers do not end the stream')
    const problem = trailersProblem(decoded)
    if (problem !== undefined) throw new StreamError(id, 'PROTOCOL_ERROR', problem)
    stream.checkBodyComplete()
    this.#host.deliver(stream, () => stream.remoteEnd())
  }
}
