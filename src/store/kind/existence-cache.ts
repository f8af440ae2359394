import type { ExistenceCacheOptions } from '../../config/config.js'
import { ExistenceCacheStore } from '../existence/existence-cache-store.js'
import { BlobIndex } from '../index/blob-index.js'
import type { StoreKind } from '../kind.js'

export const existenceCache: StoreKind<ExistenceCacheOptions> = {
  build: async ({ backend, eviction_policy: policy }, context) => {
    const index = new BlobIndex({ policy, clock: context.clock })
    return new ExistenceCacheStore(await context.child(backend, 'backend'), index)
  },
}
