import { Server, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js'
import type { Service } from '../base/rpc.js'
import { StatusError } from '../base/status-error.js'
import { CallsUnderWay } from './calls-under-way.js'
import type { Exchange } from './exchange.js'
import { type Handler, handlersOf, type ServeOptions, serve } from './handler.js'
import { GrpcHealth, HEALTH } from './health.js'
import { REFLECTION, reflectionServices } from './reflection.js'

const MAX_CONCURRENT_STREAMS = 1024

interface GrpcServerOptions extends ServeOptions {
  readonly services: readonly Service[]
  readonly maxMessageBytes: number
}

export interface GrpcServer {
  /** Does not listen by itself. */
  readonly server: Server
  readonly health: GrpcHealth
  /** Ends every call under way with UNAVAILABLE, which clients take as a reason to try again elsewhere. */
  stopCalls(): void
}

/** A grpc-js server with the services, grpc.health.v1 and reflection. */
export const grpcServer = (options: GrpcServerOptions): GrpcServer => {
  const underWay = new CallsUnderWay<Exchange>()
  const names = options.services.map((service) => service.name)
  const health = new GrpcHealth(names)
  const reflection = reflectionServices([...names, HEALTH, ...REFLECTION])
  const handlers = [...options.services, health.service, ...reflection].flatMap(handlersOf)
  const byPath = new Map(handlers.map((handler) => [handler.method.path, handler]))
  const server = new Server({
    'grpc.max_receive_message_length': options.maxMessageBytes,
    'grpc.max_concurrent_streams': MAX_CONCURRENT_STREAMS,
    'grpc.enable_channelz': 0,
    interceptors: [serveHere(byPath, underWay, options)],
  })
  for (const handler of handlers) register(server, handler)
  const stopCalls = (): void => {
    for (const exchange of underWay) exchange.stop(new StatusError('UNAVAILABLE', 'the server is shutting down'))
  }
  return { server, health, stopCalls }
}

/**
 * Takes over the calls of our services below grpc-js' own streams, whose handling of messages, cancellation and errors
 * they need differently (request-stream, response-stream and exchange say how).
 */
const serveHere =
  (
    handlers: ReadonlyMap<string, Handler>,
    underWay: CallsUnderWay<Exchange>,
    options: GrpcServerOptions,
  ): ServerInterceptor =>
  (method, wire) => {
    const handler = handlers.get(method.path)
    if (handler === undefined) return new ServerInterceptingCall(wire)
    return new ServerInterceptingCall(wire, {
      start: () => serve(handler, wire, options, underWay),
    })
  }

const asItIs = (bytes: Buffer): Buffer => bytes

const register = (server: Server, { method, kind }: Handler): void => {
  const unreachable = (): never => {
    throw new Error(`${method.path} was not taken over`)
  }
  if (!server.register(method.path, unreachable, asItIs, asItIs, kind)) {
    throw new Error(`two services handle ${method.path}`)
  }
}
