import protobuf from 'protobufjs/light.js'
import { StatusError } from '../base/status-error.js'

const LENGTH_DELIMITED = 2

/**
 * The sub-messages in the fields `fieldNumbers` of a message, in their order and as they lie in `bytes`: for messages that
 * are better not decoded as a whole. INVALID_ARGUMENT, which names `typeName`, when the bytes are no message at all.
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

/** A message whose repeated field `fieldNumber` holds these, each as it is on the wire, and whose other fields are `rest`. */
export const withSubmessages = (fieldNumber: number, submessages: readonly Uint8Array[], rest: Uint8Array): Buffer => {
  const writer = protobuf.Writer.create()
  for (const submessage of submessages) writer.uint32((fieldNumber << 3) | LENGTH_DELIMITED).bytes(submessage)
  return Buffer.concat([writer.finish(), rest])
}
