import type { Held } from '../held.js'
import { Allowances } from './allowances.js'
import {
  ControlFrames,
  checkGoAway,
  checkPriority,
  expectBytes,
  expectNoStream,
  windowIncrement,
} from './frame/control.js'
import {
  ConnectionError,
  DEFAULT_WINDOW_BYTES,
  type ErrorCodeName,
  Flag,
  FrameType,
  MAX_WINDOW_BYTES,
  StreamError,
} from './frame/frame.js'
import { HeaderBlocks } from './frame/header-block.js'
import { FrameReader, type FrameSink } from './frame/reader.js'
import { INITIAL_SETTINGS, type PeerSettings, readSettings, writeSettings } from './frame/settings.js'
import { CompressionError } from './hpack/compression-error.js'
import { DEFAULT_TABLE_BYTES } from './hpack/decoder.js'
import { EMPTY_TABLE } from './hpack/encoder.js'
import type { ConnectionLimits } from './limits.js'
import { Opening, type OpeningHost } from './opening.js'
import { type Channel, Output } from './output.js'
import { Receiving, type ReceivingHost } from './receiving.js'
import { Sender } from './sender.js'
import type { Http2Stream, StreamHost } from './stream.js'
import { Streams } from './streams.js'
import { Watch } from './watch.js'

export interface ConnectionOptions {
  readonly limits: ConnectionLimits
  readonly held: Held
  /** A monotonic clock in ms. */
  readonly now: () => number
  /** Called for each new request. The receiver sets `stream.consumer`, and calls `stream.handled` at its end. */
  readonly onRequest: (stream: Http2Stream) => void
  /** Called with the reason when a connection ends with an error. */
  readonly onError: (error: ConnectionError) => void
  /** Called with the reason when a malformed request was answered and not served. */
  readonly onRefused: (reason: string) => void
}

const DRAIN_PING = Buffer.from('remexec\x01', 'latin1')
const KEEP_ALIVE_PING = Buffer.from('remexec\x02', 'latin1')

/**
 * The server's side of an HTTP/2 connection (RFC 9113): received bytes go into `read`, requests come out of
 * `onRequest`. Without server push, priorities and upgrades from HTTP/1.1.
 */
export class Http2Connection implements FrameSink, StreamHost, OpeningHost, ReceivingHost {
  readonly sender: Sender
  readonly #channel: Channel
  readonly #options: ConnectionOptions
  readonly #limits: ConnectionLimits
  readonly #reader = new FrameReader(this)
  readonly #blocks: HeaderBlocks
  readonly #opening: Opening
  readonly #output: Output
  readonly #watch: Watch
  readonly #allowances: Allowances
  readonly #control: ControlFrames
  readonly #streams: Streams
  readonly #receiving: Receiving
  #peer: PeerSettings = INITIAL_SETTINGS
  #tableBytes = DEFAULT_TABLE_BYTES
  #isDraining = false
  #isPaused = false
  /** Nothing more is read; only the final frames are sent. */
  #isClosing = false
  #isClosed = false

