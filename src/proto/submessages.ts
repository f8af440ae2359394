import protobuf from 'protobufjs/light.js'
import { StatusError } from '../base/status-error.js'

const LENGTH_DELIMITED = 2

/**
 * Yields the encoded sub-messages of the fields `fieldNumbers`, in order. For messages that are too expensive
 * to decode completely. Throws INVALID_ARGUMENT that names `typeName` for invalid bytes.
 */
export function* submessagesOf(
  bytes: Buffer,
  fieldNumbers: readonly number[],
  typeName: string,
): Generator<Uint8Array, void, undefined> {
  const reader = protobuf.Reader.create(bytes)
  while (reader.pos < reader.len) {
    const submessage = nextOf(reader, fieldNumbers, typeName)
    if (submessage !== undefined) yield submessage
  }
}

const nextOf = (reader: protobuf.Reader, fieldNumbers: readonly number[], typeName: string): Uint8Array | undefined => {
  try {
    const tag = reader.uint32()
    if ((tag & 7) === LENGTH_DELIMITED && fieldNumbers.includes(tag >>> 3)) return reader.bytes()
    reader.skipType(tag & 7)
    return undefined
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StatusError('INVALID_ARGUMENT', `the bytes are not a valid ${typeName}: ${reason}`, { cause })
  }
}

/**
 * Encodes a message from the encoded sub-messages of its repeated field `fieldNumber` and its other encoded
 * fields `rest`.
 */
export const withSubmessages = (fieldNumber: number, submessages: readonly Uint8Array[], rest: Uint8Array): Buffer => {
  const writer = protobuf.Writer.create()
  for (const submessage of submessages) writer.uint32((fieldNumber << 3) | LENGTH_DELIMITED).bytes(submessage)
  return Buffer.concat([writer.finish(), rest])
}
