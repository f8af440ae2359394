import type { CacheMetricsOptions } from '../../config/config.js'
import { ForwardingStore } from '../forwarding.js'
import type { StoreKind } from '../kind.js'

/** Gives a backend a label of its own in the cache metrics. It does nothing to blobs: every store is counted without it. */
class CacheMetricsStore extends ForwardingStore {}

export const cacheMetrics: StoreKind<CacheMetricsOptions> = {
  build: async ({ backend }, context) => new CacheMetricsStore(await context.child(backend, 'backend')),
}