  constructor(channel: Channel, options: ConnectionOptions) {
    const { limits, held, now } = options
    this.#channel = channel
    this.#options = options
    this.#limits = limits
    this.#blocks = new HeaderBlocks(limits.maxHeaderListBytes)
    this.#output = new Output(channel, () => this.#hasRoom())
    this.#control = new ControlFrames(this.#output)
    this.sender = new Sender(this.#output, limits.outputBytes, held.answers)
    this.#streams = new Streams(held.requests)
    this.#allowances = new Allowances(limits, now)
    this.#watch = new Watch(limits, now())
    this.#opening = new Opening(this.#streams, limits, this)
    this.#receiving = new Receiving(this.#streams, limits.connectionWindowBytes, this)
    this.#control.settings(writeSettings(limits))
    // An increment of 0 is an error (RFC 9113, 6.9).
    if (limits.connectionWindowBytes > DEFAULT_WINDOW_BYTES) {
      this.windowUpdate(0, limits.connectionWindowBytes - DEFAULT_WINDOW_BYTES)
    }
  }

  /** Takes received bytes. The caller may overwrite them afterwards. */
  read(chunk: Buffer): void {
    if (this.#isClosing) return
    this.#watch.hasRead = true
    try {
      this.#reader.read(chunk)
    } catch (error) {
      this.#fail(error)
    }
    const hasRoom = this.sender.settle() && this.#output.pendingBytes <= this.#limits.maxOutputBytes
    if (hasRoom || this.#isPaused || this.#output.pendingBytes === 0) return
    this.#isPaused = true
    this.#channel.pause()
  }

  /** The channel has closed. */
  closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#isClosing = true
    this.#dropStreams()
    this.#output.close()
    this.sender.close()
  }

  /** Checks the time limits; called periodically. */
  sweep(nowMs: number): void {
    if (this.#isClosing) {
      // The last frames had one period to leave.
      this.#channel.destroy()
      return
    }
    const isBlockOpen = this.#blocks.isOpen
    const moved = this.sender.frameCount
    const isHeldUp = this.sender.queuedBytes > 0 || this.#output.pendingBytes > 0
    const verdict = this.#watch.look(nowMs, { isBlockOpen, moved, isHeldUp })
    if (verdict === 'ping') this.#control.ping(KEEP_ALIVE_PING)
    else if (verdict !== undefined) {
      this.#fail(verdict)
      return
    }
    for (const stream of this.#streams) {
      stream.consumer?.sweep(nowMs)
      if (!stream.isLocalEnded || stream.isRemoteEnded) continue
      stream.readOffSinceMs ??= nowMs
      if (nowMs - stream.readOffSinceMs >= this.#limits.readOffMs) this.resetStream(stream, 'NO_ERROR')
    }
  }

  /** Lets requests in progress end and accepts no new ones (RFC 9113, 6.8). */
  drain(): void {
    if (this.#isDraining || this.#isClosing) return
    this.#isDraining = true
    // Requests that are in flight are still accepted, until the answer to the ping.
    this.#control.goAway(2 ** 31 - 1, 'NO_ERROR')
    this.#control.ping(DRAIN_PING)
    if (this.#streams.isEmpty) this.#endDrain()
  }

  frame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (!this.#watch.hasSettings && type !== FrameType.SETTINGS) throw protocolError('the first frame is not SETTINGS')
    if (this.#blocks.isOpen || type === FrameType.HEADERS) {
      const block = this.#blocks.add(type, flags, streamId, payload)
      if (block !== undefined) this.guarded(() => this.#opening.take(block))
      return
    }
    if (type !== FrameType.RST_STREAM) this.countIdle()
    switch (type) {
      case FrameType.PRIORITY:
        this.guarded(() => checkPriority(streamId, payload))
        return
      case FrameType.RST_STREAM:
        this.#rstStream(streamId, payload)
        return
      case FrameType.SETTINGS:
        this.#settings(flags, streamId, payload)
        return
      case FrameType.PING:
        this.#pinged(flags, streamId, payload)
        return
      case FrameType.GOAWAY:
        checkGoAway(streamId, payload)
        return
      case FrameType.WINDOW_UPDATE:
        this.guarded(() => this.#windowUpdated(streamId, payload))
        return
      case FrameType.PUSH_PROMISE:
      case FrameType.CONTINUATION:
        throw protocolError(
          type === FrameType.CONTINUATION ? 'CONTINUATION without HEADERS' : 'PUSH_PROMISE from a client',
        )
      // Frames of unknown types are ignored (RFC 9113, 4.1).
    }
  }

  dataBegins(streamId: number, lengthBytes: number): void {
    if (!this.#watch.hasSettings) throw protocolError('the first frame is not SETTINGS')
    if (this.#blocks.isOpen) throw protocolError('another frame came within a header block')
    this.#receiving.begin(streamId, lengthBytes)
  }

  data(bytes: Buffer): void {
    this.#receiving.data(bytes)
  }

  dataEnds(isEndOfStream: boolean): void {
    this.#receiving.end(isEndOfStream)
  }

  consumed(sizeBytes: number): void {
    this.#receiving.consumed(sizeBytes)
  }

  windowUpdate(streamId: number, sizeBytes: number): void {
    this.#control.windowUpdate(streamId, sizeBytes)
  }

  resetStream(stream: Http2Stream, code: ErrorCodeName): void {
    this.sendReset(stream.id, code)
    this.#lose(stream)
  }

  streamEnded(stream: Http2Stream): void {
    this.#allowances.earn()
    this.#forget(stream)
  }

  handlerEnded(stream: Http2Stream): void {
    this.#streams.handled(stream)
  }

  /** Runs `work`. A StreamError resets its stream; any other error ends the connection. */
  guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!(error instanceof StreamError)) throw error
      this.countReset('streams with errors')
      const stream = this.#streams.get(error.streamId)
      if (stream === undefined) this.sendReset(error.streamId, error.code)
      else this.resetStream(stream, error.code)
    }
  }

  get sendWindowBytes(): number {
    return this.#peer.initialWindowBytes
  }

  /** A client that has not acknowledged our settings may not know them (RFC 9113, 6.9.2). */
  get receiveWindowBytes(): number {
    const { streamWindowBytes } = this.#limits
    return this.#watch.isAcknowledged ? streamWindowBytes : Math.max(streamWindowBytes, DEFAULT_WINDOW_BYTES)
  }

  request(stream: Http2Stream): void {
    this.#options.onRequest(stream)
  }

  countReset(what: string): void {
    this.#allowances.spendReset(what)
  }

  refused(reason: string): void {
    this.#options.onRefused(reason)
  }

  sendReset(streamId: number, code: ErrorCodeName): void {
    this.#streams.rememberReset(streamId)
    this.#control.reset(streamId, code)
  }

  countIdle(): void {
    this.#allowances.spendFrame(this.sender.frameCount + this.sender.writeCount)
  }

  /** An error in the code that handles a request ends the request, never the connection. */
  deliver(stream: Http2Stream, work: () => void): void {
    try {
      work()
    } catch (cause) {
      this.#options.onError(new ConnectionError('INTERNAL_ERROR', 'the receiver of a request failed', { cause }))
      stream.reset('INTERNAL_ERROR')
    }
  }

  #rstStream(streamId: number, payload: Buffer): void {
    expectBytes('RST_STREAM', payload, 4)
    const stream = this.#streams.existing(streamId, 'RST_STREAM')
    this.countReset('reset streams')
    if (stream === undefined) return
    this.#lose(stream)
    // Bytes requested from this stream are now available to the others, and no write would notify them.
    this.#pump()
  }

  #settings(flags: number, streamId: number, payload: Buffer): void {
    expectNoStream('SETTINGS', streamId)
    if ((flags & Flag.ACK) !== 0) {
      expectBytes('SETTINGS that acknowledge', payload, 0)
      this.#acknowledged()
      return
    }
    const before = this.#peer
    const settings = readSettings(payload, before)
    this.#peer = settings
    this.#watch.hasSettings = true
    this.sender.maxFrameBytes = settings.maxFrameBytes
    this.#control.settingsAck()
    if (settings.headerTableBytes < this.#tableBytes) this.#emptyTable()
    if (settings.initialWindowBytes !== before.initialWindowBytes) {
      this.#changeWindows(settings.initialWindowBytes - before.initialWindowBytes)
    }
  }

  /** From here on our settings also apply to the windows of streams that were open before (RFC 9113, 6.9.2). */
  #acknowledged(): void {
    const beforeBytes = this.receiveWindowBytes
    this.#watch.isAcknowledged = true
    const byBytes = this.receiveWindowBytes - beforeBytes
    if (byBytes === 0) return
    for (const stream of this.#streams) stream.receiveWindowBytes += byBytes
  }

  /**
   * Our blocks use no dynamic table. But after the peer has made its table smaller, the next block must acknowledge
   * that (RFC 7541, 4.2).
   */
  #emptyTable(): void {
    this.#tableBytes = 0
    this.sender.nextBlockBegins = EMPTY_TABLE
  }

  #changeWindows(byBytes: number): void {
    for (const { outbox } of this.#streams) {
      this.sender.widen(outbox, byBytes)
      if (outbox.windowBytes > MAX_WINDOW_BYTES) {
        throw new ConnectionError('FLOW_CONTROL_ERROR', 'SETTINGS raise a window above the maximum')
      }
      this.sender.pump(outbox)
    }
  }

  #pinged(flags: number, streamId: number, payload: Buffer): void {
    expectNoStream('PING', streamId)
    expectBytes('PING', payload, 8)
    if ((flags & Flag.ACK) === 0) this.#control.pingAck(payload)
    else if (this.#isDraining && payload.equals(DRAIN_PING)) this.#refuseFurther()
  }

  #windowUpdated(streamId: number, payload: Buffer): void {
    const byBytes = windowIncrement(payload)
    if (streamId === 0) {
      if (byBytes === 0) throw protocolError('WINDOW_UPDATE by 0')
      this.sender.windowBytes += byBytes
      if (this.sender.windowBytes > MAX_WINDOW_BYTES) {
        throw new ConnectionError('FLOW_CONTROL_ERROR', 'the window of the connection exceeds the maximum')
      }
      this.#pump()
      return
    }
    const stream = this.#streams.existing(streamId, 'WINDOW_UPDATE')
    if (stream === undefined) return
    if (byBytes === 0) throw new StreamError(streamId, 'PROTOCOL_ERROR', 'WINDOW_UPDATE by 0')
    this.sender.widen(stream.outbox, byBytes)
    if (stream.outbox.windowBytes > MAX_WINDOW_BYTES) {
      throw new StreamError(streamId, 'FLOW_CONTROL_ERROR', 'the window of a stream exceeds the maximum')
    }
    this.#pump(stream)
  }

  #pump(stream?: Http2Stream): void {
    this.sender.pump(stream?.outbox)
  }

  #hasRoom(): void {
    this.#pump()
    if (!this.#isPaused || this.#output.pendingBytes > this.#limits.maxOutputBytes / 2) return
    this.#isPaused = false
    this.#channel.resume()
  }

  #lose(stream: Http2Stream): void {
    stream.isGone = true
    this.#forget(stream)
    this.sender.drop(stream.outbox)
    stream.consumer?.gone()
  }

