import type { Socket } from 'node:net'
import { Server, ServerCredentials, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js'
import type { Calls } from '../call/calls.js'
import type { Handler } from '../call/handlers.js'
import { clientOf } from '../client.js'
import { Connections } from '../connections.js'
import type { ConnectionLimits } from '../http2/limits.js'
import type { Transport, TransportParts } from '../transport.js'
import { sniff } from './sniff.js'
import { GrpcJsWire } from './wire.js'

const MAX_CONCURRENT_STREAMS = 1024

type KeepAlive = Pick<ConnectionLimits, 'keepAliveMs' | 'keepAliveTimeoutMs'>

/**
 * gRPC by grpc-js, only through its public interface. A reference for our own transport, and a fallback if that has a
 * fault. Limits: default windows of HTTP/2, one more copy of each message, and `readOffMs` has no effect.
 */
export class GrpcJsTransport implements Transport {
  readonly #parts: TransportParts
  readonly #server: Server
  readonly #injector: ReturnType<Server['createConnectionInjector']>
  readonly #connections = new Connections<Socket>()

  constructor(parts: TransportParts, { keepAliveMs, keepAliveTimeoutMs }: KeepAlive) {
    this.#parts = parts
    this.#server = new Server({
      'grpc.max_receive_message_length': parts.maxMessageBytes,
      'grpc.max_send_message_length': -1,
      'grpc.max_concurrent_streams': MAX_CONCURRENT_STREAMS,
      // After a protocol error, Node reads nothing more from the connection, not even its end. A ping detects that end.
      'grpc.keepalive_time_ms': keepAliveMs,
      'grpc.keepalive_timeout_ms': keepAliveTimeoutMs,
      'grpc.enable_channelz': 0,
      interceptors: [serveHere(parts.calls)],
    })
    for (const handler of parts.calls.handlers.values()) register(this.#server, handler)
    this.#injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure())
  }

  accept(socket: Socket, closed: () => void): void {
    this.#connections.add(socket)
    socket.once('close', () => {
      this.#connections.delete(socket)
      closed()
    })
    // Clients often reset connections; both protocols report the effect on calls.
    socket.on('error', (error) => this.#parts.log.debug('a connection broke', { error }))
    sniff(socket, this.#parts.firstBytesMs, (protocol) => {
      if (protocol === 'http2') this.#injector.injectConnection(socket)
      else this.#parts.http1?.accept(socket, { client: clientOf(socket), held: undefined })
    })
  }

  drain(graceMs: number): void {
    this.#injector.drain(graceMs)
    this.#parts.http1?.drain()
  }

  idle(): Promise<void> {
    return this.#connections.idle()
  }

  destroy(): void {
    for (const socket of this.#connections) socket.destroy()
    this.#server.forceShutdown()
    this.#parts.http1?.close()
  }
}

/** Intercepts calls below grpc-js' own streams, so that they are served like those of any transport. */
const serveHere =
  (calls: Calls): ServerInterceptor =>
  (method, wire) => {
    const handler = calls.handlers.get(method.path)
    if (handler === undefined) return new ServerInterceptingCall(wire)
    return new ServerInterceptingCall(wire, { start: () => GrpcJsWire.serve(handler, wire, calls) })
  }

const asItIs = (bytes: Buffer): Buffer => bytes

const register = (server: Server, { method, kind }: Handler): void => {
  const unreachable = (): never => {
    throw new Error(`${method.path} was not taken over`)
  }
  server.register(method.path, unreachable, asItIs, asItIs, kind)
}
