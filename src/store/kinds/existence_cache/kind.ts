import type { ExistenceCacheOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { oneForAll } from '../../contract/thread-use.js'
import { ExistenceCacheStore } from '../../existence/existence-cache-store.js'
import { BlobIndex } from '../../index/blob-index.js'

export const existenceCache: StoreKind<ExistenceCacheOptions> = {
  threads: () => oneForAll('its list of blobs is in one place'),
  promise: ({ backend }, below) => {
    const { retentionS, words } = below.child(backend)
    return retentionS === 0
      ? { retentionS, words }
      : { retentionS, words: `${words}; its own answers are in no build's lease` }
  },
  build: async ({ backend: config, eviction_policy: policy }, context) => {
    const backend = await context.child(config, 'backend')
    const believedS = believable(policy.max_seconds, backend.properties.retentionMs / 1000)
    const index = new BlobIndex({ policy: { ...policy, max_seconds: believedS }, clock: context.clock })
    return new ExistenceCacheStore(backend, index, believedS * 1000)
  },
}

/** An answer is never believed for longer than half of what the backend promises; 0 means for ever. */
const believable = (maxSeconds: number, retentionS: number): number => {
  if (retentionS === 0 || !Number.isFinite(retentionS)) return maxSeconds
  return Math.min(maxSeconds > 0 ? maxSeconds : Number.POSITIVE_INFINITY, Math.max(1, Math.floor(retentionS / 2)))
}
