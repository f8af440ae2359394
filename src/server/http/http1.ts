import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { textAnswer } from '../../http/answer.js'
import type { HttpAnswer } from '../../http/request.js'
import type { Log } from '../../log/log.js'
import { type Ration, SparingLog } from '../../log/sparing-log.js'
import { PerTurn } from '../../work/per-turn.js'
import { Http1Connection, type Http1Limits } from './http1-connection.js'
import { Http1Exchange, type Http1Peer, isRepeated } from './http1-exchange.js'
import type { HttpRequests } from './requests.js'

export const DEFAULT_HTTP1_LIMITS: Http1Limits = { headMs: 10_000, idleMs: 120_000, bodyMs: 120_000, readOffMs: 10_000 }

/** Of all headers of a request. A larger head is refused with 431. */
const MAX_HEADER_BYTES = 16 * 1024
const SWEEP_MS = 1000

/** Requests that were sent ahead and are answered in one turn of the event loop, of all connections. */
const AHEAD_PER_TURN = 20
const WARNINGS: Ration = { lines: 1, periodMs: 60_000 }

/** HTTP/1.1 by Node's own server, on connections that are passed to it. */
export class Http1 {
  readonly #requests: HttpRequests
  readonly #limits: Http1Limits
  readonly #connections = new Map<Duplex, Http1Connection>()
  readonly #server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 0, requestTimeout: 0 })
  readonly #warnings: SparingLog
  readonly #turns = new PerTurn(AHEAD_PER_TURN)
  readonly #stopSweep: () => void
  #isDraining = false

  constructor(
    requests: HttpRequests,
    limits: Http1Limits,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    this.#requests = requests
    this.#limits = limits
    this.#warnings = new SparingLog(log, clock, WARNINGS)
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
      // CONNECT: nothing here takes it over.
      .on('connect', (_, socket) => this.#connections.get(socket)?.endWith(NO_CONNECT))
  }

  /** Takes over a socket. What was read from it has been put back (`unshift`). */
  accept(socket: Socket, peer: Http1Peer): void {
    const connection = new Http1Connection(socket, peer, this.#limits, this.#turns)
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
    const refusal = refusalOf(request)
    if (refusal !== undefined) exchange.endConnection()
    if (isGrpc(request)) this.#warnings.warn(GRPC_CAME, { peer: client.peer, method: request.url })
    connection.answer(exchange, () => this.#requests.answer(exchange, refusal))
  }
}

const NO_CONNECT = 'HTTP/1.1 405 Method Not Allowed\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'
const GRPC_CAME = 'gRPC came over HTTP/1.1 and was refused: a proxy in front speaks HTTP/1.1, and gRPC needs HTTP/2'

/** The answer to what could be read in two ways (RFC 9112, 3.2 and 6.1), or is for HTTP/2. */
const refusalOf = (request: IncomingMessage): HttpAnswer | undefined => {
  if (isRepeated(request, 'host')) return textAnswer(400, 'the request has several headers host, expected one\n')
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    return textAnswer(501, `transfer-encoding ${coding.slice(0, 50)} is not supported, expected chunked\n`)
  return isGrpc(request) ? textAnswer(505, 'gRPC needs HTTP/2: a proxy in front speaks HTTP/1.1\n') : undefined
}

/** With grpc-web, which only proxies speak. */
const isGrpc = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.startsWith('application/grpc') === true
