import { StatusError } from '../base/status-error.js'
import type { Codec } from './codec.js'

const PREFIX = 'type.googleapis.com/'

/** A `google.protobuf.Any` that contains `message`. */
export const pack = <In, Out>(of: Codec<In, Out>, message: In): { typeUrl: string; value: Buffer } => ({
  typeUrl: PREFIX + of.typeName,
  value: of.encode(message),
})

/** Whether `any` contains a message of this type. Ignores the part of the URL before the last slash. */
export const holds = <In, Out>(any: { readonly typeUrl: string }, of: Codec<In, Out>): boolean =>
  any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1) === of.typeName

/** The message inside `any`. Throws INVALID_ARGUMENT for another type or invalid bytes. */
export const unpack = <In, Out>(
  of: Codec<In, Out>,
  any: { readonly typeUrl: string; readonly value: Uint8Array },
): Out => {
  if (holds(any, of)) return of.decode(any.value)
  throw new StatusError('INVALID_ARGUMENT', `an Any holds ${JSON.stringify(any.typeUrl)}, expected ${of.typeName}`)
}
