import type { Server } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { type Clock, systemClock } from '../base/clock.js'
import { advice, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import type { Route } from '../http/request.js'
import { Ledger } from '../ledger/ledger.js'
import { type Log, silentLog } from '../log/log.js'
import type { Gate } from '../rpc/gate.js'
import type { Invocations } from '../rpc/invocations.js'
import type { RequestRecords } from '../rpc/request-records.js'
import type { Service } from '../rpc/rpc.js'
import type { Tracer } from '../rpc/trace.js'
import { within } from '../work/deadline.js'
import { InFlight } from '../work/in-flight.js'
import { type AllConnections, type ConnectionBounds, DEFAULT_CONNECTION_BOUNDS } from './admission.js'
import { Calls } from './call/calls.js'
import type { CallMeters } from './call/meter.js'
import { GrpcHealth, HEALTH } from './health.js'
import { DEFAULT_HTTP1_LIMITS, Http1 } from './http/http1.js'
import type { Http1Limits } from './http/http1-connection.js'
import type { HttpMeters } from './http/meter.js'
import { HttpRequests } from './http/requests.js'
import { DEFAULT_LIMITS } from './http2/limits.js'
import { REFLECTION, reflectionServices } from './reflection.js'
import { socketServer } from './sockets.js'
import type { ServiceThreads } from './threads/service-threads.js'
import { threadedServer } from './threads/threaded-server.js'
import { DEFAULT_TRANSPORT_LIMITS, RemexecTransport, type TransportLimits } from './transport/transport.js'
import type { MessageCompression, Transport, TransportParts } from './transport.js'
import { bindUnix, isUnixAddress, UNIX_SOCKET_MODE } from './unix-socket.js'

/** The gRPC implementation: remexec's own, or grpc-js. */
export type TransportName = 'remexec' | 'grpc-js'

export interface ListenOptions {
  /** `host:port`. Without a host: all interfaces. Port 0: any free port. IPv6 hosts in brackets. Or `unix:/path`. */
  readonly address: string
  /** Permissions of a unix socket. */
  readonly unixSocketMode?: number
  readonly services: readonly Service[]
  /** Names of services that `Listener.serve` provides later. Until then their calls are UNAVAILABLE. */
  readonly awaited?: readonly string[]
  /** Answers requests other than gRPC, on the same port. */
  readonly routes?: readonly Route[]
  readonly transport?: TransportName
  /** Have the connections; absent if this thread has them. Needs our own transport. */
  readonly threads?: ServiceThreads | undefined
  /** TLS options of Node. The protocol is negotiated by ALPN, or detected by the first bytes. */
  readonly tls?: TlsOptions
  /** Maximum size of a request message. Must exceed the announced maximum batch by the size of its envelope. */
  readonly maxMessageBytes?: number
  /** How long a new connection may take to send its first bytes. */
  readonly firstBytesMs?: number
  /** How long a client may continue to send after its call was answered. */
  readonly readOffMs?: number
  /**
   * Default: responses are not compressed, and requests may use gzip and deflate. Other values need our own transport.
   */
  readonly compression?: MessageCompression
  readonly connections?: ConnectionBounds
  /** Of all listeners of the process; without it this listener stands alone. */
  readonly allConnections?: AllConnections | undefined
  /** Authorizes every call; without it all are allowed. */
  readonly gate?: Gate | undefined
  readonly http1?: Partial<Http1Limits>
  /** Bounds of our own transport. grpc-js only applies the keepalive times. */
  readonly limits?: Partial<TransportLimits>
  /** Accounts for memory held for connections; shared by all listeners of a process. */
  readonly ledger?: Ledger
  readonly clock?: Clock
  readonly log?: Log
  readonly meters?: CallMeters | undefined
  readonly httpMeters?: HttpMeters | undefined
  readonly tracer?: Tracer | undefined
  /** The share of calls, 0 to 1, whose log line is at level info instead of debug. Default 0. */
  readonly shownShare?: number
  /** Learns which builds are alive from the metadata of calls. */
  readonly invocations?: Invocations
  /** Receives what became of requests about actions. */
  readonly records?: RequestRecords
}

/** What clients can ask of a listener. */
export interface Doors {
  /** Paths of gRPC methods, `service/method`. */
  readonly methods: readonly string[]
  readonly routes: readonly Pick<Route, 'path' | 'isTree' | 'methods' | 'access'>[]
}

export interface Listener {
  /** The bound `host:port`, with the actual port; `unix:/path` as given. */
  readonly address: string
  /** Its number in the service threads that have its connections. */
  readonly threadsNumber: number | undefined
  /**
   * Provides all awaited services, the gate for their calls, and routes in place of those with the same paths. Throws if
   * a service is missing or unknown. grpc.health.v1 says so once `setServing` does.
   */
  serve(services: readonly Service[], gate?: Gate, routes?: readonly Route[]): void
  /** Those that are open now. */
  doors(): Doors
  /** Sets the answer of grpc.health.v1 for the server and each of its services. */
  setServing(serving: boolean): void
  /** Uses other TLS files for new connections. */
  renewTls(tls: TlsOptions): void
  /**
   * Stops accepting connections, asks clients to go elsewhere, and resolves once the calls in progress have ended.
   * After `drainMs` the remaining calls end with UNAVAILABLE.
   */
  close(drainMs?: number): Promise<void>
}

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const FIRST_BYTES_MS = 10_000
const READ_OFF_MS = 10_000
const DRAIN_MS = 10_000
/** Time for the last answers to leave the process after their calls have ended. */
const FLUSH_MS = 250

/** Serves gRPC (HTTP/2, with prior knowledge if unencrypted) and HTTP/1.1 on one port. */
export const listen = async (options: ListenOptions): Promise<Listener> => {
  const { log = silentLog, clock = systemClock, firstBytesMs = FIRST_BYTES_MS, awaited = [] } = options
  const inFlight = new InFlight()
  const names = [...options.services.map(({ name }) => name), ...awaited]
  const health = new GrpcHealth(names, awaited.length === 0)
  const reflection = reflectionServices([...names, HEALTH, ...REFLECTION])
  const { gate, meters, tracer, shownShare, invocations, records } = options
  const all = [...options.services, health.service, ...reflection]
  const calls = new Calls(
    all,
    { log, inFlight: inFlight, meters, tracer, shownShare, gate, invocations, records },
    awaited,
  )
  const requests = new HttpRequests(options.routes ?? [], {
    ...{ log, inFlight, gate, shownShare: shownShare ?? 0, tracer, records },
    meters: options.httpMeters,
  })
  const bodyMs = options.limits?.requestMs ?? DEFAULT_TRANSPORT_LIMITS.requestMs
  const http1Limits = { ...DEFAULT_HTTP1_LIMITS, headMs: firstBytesMs, bodyMs, ...options.http1 }
  const wire = {
    maxMessageBytes: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    firstBytesMs,
    readOffMs: options.readOffMs ?? READ_OFF_MS,
    compression: options.compression ?? { sendsGzip: false, accepted: ['gzip', 'deflate'] },
  }
  const transport = await transportOf(options, {
    calls,
    http1: new Http1(requests, http1Limits, { clock, log }),
    requests,
    ledger: options.ledger ?? new Ledger(),
    ...{ ...wire, clock, log },
  })
  const bounds = options.connections ?? DEFAULT_CONNECTION_BOUNDS
  const isUnix = isUnixAddress(options.address)
  const sockets = {
    tls: options.tls,
    handshakeMs: firstBytesMs,
    bounds,
    all: options.allConnections,
    isUnix,
    clock,
    log,
  }
  const threaded = options.threads?.listener({ ...wire, limits: options.limits ?? {}, tls: options.tls })
  const { server, renewTls, stop } =
    threaded === undefined
      ? socketServer(sockets, (socket, closed) => void transport.accept(socket, closed))
      : threadedServer(threaded, sockets, ownOf(transport))
  const bound = isUnix
    ? bindUnix(server, options.address, options.unixSocketMode ?? UNIX_SOCKET_MODE)
    : bind(server, options.address)
  const address = await bound.catch((error: unknown) => {
    stop()
    transport.destroy()
    throw error
  })

  let closed: Promise<void> | undefined
  const close = async (drainMs: number): Promise<void> => {
    health.setServing(false)
    health.endWatches()
    stop()
    transport.drain(drainMs + 2 * FLUSH_MS)
    await Promise.all([within(drainMs, inFlight.idle()), threaded?.close(drainMs)])
    calls.stop(new StatusError('UNAVAILABLE', 'the server is shutting down'))
    await within(FLUSH_MS, transport.idle())
    transport.destroy()
    await within(FLUSH_MS, inFlight.idle())
  }
  return {
    address,
    threadsNumber: threaded?.number,
    serve: (services, judge, routes = []) => {
      const missing = awaited.filter((name) => !services.some((service) => service.name === name))
      if (missing.length > 0) throw new Error(`${missing.join(', ')} were not provided`)
      calls.serve(services, judge)
      requests.serve(routes, judge)
    },
    doors: () => ({ methods: [...calls.handlers.keys()], routes: requests.routes }),
    setServing: (serving) => health.setServing(serving),
    renewTls,
    close: (drainMs = DRAIN_MS) => {
      closed ??= close(drainMs)
      return closed
    },
  }
}

const transportOf = async ({ transport, limits }: ListenOptions, parts: TransportParts): Promise<Transport> => {
  if (transport !== 'grpc-js') return new RemexecTransport(parts, limits)
  const { GrpcJsTransport } = await import('./grpc-js/transport.js')
  return new GrpcJsTransport(withoutCompression(parts), { ...DEFAULT_LIMITS, ...limits })
}

const ownOf = (transport: Transport): RemexecTransport => {
  if (transport instanceof RemexecTransport) return transport
  throw new Error('service threads need our own transport')
}

const withoutCompression = (parts: TransportParts): TransportParts => {
  const { sendsGzip, accepted } = parts.compression
  if (!sendsGzip && accepted.includes('gzip') && accepted.includes('deflate')) return parts
  throw new StatusError(
    'INVALID_ARGUMENT',
    'grpc-js does not compress responses, and accepts requests in gzip and deflate',
  )
}

const bind = (net: Server, address: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { host, port } = parse(address)
    net.on('error', (cause: NodeJS.ErrnoException) => {
      const reason = `${inWords(cause)}${advice(cause)}`
      reject(new StatusError('UNAVAILABLE', `cannot listen on ${address}: ${reason}`, { cause }))
    })
    net.listen({ ...(host === '' ? {} : { host }), port }, () => {
      const bound = net.address()
      if (bound === null || typeof bound === 'string') throw new Error('a TCP server has no TCP address')
      resolve(bound.family === 'IPv6' ? `[${bound.address}]:${bound.port}` : `${bound.address}:${bound.port}`)
    })
  })

const parse = (address: string): { host: string; port: number } => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(address) ?? []
  if (port === undefined || Number(port) > 65535) {
    throw new StatusError('INVALID_ARGUMENT', `cannot listen on ${JSON.stringify(address)}, expected host:port`)
  }
  return { host: bracketed ?? plain ?? '', port: Number(port) }
}
