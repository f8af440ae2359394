import protobuf from 'protobufjs/light.js'
import { Fields, LENGTH_DELIMITED } from './fields.js'

/**
 * Yields the encoded sub-messages of the fields `fieldNumbers`, in order. For messages that are too expensive
 * to decode completely. Throws INVALID_ARGUMENT that names `typeName` for invalid bytes.
 */
export function* submessagesOf(
  bytes: Buffer,
  fieldNumbers: readonly number[],
  typeName: string,
): Generator<Uint8Array, void, undefined> {
  const fields = new Fields(bytes, typeName)
  while (fields.next()) if (fieldNumbers.includes(fields.number)) yield bytes.subarray(fields.from, fields.to)
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
