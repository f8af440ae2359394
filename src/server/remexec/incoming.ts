import type { Socket } from 'node:net'
import type { Log } from '../../log/log.js'
import type { Client } from '../client.js'
import type { Held } from '../held.js'
import { Http2Connection } from '../http2/connection.js'
import { PREFACE } from '../http2/frame/frame.js'
import type { ConnectionLimits } from '../http2/limits.js'
import type { Channel } from '../http2/output.js'
import type { Http2Stream } from '../http2/stream.js'
import { type ChannelReader, SocketChannel } from './channel.js'

const NOTHING = Buffer.alloc(0)

/** Takes the bytes of a connection that speaks HTTP/1. */
export interface Http1Receiver {
  /** The caller may overwrite the bytes afterwards. */
  received(bytes: Buffer): void
  /** The connection has closed. */
  ended(): void
}

export interface IncomingOptions {
  readonly limits: ConnectionLimits
  readonly now: () => number
  readonly held: Held
  /** Takes over a connection that speaks HTTP/1. */
  readonly onHttp1: (channel: Channel, client: Client) => Http1Receiver
  readonly onRequest: (stream: Http2Stream, client: Client) => void
  readonly onClose: () => void
  readonly log: Log
}

/**
 * The start of an HTTP/1 request (RFC 9112, 3), enough to distinguish it from other protocols and from a broken
 * preface.
 */
const REQUEST_LINE = /^[A-Z]+ (\/|\*|https?:)/
const MAY_BE_REQUEST_LINE = /^[A-Z]* ?[a-z]*$/
const MAX_REQUEST_LINE_BEGINNING = 32

/**
 * A new connection. Its first bytes decide the protocol: HTTP/2 with prior knowledge, or HTTP/1, whose parser checks
 * the rest. Connections with any other first bytes, or with too few in time, are closed without an answer.
 */
export class Incoming implements ChannelReader {
  readonly #options: IncomingOptions
  readonly #channel: SocketChannel
  readonly #begunMs: number
  readonly #client: Client
  #head: Buffer = NOTHING
  #http2: Http2Connection | undefined
  #http1: Http1Receiver | undefined
  #isDraining = false

  constructor(socket: Socket, options: IncomingOptions) {
    this.#options = options
    this.#begunMs = options.now()
    // Clients often reset connections; both protocols report the effect on calls.
    this.#channel = new SocketChannel(socket, this, (error) => options.log.debug('a connection broke', { error }))
    this.#client = this.#channel.client
  }

  read(chunk: Buffer): void {
    if (this.#http2 !== undefined) this.#http2.read(chunk)
    else if (this.#http1 !== undefined) this.#http1.received(chunk)
    else this.#sniff(chunk)
  }

  closed(): void {
    this.#http2?.closed()
    this.#http1?.ended()
    this.#options.onClose()
  }

  sweep(nowMs: number): void {
    if (this.#http2 !== undefined) this.#http2.sweep(nowMs)
    else if (this.#http1 === undefined && nowMs - this.#begunMs >= this.#options.limits.greetingMs) this.destroy()
  }

  drain(): void {
    this.#isDraining = true
    if (this.#http2 !== undefined) this.#http2.drain()
    else if (this.#http1 === undefined) this.destroy()
  }

  destroy(): void {
    this.#channel.destroy()
  }

  #sniff(chunk: Buffer): void {
    const head = Buffer.concat([this.#head, chunk])
    this.#head = head
    const seen = Math.min(head.length, PREFACE.length)
    if (PREFACE.compare(head, 0, seen, 0, seen) === 0) {
      if (seen === PREFACE.length) this.#beginHttp2(head)
      return
    }
    const text = head.toString('latin1', 0, MAX_REQUEST_LINE_BEGINNING)
    if (REQUEST_LINE.test(text)) this.#beginHttp1(head)
    else if (text.length === MAX_REQUEST_LINE_BEGINNING || !MAY_BE_REQUEST_LINE.test(text)) this.destroy()
  }

  #beginHttp2(head: Buffer): void {
    const { limits, held, now, onRequest, log } = this.#options
    const connection = new Http2Connection(this.#channel, {
      limits,
      held,
      now,
      onRequest: (stream) => onRequest(stream, this.#client),
      onError: (error) => log.debug('a connection was ended', { peer: this.#client.peer, error }),
    })
    this.#http2 = connection
    this.#head = NOTHING
    connection.read(head)
    if (this.#isDraining) connection.drain()
  }

  #beginHttp1(head: Buffer): void {
    this.#http1 = this.#options.onHttp1(this.#channel, this.#client)
    this.#head = NOTHING
    this.#http1.received(head)
  }
}
