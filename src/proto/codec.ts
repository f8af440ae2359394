import type protobuf from 'protobufjs/light.js'
import { StatusError } from '../base/status-error.js'
import { type Encoded, encodeReadResponse, gatherReadResponse } from './bytestream-codec.js'
import type { Messages } from './generated/messages.js'
import { root } from './root.js'

export type { Encoded }

/** A response that is already encoded. */
export class EncodedMessage {
  constructor(readonly bytes: Buffer) {}
}

/** Encodes and decodes one message type. */
export interface Codec<In, Out> {
  /** Full protobuf name, without a leading dot. */
  readonly typeName: string
  /**
   * Canonical form: fields in tag order, without fields at their default. `message` may be a plain object;
   * unknown properties are ignored.
   */
  encode(message: In): Buffer
  /** Like `encode`, for callers that copy the bytes at once. Only types with much data have it. */
  readonly gather?: ((message: In) => Encoded) | undefined
  /**
   * Drops unknown fields. Unset messages are null, repeated fields [], maps {}, scalars zero. Bytes share
   * memory with `bytes`. Throws INVALID_ARGUMENT that names the type.
   */
  decode(bytes: Uint8Array): Out
}

export type TypeName = keyof Messages & string
/** What can be encoded as a message type. */
export type Input<N extends TypeName> = Messages[N][0]
/** What decoding a message type returns. */
export type Output<N extends TypeName> = Messages[N][1]

interface CustomEncoder {
  readonly encode: (message: object) => Buffer
  readonly gather: (message: object) => Encoded
}

const customEncoders = new Map<string, CustomEncoder>([
  ['google.bytestream.ReadResponse', { encode: encodeReadResponse, gather: gatherReadResponse }],
])

class ReflectedCodec<In extends object, Out> implements Codec<In, Out> {
  readonly typeName: string
  readonly #type: protobuf.Type
  readonly gather: ((message: In) => Encoded) | undefined
  readonly #customEncode: ((message: In) => Buffer) | undefined

  constructor(type: protobuf.Type) {
    this.typeName = type.fullName.slice(1)
    this.#type = type
    const custom = customEncoders.get(this.typeName)
    this.gather = custom?.gather
    this.#customEncode = custom?.encode
  }

  encode(message: In): Buffer {
    return this.#customEncode?.(message) ?? asBuffer(this.#type.encode(message).finish())
  }

  decode(bytes: Uint8Array): Out {
    try {
      return this.#type.decode(asBuffer(bytes)) as Out
    } catch (cause) {
      const reason = reasonOf(cause, bytes.length)
      throw new StatusError('INVALID_ARGUMENT', `the bytes are not a valid ${this.typeName}: ${reason}`, { cause })
    }
  }
}

/** What the library reports, in words: how many bytes there are, and what they should be. */
const reasonOf = (cause: unknown, length: number): string => {
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (/^index out of range/.test(reason)) return `its ${length} bytes end within a field: cut off, or of another format`
  if (/^(invalid|unknown) wire type|^invalid (end group|varint|tag)/.test(reason))
    return `its ${length} bytes are of another format (${reason})`
  return reason
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const codecs = new Map<string, ReflectedCodec<object, unknown>>()

/** The codec of a message type in `protos/`, e.g. `codec('build.bazel.remote.execution.v2.Digest')`. */
export const codec = <N extends TypeName>(typeName: N): Codec<Input<N>, Output<N>> =>
  codecByName(typeName) as Codec<Input<N>, Output<N>>

/** Like `codec`, for names known only at run time. Throws if the message type does not exist. */
export const codecByName = (typeName: string): Codec<object, unknown> => {
  const known = codecs.get(typeName)
  if (known !== undefined) return known
  const made = new ReflectedCodec<object, unknown>(root.lookupType(typeName))
  codecs.set(typeName, made)
  return made
}
