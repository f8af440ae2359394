import type { Metadata, ServerInterceptingCallInterface } from '@grpc/grpc-js'
import type { Bidirectional, ClientStreaming, ServerStreaming, Service, Unary } from '../base/rpc.js'
import { type MethodDefinition, serviceDefinition } from '../proto/service-definition.js'
import type { Activity } from './activity.js'
import type { CallsUnderWay } from './calls-under-way.js'
import { Exchange, type ExchangeOptions } from './exchange.js'

/** One method of a service: what the protocol says about it and what runs for it. */
export interface Handler {
  readonly method: MethodDefinition
  readonly kind: 'unary' | 'serverStream' | 'clientStream' | 'bidi'
  readonly run: (exchange: Exchange) => Promise<void>
}

/** The handlers of a service. Throws when it names a method that `protos/` does not have in that form. */
export const handlersOf = (service: Service): Handler[] => {
  const methods = new Map(serviceDefinition(service.name).methods.map((method) => [method.name, method]))
  const pick = <H>(
    kind: Handler['kind'],
    named: Readonly<Record<string, H>> = {},
    run: (handle: H) => Handler['run'],
  ) =>
    Object.entries(named).map(([name, handle]): Handler => {
      const method = methods.get(name)
      if (method === undefined || kindOf(method) !== kind) {
        throw new Error(`${service.name} has no ${kind} method ${name}`)
      }
      return { method, kind, run: run(handle) }
    })
  return [
    ...pick('unary', service.unary, unary),
    ...pick('unary', service.unaryBytes, unaryBytes),
    ...pick('serverStream', service.serverStreaming, serverStreaming),
    ...pick('clientStream', service.clientStreaming, clientStreaming),
    ...pick('bidi', service.bidirectional, bidirectional),
  ]
}

const kindOf = ({ requestStream, responseStream }: MethodDefinition): Handler['kind'] => {
  if (requestStream) return responseStream ? 'bidi' : 'clientStream'
  return responseStream ? 'serverStream' : 'unary'
}

const unary = (handle: Unary) => async (exchange: Exchange) => {
  const request = exchange.decode(await exchange.requestBytes())
  exchange.respond(await handle(request, exchange.call(request)))
}

const unaryBytes = (handle: Unary<Buffer, Buffer>) => async (exchange: Exchange) => {
  exchange.respondBytes(await handle(await exchange.requestBytes(), exchange.call()))
}

const serverStreaming = (handle: ServerStreaming) => async (exchange: Exchange) => {
  const request = exchange.decode(await exchange.requestBytes())
  const responses = exchange.responses()
  await orFailure(responses, handle(request, exchange.call(request), responses))
  await exchange.finish()
}

const clientStreaming = (handle: ClientStreaming) => async (exchange: Exchange) => {
  const requests = exchange.requests()
  try {
    exchange.respond(await handle(requests, exchange.call()))
  } finally {
    // The rest of an upload that was answered early is read off by the transport, message for message.
    requests.destroy()
  }
}

const bidirectional = (handle: Bidirectional) => async (exchange: Exchange) => {
  const requests = exchange.requests()
  const responses = exchange.responses()
  try {
    await orFailure(responses, handle(requests, responses, exchange.call()))
    await exchange.finish()
  } finally {
    requests.destroy()
  }
}

/** A handler may fail by destroying its stream as well as by throwing: the first of both ends the call. */
const orFailure = (responses: NodeJS.WritableStream, handled: Promise<void>): Promise<void> =>
  new Promise((resolve, reject) => {
    responses.once('error', reject)
    handled.then(resolve, reject)
  })

export interface ServeOptions extends ExchangeOptions {
  /** Counts the calls under way. */
  readonly activity: Activity
}

/** Serves one call. `underWay` holds its exchange until the handler has ended. */
export const serve = (
  handler: Handler,
  wire: ServerInterceptingCallInterface,
  options: ServeOptions,
  underWay: CallsUnderWay<Exchange>,
): void => {
  let exchange: Exchange | undefined
  // Of a call that was cancelled before it began grpc-js reports nothing.
  wire.start({
    onReceiveMetadata: (metadata: Metadata) => {
      exchange = new Exchange(handler.method, wire, metadata, options)
      void run(handler, exchange, options.activity, underWay)
    },
    onReceiveMessage: (bytes: Buffer) => exchange?.received(bytes),
    onReceiveHalfClose: () => exchange?.halfClosed(),
    onCancel: () => exchange?.cancel(),
  })
}

const run = async (
  handler: Handler,
  exchange: Exchange,
  activity: Activity,
  underWay: CallsUnderWay<Exchange>,
): Promise<void> => {
  activity.begin()
  underWay.add(exchange)
  try {
    await handler.run(exchange)
  } catch (error) {
    exchange.fail(error)
  } finally {
    underWay.delete(exchange)
    activity.end()
  }
}
