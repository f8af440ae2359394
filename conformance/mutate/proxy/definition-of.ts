import type { Codec } from '../../proto/codec.js'
import { serviceDefinition } from '../../proto/service-definition.js'

type MessageForm = Pick<Codec<object, unknown>, 'encode' | 'decode'>

/** The description of a method that the proxy needs. */
export interface WireMethod {
  readonly path: string
  readonly request: MessageForm
  readonly response: MessageForm
}

const definitions = new Map<string, WireMethod>()

/** The method of this path; one that no service below protos/ has takes and gives bytes. */
export const definitionOf = (path: string): WireMethod => {
  const known = definitions.get(path)
  if (known !== undefined) return known
  const found = find(path) ?? { path, request: asItIs, response: asItIs }
  definitions.set(path, found)
  return found
}

const find = (path: string): WireMethod | undefined => {
  const [, service = '', name] = path.split('/')
  try {
    return serviceDefinition(service).methods.find((method) => method.name === name)
  } catch {
    // protobufjs throws for a service it does not know, where there is no method to be found either.
    return undefined
  }
}

const asItIs: MessageForm = {
  encode: (message) => message as Buffer,
  decode: (bytes) => bytes,
}
