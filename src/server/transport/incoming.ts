import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Log } from '../../log/log.js'
import type { SparingLog } from '../../log/sparing-log.js'
import { type Client, clientOf } from '../client.js'
import type { Held } from '../held.js'
import { Http2Connection } from '../http2/connection.js'
import { PREFACE } from '../http2/frame/frame.js'
import type { ConnectionLimits } from '../http2/limits.js'
import type { Http2Stream } from '../http2/stream.js'
import { type ChannelReader, SocketChannel } from './channel.js'

const NOTHING = Buffer.alloc(0)

export interface IncomingOptions {
  readonly limits: ConnectionLimits
  readonly now: () => number
  readonly held: Held
  /** Takes over a socket that speaks HTTP/1. What was read from it has been put back. Absent where no such socket comes. */
  readonly onHttp1: ((socket: Socket, client: Client) => void) | undefined
  readonly onRequest: (stream: Http2Stream, client: Client) => void
  readonly onClose: () => void
  readonly log: Log
  /** For what clients cause. */
  readonly warnings: SparingLog
}

/**
 * The start of an HTTP/1 request (RFC 9112, 3), enough to distinguish it from other protocols and from a broken
 * preface.
 */
const REQUEST_LINE = /^[A-Z]+ (\/|\*|https?:)/
const MAY_BE_REQUEST_LINE = /^[A-Z]* ?[a-z]*$/
const MAX_REQUEST_LINE_BEGINNING = 32

/**
 * A new connection. Its first bytes decide the protocol: HTTP/2 with prior knowledge, whose bytes are read without Node's
 * streams, or HTTP/1, whose socket goes to Node's server as it is, so that its parser reads from the handle. Connections
 * with any other first bytes, or with too few in time, are closed without an answer; so are those that agreed on HTTP/2 (ALPN)
 * and speak HTTP/1 (RFC 9113, 3.3).
 */
export class Incoming implements ChannelReader {
  readonly #options: IncomingOptions
  readonly #socket: Socket
  readonly #begunMs: number
  readonly #client: Client
  #head: Buffer = NOTHING
  #channel: SocketChannel | undefined
  #http2: Http2Connection | undefined
  #isHttp1 = false
  #isDraining = false

  constructor(socket: Socket, options: IncomingOptions) {
    this.#options = options
    this.#begunMs = options.now()
    this.#socket = socket
    this.#client = clientOf(socket)
    socket.on('error', this.#broke).on('readable', this.#look).on('end', this.#end).once('close', this.#close)
  }

  readonly #broke = (error: Error): void => {
    // Clients often reset connections; both protocols report the effect on calls.
    this.#options.log.debug('a connection broke', { error })
  }

  readonly #close = (): void => this.closed()

  /** Before the protocol is known. */
  readonly #end = (): void => this.destroy()

  read(chunk: Buffer): void {
    this.#http2?.read(chunk)
  }

  closed(): void {
    this.#http2?.closed()
    this.#options.onClose()
  }

  sweep(nowMs: number): void {
    if (this.#http2 !== undefined) this.#http2.sweep(nowMs)
    else if (!this.#isHttp1 && nowMs - this.#begunMs >= this.#options.limits.greetingMs) this.destroy()
  }

  drain(): void {
    this.#isDraining = true
    if (this.#http2 !== undefined) this.#http2.drain()
    else if (!this.#isHttp1) this.destroy()
  }

  destroy(): void {
    if (this.#channel === undefined) this.#socket.destroy()
    else this.#channel.destroy()
  }

  readonly #look = (): void => {
    const socket = this.#socket
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read())
      this.#head = Buffer.concat([this.#head, chunk])
    const head = this.#head
    const seen = Math.min(head.length, PREFACE.length)
    if (PREFACE.compare(head, 0, seen, 0, seen) === 0) {
      if (seen === PREFACE.length) this.#beginHttp2(head)
      return
    }
    const text = head.toString('latin1', 0, MAX_REQUEST_LINE_BEGINNING)
    const { onHttp1 } = this.#options
    const isHttp2Agreed = socket instanceof TLSSocket && socket.alpnProtocol === 'h2'
    if (onHttp1 === undefined || isHttp2Agreed) this.destroy()
    else if (REQUEST_LINE.test(text)) this.#beginHttp1(head, onHttp1)
    else if (text.length === MAX_REQUEST_LINE_BEGINNING || !MAY_BE_REQUEST_LINE.test(text)) this.destroy()
  }

  #beginHttp2(head: Buffer): void {
    const { limits, held, now, onRequest, log, warnings } = this.#options
    const connection = new Http2Connection(this.#takeOver(), {
      limits,
      held,
      now,
      onRequest: (stream) => onRequest(stream, this.#client),
      onError: (error) => log.debug('a connection was ended', { peer: this.#client.peer, error }),
      onRefused: (reason) => warnings.warn('a malformed request was refused', { peer: this.#client.peer, reason }),
    })
    this.#http2 = connection
    connection.read(head)
    if (this.#isDraining) connection.drain()
  }

  #beginHttp1(head: Buffer, onHttp1: (socket: Socket, client: Client) => void): void {
    this.#isHttp1 = true
    this.#head = NOTHING
    this.#socket.off('readable', this.#look).off('end', this.#end)
    this.#socket.unshift(head)
    onHttp1(this.#socket, this.#client)
  }

  /** From here on bytes come to `read`. */
  #takeOver(): SocketChannel {
    this.#head = NOTHING
    this.#socket.off('readable', this.#look).off('end', this.#end).off('error', this.#broke).off('close', this.#close)
    this.#channel = new SocketChannel(this.#socket, this, this.#broke)
    return this.#channel
  }
}
