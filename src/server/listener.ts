import { createServer, type Server, type Socket } from 'node:net'
import { ServerCredentials } from '@grpc/grpc-js'
import { advice, inWords } from '../base/errno.js'
import { type Log, silentLog } from '../base/log.js'
import type { Service } from '../base/rpc.js'
import { StatusError } from '../base/status-error.js'
import { Activity } from './activity.js'
import { grpcServer } from './grpc-server.js'
import { hearClose } from './hear-close.js'
import { type HttpHandler, httpServer } from './http.js'
import { sniff } from './sniff.js'
import { tuneTransport } from './transport.js'

export interface ListenOptions {
  /** `host:port`; without a host every interface, port 0 for any free one. An IPv6 host stands in brackets. */
  readonly address: string
  readonly services: readonly Service[]
  /** Plain HTTP/1.1 GET by path, on the same port. */
  readonly http?: ReadonlyMap<string, HttpHandler>
  /** The largest request message. Must exceed the largest batch announced by as much as its envelope may take. */
  readonly maxMessageBytes?: number
  /** How long a new connection may take to show what it speaks. */
  readonly firstBytesMs?: number
  /** How long a client may go on sending once its call was answered. */
  readonly readOffMs?: number
  readonly log?: Log
}

export interface Listener {
  /** As bound: `host:port` with the real port. */
  readonly address: string
  /** What grpc.health.v1 answers for the server and each of its services. */
  setServing(serving: boolean): void
  /**
   * Stops accepting, tells clients to go elsewhere, and resolves once the calls under way have ended. After `drainMs`
   * the rest is ended with UNAVAILABLE.
   */
  close(drainMs?: number): Promise<void>
}

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const FIRST_BYTES_MS = 10_000
const READ_OFF_MS = 10_000
const DRAIN_MS = 10_000
/** What the last answers get to leave the process after their calls have ended. */
const FLUSH_MS = 250

/** Serves gRPC (HTTP/2 with prior knowledge) and plain HTTP/1.1 on one port. */
export const listen = async (options: ListenOptions): Promise<Listener> => {
  const {
    log = silentLog,
    maxMessageBytes = MAX_MESSAGE_BYTES,
    firstBytesMs = FIRST_BYTES_MS,
    readOffMs = READ_OFF_MS,
  } = options
  const activity = new Activity()
  const {
    server: grpc,
    health,
    stopCalls,
  } = grpcServer({ services: options.services, maxMessageBytes, readOffMs, log, activity })
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure())
  tuneTransport(grpc)
  const http = httpServer(options.http ?? new Map(), log, activity)
  const sockets = new Set<Socket>()

  const net = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // Peers that reset their connection are everyday; both protocols report what it means for their calls.
    socket.on('error', (error) => log.debug('a connection broke', { error }))
    sniff(socket, firstBytesMs, (protocol) => {
      if (protocol === 'http2') {
        injector.injectConnection(socket)
        hearClose(socket)
      } else http.emit('connection', socket)
    })
  })
  const address = await bind(net, options.address)

  let closed: Promise<void> | undefined
  const close = async (drainMs: number): Promise<void> => {
    health.setServing(false)
    health.endWatches()
    net.close()
    injector.drain(drainMs + 2 * FLUSH_MS)
    await within(drainMs, activity.idle())
    stopCalls()
    await within(FLUSH_MS, allClosed(sockets))
    for (const socket of sockets) socket.destroy()
    grpc.forceShutdown()
    await within(FLUSH_MS, activity.idle())
  }
  return {
    address,
    setServing: (serving) => health.setServing(serving),
    close: (drainMs = DRAIN_MS) => {
      closed ??= close(drainMs)
      return closed
    },
  }
}

const bind = (net: Server, address: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { host, port } = parse(address)
    net.once('error', (cause: NodeJS.ErrnoException) => {
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

const allClosed = async (sockets: ReadonlySet<Socket>): Promise<void> => {
  await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
}

const within = async (ms: number, work: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
