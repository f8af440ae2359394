import { ForwardingStore } from '../../../blobs/forwarding.js'
import type { FarTrees, Store } from '../../../blobs/store.js'
import type { CacheMetricsOptions } from '../../../config/config.js'
import type { StageContext, StoreKind } from '../../contract/kind.js'

/** Gives a backend its own label in the cache metrics. Blobs pass unchanged. Every store has metrics without it too. */
class CacheMetricsStore extends ForwardingStore {
  get trees(): FarTrees | undefined {
    return this.backend.trees
  }
}

const stage = async ({ backend }: CacheMetricsOptions, { child }: StageContext): Promise<Store> =>
  new CacheMetricsStore(await child(backend, 'backend'))

export const cacheMetrics: StoreKind<CacheMetricsOptions> = {
  threads: ({ backend }, below) => below.stage({ backend: below.child(backend, 'backend') }),
  promise: ({ backend }, below) => below.child(backend),
  build: stage,
  stage,
}
