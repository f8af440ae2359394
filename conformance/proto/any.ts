import type { Codec } from './codec.js'

/** Whether `any` says that it holds a message of this type; what stands before the last slash does not matter. */
export const holds = (any: { readonly typeUrl: string }, of: Pick<Codec<never, unknown>, 'typeName'>): boolean =>
  any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1) === of.typeName
