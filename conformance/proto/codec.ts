import protobuf from 'protobufjs/light.js'
import type { Messages } from '../../src/proto/generated/messages.js'
import { root } from './root.js'

export type TypeName = keyof Messages & string
/** The values that encode as a message type. */
export type Input<N extends TypeName> = Messages[N][0]
/** The value that decoding a message type returns. */
export type Output<N extends TypeName> = Messages[N][1]

/** The wire form of one message type. */
export interface Codec<In, Out> {
  /** Full protobuf name, without a leading dot. */
  readonly typeName: string
  /** Canonical: fields in order of number, without those at their default. */
  encode(message: In): Buffer
  /** Unknown fields are dropped; unset messages are null, repeated fields []. Throws an Error that names the type. */
  decode(bytes: Uint8Array): Out
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const codecs = new Map<string, Codec<object, unknown>>()

/** The codec of a message type, e.g. `codec('build.bazel.remote.execution.v2.Digest')`. */
export const codec = <N extends TypeName>(typeName: N): Codec<Input<N>, Output<N>> =>
  codecByName(typeName) as Codec<Input<N>, Output<N>>

/** Like `codec`, for names known only at run time. Throws if there is no such message type. */
export const codecByName = (typeName: string): Codec<object, unknown> => {
  const known = codecs.get(typeName)
  if (known !== undefined) return known
  const type = root.lookupType(typeName)
  withBuffers(type)
  const made: Codec<object, unknown> = {
    typeName,
    encode: (message) => asBuffer(type.encode(message).finish()),
    decode: (bytes) => {
      try {
        return type.decode(asBuffer(bytes))
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause)
        throw new Error(`the bytes are not a valid ${typeName}: ${reason}`, { cause })
      }
    },
  }
  codecs.set(typeName, made)
  return made
}

const NOTHING = Buffer.alloc(0)
const visited = new Set<protobuf.Type>()

/** protobufjs decodes an unset bytes field as an empty array, in this type and nested ones. */
const withBuffers = (type: protobuf.Type): void => {
  if (visited.has(type)) return
  visited.add(type)
  for (const { name, type: kind, repeated, resolvedType } of type.fieldsArray) {
    if (kind === 'bytes' && !repeated) Object.assign(type.ctor.prototype, { [name]: NOTHING })
    if (resolvedType instanceof protobuf.Type) withBuffers(resolvedType)
  }
}
