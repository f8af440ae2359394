import { ForwardingStore } from '../../../blobs/forwarding.js'
import type { FarTrees } from '../../../blobs/store.js'
import type { CacheMetricsOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { oneForAll } from '../../contract/thread-use.js'

/** Gives a backend its own label in the cache metrics. Blobs pass unchanged. Every store has metrics without it too. */
class CacheMetricsStore extends ForwardingStore {
  get trees(): FarTrees | undefined {
    return this.backend.trees
  }
}

export const cacheMetrics: StoreKind<CacheMetricsOptions> = {
  threads: () => oneForAll('service threads do not run this stage'),
  promise: ({ backend }, below) => below.child(backend),
  build: async ({ backend }, context) => new CacheMetricsStore(await context.child(backend, 'backend')),
}
