import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { Http1Exchange, type Http1Peer } from './http1-exchange.js'
import type { HttpRequests } from './requests.js'

export interface Http1Limits {
  /** How long a request's head may take, from its first byte. */
  readonly headMs: number
  /** How long a connection stays open without a request. Clients with connection pools expect about a minute. */
  readonly idleMs: number
  /** Within each of these periods, a body must bring 64 KiB, and a client must take 256 KiB. */
  readonly bodyMs: number
  /** How long the rest of a body that is not wanted is read, so that the client sees the answer. */
  readonly readOffMs: number
}

export const DEFAULT_HTTP1_LIMITS: Http1Limits = { headMs: 10_000, idleMs: 120_000, bodyMs: 120_000, readOffMs: 10_000 }

/** Of all headers of a request. A larger head is refused with 431. */
const MAX_HEADER_BYTES = 16 * 1024
const SWEEP_MS = 1000

/** A socket, or the stream of one that another thread has. */
type Http1Socket = Duplex & { readonly bytesRead: number }

/** HTTP/1.1 by Node's own server, on connections that are passed to it. */
export class Http1 {
  readonly #requests: HttpRequests
  readonly #limits: Http1Limits
  readonly #connections = new Map<Duplex, Connection>()
  readonly #server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 0, requestTimeout: 0 })
  readonly #stopSweep: () => void
  #isDraining = false

  constructor(requests: HttpRequests, limits: Http1Limits, clock: Clock) {
    this.#requests = requests
    this.#limits = limits
    // Time counted by sweeps: it stands still while the process is blocked, because that is not the clients' fault.
    const sweepMs = Math.max(1, Math.min(SWEEP_MS, limits.headMs / 2, limits.idleMs / 2, limits.bodyMs / 2))
    this.#stopSweep = clock.every(sweepMs, () => {
      for (const connection of this.#connections.values()) connection.sweep(sweepMs)
    })
    this.#server
      .on('request', (request, response) => this.#request(request, response, false))
      .on('checkContinue', (request, response) => this.#request(request, response, true))
      // An expectation that this server does not know (RFC 9110, 10.1.1).
      .on('checkExpectation', (_, response) => response.writeHead(417, { connection: 'close' }).end())
      // CONNECT and upgrades: nothing here takes them over.
      .on('connect', (_, socket) => socket.end('HTTP/1.1 405 Method Not Allowed\r\nconnection: close\r\n\r\n'))
  }

  /** Takes over a socket. What was read from it has been put back (`unshift`). */
  accept(socket: Http1Socket, peer: Http1Peer): void {
    const connection = new Connection(socket, peer, this.#limits)
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      this.#connections.delete(socket)
      connection.closed()
    })
    this.#server.emit('connection', socket)
    if (this.#isDraining) this.drain()
  }

  /** Closes idle connections, and the others after their answers. */
  drain(): void {
    this.#isDraining = true
    for (const connection of this.#connections.values()) connection.drain()
  }

  close(): void {
    this.#stopSweep()
  }

  #request(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const connection = this.#connections.get(request.socket)
    if (connection === undefined) return
    const { client, held } = connection.peer
    const exchange = new Http1Exchange(request, response, { client, held, expectsContinue })
    connection.answer(exchange, () => this.#requests.answer(exchange))
  }
}

/** One request at a time is answered; those that a client sends ahead wait in order. */
class Connection {
  readonly peer: Http1Peer
  readonly #socket: Http1Socket
  readonly #limits: Http1Limits
  readonly #waiting: { readonly exchange: Http1Exchange; readonly work: () => Promise<void> }[] = []
  #current: Http1Exchange | undefined
  #isDraining = false
  #hasAnswered = false
  #idleMs = 0
  #headMs = 0
  /** What was read when the last answer ended. More means that a head is coming. */
  #bytesRead = 0
  #readOffMs: number | undefined

  constructor(socket: Http1Socket, peer: Http1Peer, limits: Http1Limits) {
    this.peer = peer
    this.#socket = socket
    this.#limits = limits
  }

  answer(exchange: Http1Exchange, work: () => Promise<void>): void {
    if (this.#isDraining) exchange.endConnection()
    if (this.#current === undefined) void this.#begin(exchange, work)
    else this.#waiting.push({ exchange, work })
  }

  closed(): void {
    this.#current?.closed()
    for (const { exchange } of this.#waiting) exchange.closed()
  }

  drain(): void {
    this.#isDraining = true
    this.#current?.endConnection()
    if (this.#current === undefined) this.#socket.destroy()
  }

  sweep(passedMs: number): void {
    const { headMs, idleMs, bodyMs, readOffMs } = this.#limits
    if (this.#readOffMs !== undefined) {
      this.#readOffMs += passedMs
      if (this.#readOffMs >= readOffMs) this.#socket.destroy()
      return
    }
    if (this.#current !== undefined) {
      this.#current.sweep(passedMs, bodyMs)
      return
    }
    const isHeadComing = !this.#hasAnswered || this.#socket.bytesRead > this.#bytesRead
    this.#headMs = isHeadComing ? this.#headMs + passedMs : 0
    this.#idleMs += passedMs
    if (this.#headMs >= headMs || this.#idleMs >= idleMs) this.#socket.destroy()
  }

  async #begin(exchange: Http1Exchange, work: () => Promise<void>): Promise<void> {
    this.#current = exchange
    await work()
    if (exchange.hasUnread && !exchange.isUndecided) await this.#readOff(exchange)
    this.#current = undefined
    this.#hasAnswered = true
    this.#idleMs = 0
    this.#headMs = 0
    this.#bytesRead = this.#socket.bytesRead
    const next = this.#waiting.shift()
    if (next !== undefined) void this.#begin(next.exchange, next.work)
    else if (this.#isDraining) this.#socket.end()
  }

  /** Node reads and drops the rest of the body. A client that reads no answer before it has sent everything sees it then. */
  async #readOff(exchange: Http1Exchange): Promise<void> {
    this.#readOffMs = 0
    await exchange.readOff()
    this.#readOffMs = undefined
  }
}
