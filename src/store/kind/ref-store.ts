import type { RefStoreOptions } from '../../config/config.js'
import type { StoreKind } from '../kind.js'

/** Stands for another named store: it is that very store, so that two references share one index and one cache. */
export const refStore: StoreKind<RefStoreOptions> = {
  build: ({ name }, context) => context.named(name),
}
