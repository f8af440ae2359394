import type { RefStoreOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'

/** A reference to a named store. It is the same object, so that all references share one index and one cache. */
export const refStore: StoreKind<RefStoreOptions> = {
  threads: ({ name }, below) => below.named(name),
  promise: ({ name }, below) => below.named(name),
  build: ({ name }, context) => context.named(name),
}
