import type { Codec } from './codec.js'

/** Whether `any` holds a message of this type; the part before the last slash does not matter. */
export const holds = (any: { readonly typeUrl: string }, of: Pick<Codec<never, unknown>, 'typeName'>): boolean =>
  any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1) === of.typeName
