import { codec } from '../proto/codec.js'
import { type MethodDefinition, serviceDefinition } from '../proto/service-definition.js'
import type { Any } from '../wire/methods.js'
import type { TapedCall } from './tape/tape.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

export interface DecodedMessage {
  readonly isRequest: boolean
  readonly ms: number
  // biome-ignore lint/suspicious/noExplicitAny: any message of any service.
  readonly message: any
}

/** A call of the tape, with its messages decoded. */
export interface DecodedCall {
  /** `package.Service/Method`. */
  readonly method: string
  readonly taped: TapedCall
  readonly messages: readonly DecodedMessage[]
  readonly requests: readonly Any[]
  readonly responses: readonly Any[]
  readonly metadata: unknown
}

/** Throws for a method that protos/ does not declare. */
export const decodeCall = (taped: TapedCall): DecodedCall => {
  const [, service = '', name = ''] = taped.path.split('/')
  const definition = find(service, name)
  const messages = taped.messages.map(({ isRequest, ms, bytes }) => ({
    isRequest,
    ms,
    message: (isRequest ? definition.request : definition.response).decode(bytes) as Any,
  }))
  const metadata = taped.headers['build.bazel.remote.execution.v2.requestmetadata-bin']
  return {
    method: `${service}/${name}`,
    taped,
    messages,
    requests: messages.filter(({ isRequest }) => isRequest).map(({ message }) => message),
    responses: messages.filter(({ isRequest }) => !isRequest).map(({ message }) => message),
    metadata: metadata === undefined ? undefined : requestMetadataCodec.decode(Buffer.from(String(metadata), 'base64')),
  }
}

const find = (service: string, name: string): MethodDefinition => {
  const method = serviceDefinition(service).methods.find((each) => each.name === name)
  if (method === undefined) throw new Error(`the client called ${service}/${name}, which protos/ does not have`)
  return method
}
