import type { StatusError } from '../../base/status-error.js'
import { type MethodDefinition, serviceDefinition } from '../../proto/service-definition.js'
import type { Bidirectional, ClientStreaming, ServerStreaming, Service, Unary } from '../../rpc/rpc.js'
import type { ServerCall } from './call.js'

/** One method of a service: its definition in the protocol, and its implementation. */
export interface Handler {
  readonly method: MethodDefinition
  readonly kind: 'unary' | 'serverStream' | 'clientStream' | 'bidi'
  readonly run: (call: ServerCall) => Promise<void>
}

/**
 * The handlers of services by path. Throws if a service names a method that `protos/` does not have in that form, or if
 * two have the same path.
 */
export const handlersByPath = (services: readonly Service[]): ReadonlyMap<string, Handler> => {
  const byPath = new Map<string, Handler>()
  for (const handler of services.flatMap(handlersOf)) {
    const { path } = handler.method
    if (byPath.has(path)) throw new Error(`two services handle ${path}`)
    byPath.set(path, handler)
  }
  return byPath
}

/** Handlers for services that are not available yet. Their calls fail with the error that `refusal` returns. */
export const refusingHandlers = (
  serviceNames: readonly string[],
  refusal: () => StatusError,
): ReadonlyMap<string, Handler> => {
  const refuse = async (): Promise<never> => {
    throw refusal()
  }
  const methods = serviceNames.flatMap((name) => serviceDefinition(name).methods)
  return new Map(methods.map((method) => [method.path, { method, kind: kindOf(method), run: refuse }]))
}

const handlersOf = (service: Service): Handler[] => {
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
    ...pick('bidi', service.bidirectional, (handle) => bidirectional(handle, false)),
    ...pick('bidi', service.bidirectionalBytes, (handle) => bidirectional(handle, true)),
  ]
}

const kindOf = ({ requestStream, responseStream }: MethodDefinition): Handler['kind'] => {
  if (requestStream) return responseStream ? 'bidi' : 'clientStream'
  return responseStream ? 'serverStream' : 'unary'
}

const unary = (handle: Unary) => async (call: ServerCall) => {
  call.respond(await handle(await call.request(), call))
}

const unaryBytes = (handle: Unary<Buffer, Buffer>) => async (call: ServerCall) => {
  call.respondBytes(await handle(await call.requestBytes(), call))
}

const serverStreaming = (handle: ServerStreaming) => async (call: ServerCall) => {
  const request = await call.request()
  const responses = call.responses()
  await orFailure(responses, handle(request, call, responses))
  await call.finish()
}

const clientStreaming = (handle: ClientStreaming) => async (call: ServerCall) => {
  call.respond(await handle(call.requestMessages(), call))
}

const bidirectional = (handle: Bidirectional, takesBytes: boolean) => async (call: ServerCall) => {
  const requests = call.requests(takesBytes)
  const responses = call.responses()
  try {
    await orFailure(responses, handle(requests, responses, call))
    await call.finish()
  } finally {
    requests.destroy()
  }
}

/** A handler may fail by destroying its stream or by throwing; the first failure ends the call. */
const orFailure = (responses: NodeJS.WritableStream, handled: Promise<void>): Promise<void> =>
  new Promise((resolve, reject) => {
    responses.on('error', reject)
    handled.then(resolve, reject)
  })
