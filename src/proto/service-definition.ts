import { type Codec, codecByName } from './codec.js'
import { root } from './root.js'

/** One RPC method of a service. */
export interface MethodDefinition {
  readonly name: string
  /** `/package.Service/Method`. */
  readonly path: string
  readonly request: Codec<object, unknown>
  readonly response: Codec<object, unknown>
  readonly requestStream: boolean
  readonly responseStream: boolean
}

export interface ServiceDefinition {
  /** Full protobuf name, without a leading dot. */
  readonly name: string
  readonly methods: readonly MethodDefinition[]
}

/** The service of this full name in `protos/`. Throws if it does not exist. */
export const serviceDefinition = (name: string): ServiceDefinition => {
  const service = root.lookupService(name)
  const methods = service.methodsArray.map((method): MethodDefinition => {
    method.resolve()
    return {
      name: method.name,
      path: `/${name}/${method.name}`,
      request: codecByName(fullNameOf(method.resolvedRequestType)),
      response: codecByName(fullNameOf(method.resolvedResponseType)),
      requestStream: method.requestStream === true,
      responseStream: method.responseStream === true,
    }
  })
  return { name, methods }
}

const fullNameOf = (type: { readonly fullName: string } | null): string => {
  if (type === null) throw new Error('a method of protos/ names a message that does not exist')
  return type.fullName.slice(1)
}
