import type { ExistenceCacheOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { ExistenceCacheStore } from '../../existence/existence-cache-store.js'
import { BlobIndex } from '../../index/blob-index.js'

export const existenceCache: StoreKind<ExistenceCacheOptions> = {
  build: async ({ backend, eviction_policy: policy }, context) => {
    const index = new BlobIndex({ policy, clock: context.clock })
    return new ExistenceCacheStore(await context.child(backend, 'backend'), index)
  },
}
