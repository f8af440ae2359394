import type { CacheMetricsOptions } from '../../../config/config.js'
import { ForwardingStore } from '../../contract/forwarding.js'
import type { StoreKind } from '../../contract/kind.js'
import type { FarTrees } from '../../contract/store.js'
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