  #forget(stream: Http2Stream): void {
    if (this.#streams.close(stream) && this.#isDraining && this.#streams.isEmpty) this.#endDrain()
  }

  #dropStreams(): void {
    for (const stream of this.#streams) this.#lose(stream)
  }

  #refuseFurther(): void {
    this.#opening.lastWelcomeId = this.#streams.lastId
    this.#control.goAway(this.#streams.lastId, 'NO_ERROR')
  }

  #endDrain(): void {
    this.#refuseFurther()
    this.#finish()
  }

  #fail(thrown: unknown): void {
    if (this.#isClosing) return
    const error = connectionError(thrown)
    this.#options.onError(error)
    this.#control.goAway(this.#streams.lastId, error.code, error.message)
    this.#finish()
    this.#dropStreams()
  }

  /**
   * Sends the remaining frames and reads nothing more. If the client does not close the connection, the next sweep
   * does.
   */
  #finish(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#output.flush()
    this.#output.whenEmpty(() => this.#channel.end())
  }
}

const connectionError = (thrown: unknown): ConnectionError => {
  if (thrown instanceof ConnectionError) return thrown
  if (thrown instanceof CompressionError) return new ConnectionError('COMPRESSION_ERROR', thrown.message)
  return new ConnectionError('INTERNAL_ERROR', 'internal error', { cause: thrown })
}

const protocolError = (reason: string): ConnectionError => new ConnectionError('PROTOCOL_ERROR', reason)
