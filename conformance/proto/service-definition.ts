import type protobuf from 'protobufjs/light.js'
import { type Codec, codecByName } from './codec.js'
import { root } from './root.js'

/** One method of a service, as sent on the wire. */
export interface MethodDefinition {
  readonly name: string
  /** `/package.Service/Method`. */
  readonly path: string
  readonly request: Codec<object, unknown>
  readonly response: Codec<object, unknown>
}

/** The service with this full name. Throws if the protocols have none. */
export const serviceDefinition = (service: string): { readonly methods: readonly MethodDefinition[] } => ({
  methods: root.lookupService(service).methodsArray.map((method) => {
    const { name, resolvedRequestType, resolvedResponseType } = method.resolve() as protobuf.Method
    return {
      name,
      path: `/${service}/${name}`,
      request: codecByName(nameOf(resolvedRequestType)),
      response: codecByName(nameOf(resolvedResponseType)),
    }
  }),
})

const nameOf = (type: protobuf.Type | null): string => type?.fullName.slice(1) ?? ''
