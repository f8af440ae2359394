import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type TlsOptions, type Server as TlsServer } from 'node:tls'
import type { Clock } from '../base/clock.js'
import { errnoOf, inWords } from '../base/errno.js'
import type { Log } from '../log/log.js'
import { SparingLog } from '../log/sparing-log.js'
import { Admission, type AllConnections, type ConnectionBounds } from './admission.js'
import { markUnix, UNIX_PEER } from './client.js'

export interface SocketOptions {
  readonly tls: TlsOptions | undefined
  /** How long a TLS handshake may take. */
  readonly handshakeMs: number
  readonly bounds: ConnectionBounds
  /** Of all listeners. */
  readonly all?: AllConnections | undefined
  /** Whether clients connect by a unix socket. */
  readonly isUnix: boolean
  readonly clock: Clock
  readonly log: Log
}

type HandshakeOptions = Pick<SocketOptions, 'handshakeMs' | 'clock' | 'log'>

/**
 * Receives a socket from which nothing has been read; over TLS, after the handshake. Call `closed` when it has closed.
 */
export type Accept = (socket: Socket, closed: () => void) => void

const SOCKETS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
const REFUSAL_LINES = { lines: 10, periodMs: 60_000 }

export interface SocketServer {
  readonly server: Server
  /** Uses other TLS files for new handshakes; no effect without TLS. */
  renewTls(tls: TlsOptions): void
  /** Accepts no more connections, and closes those of which it is not known yet who has them. */
  stop(): void
}

/** The sockets of a listener, bounded in number. A connection counts from its first packet on. */
export const socketServer = (options: SocketOptions, accept: Accept): SocketServer => {
  const admit = admitting(options)
  const { tls } = options
  // Paused, so that a transport may take over the socket before anything is read.
  if (tls === undefined) {
    const server = createServer({ ...SOCKETS, pauseOnConnect: true }, (socket) => admit(socket, accept))
    logAcceptErrors(server, options)
    return { server, renewTls: () => {}, stop: () => void server.close() }
  }
  const handshakes = new Handshakes(tls, options, (socket) => accept(socket, () => {}))
  const server = createServer(SOCKETS, (socket) =>
    admit(socket, (_, closed) => {
      socket.once('close', closed)
      handshakes.begin(socket)
    }),
  )
  logAcceptErrors(server, options)
  return { server, renewTls: (renewed) => handshakes.renew(renewed), stop: () => void server.close() }
}

/** A connection that the kernel could not give is an 'error' of the server, which goes on. */
const logAcceptErrors = (server: Server, { clock, log }: SocketOptions): void => {
  const failures = new SparingLog(log, clock, REFUSAL_LINES)
  server.once('listening', () => {
    server.on('error', (error) => failures.warn('a connection could not be accepted', { reason: inWords(error) }))
  })
}

/** Performs the TLS handshakes of sockets that are passed to it. */
export class Handshakes {
  readonly #server: TlsServer

  constructor(tls: TlsOptions, options: HandshakeOptions, agreed: (socket: Socket) => void) {
    this.#server = tlsServer(tls, options, agreed)
  }

  begin(socket: Socket): void {
    this.#server.emit('connection', socket)
  }

  /** Uses other TLS files for new handshakes. */
  renew(tls: TlsOptions): void {
    this.#server.setSecureContext(tls)
  }
}

/** Passes on a socket within the bounds, and closes any other. */
const admitting = ({ bounds, all, isUnix, clock, log }: SocketOptions): ((socket: Socket, goOn: Accept) => void) => {
  const admission = new Admission(bounds, all)
  const refusals = new SparingLog(log, clock, REFUSAL_LINES)
  return (socket, goOn) => {
    if (isUnix) markUnix(socket)
    const peer = isUnix ? UNIX_PEER : (socket.remoteAddress ?? '')
    const refusal = admission.refusal(peer)
    if (refusal === undefined) {
      goOn(socket, () => admission.leave(peer))
      return
    }
    socket.destroy()
    refusals.warn('a connection was refused', { peer, reason: refusal })
  }
}

/** It does not listen itself. */
const tlsServer = (
  tls: TlsOptions,
  { handshakeMs, clock, log }: HandshakeOptions,
  agreed: (socket: Socket) => void,
): TlsServer => {
  const failures = new SparingLog(log, clock, REFUSAL_LINES)
  const options = { ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: handshakeMs, ...tls }
  const server = createTlsServer(options, (socket) => {
    // With optional client certificates, Node also accepts invalid ones.
    if (socket.authorized || socket.getPeerX509Certificate() === undefined) agreed(socket)
    else refuse(socket, failures)
  })
  server.on('tlsClientError', (error, socket) => {
    // Probes that only connect are not logged.
    if (errnoOf(error) !== 'ECONNRESET' || socket.authorizationError) refuse(socket, failures, error)
    else socket.destroy()
  })
  return server
}

const refuse = (socket: TLSSocket, failures: SparingLog, error?: Error): void => {
  const { remoteAddress: peer, authorizationError } = socket
  const reason = authorizationError ? `the certificate of the client: ${authorizationError}` : error?.message
  failures.warn('a TLS handshake failed', { peer, reason })
  socket.destroy()
}
