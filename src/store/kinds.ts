import type { StoreOptions } from '../config/config.js'
import type { StoreKind } from './kind.js'

/**
 * All kinds by their key in the configuration. A schema without a kind, or a kind without a schema, does not compile.
 * Kinds that are not implemented are absent here: the configuration knows their names and rejects them at start. A kind
 * is imported only when the configuration uses it.
 */
export const kinds: { readonly [Name in keyof StoreOptions]: () => Promise<StoreKind<StoreOptions[Name]>> } = {
  memory: async () => (await import('./kind/memory.js')).memory,
  filesystem: async () => (await import('./kind/filesystem.js')).filesystem,
  fast_slow: async () => (await import('./kind/fast-slow.js')).fastSlow,
  compression: async () => (await import('./kind/compression.js')).compression,
  completeness_checking: async () => (await import('./kind/completeness-checking.js')).completenessChecking,
  dedup: async () => (await import('./kind/dedup.js')).dedup,
  verify: async () => (await import('./kind/verify.js')).verify,
  existence_cache: async () => (await import('./kind/existence-cache.js')).existenceCache,
  size_partitioning: async () => (await import('./kind/size-partitioning.js')).sizePartitioning,
  shard: async () => (await import('./kind/shard.js')).shard,
  experimental_cloud_object_store: async () =>
    (await import('./kind/experimental-cloud-object-store.js')).experimentalCloudObjectStore,
  experimental_mongo: async () => (await import('./kind/experimental-mongo.js')).experimentalMongo,
  ontap_s3_existence_cache: async () => (await import('./kind/ontap-s3-existence-cache.js')).ontapS3ExistenceCache,
  ref_store: async () => (await import('./kind/ref-store.js')).refStore,
  grpc: async () => (await import('./kind/grpc.js')).grpc,
  redis_store: async () => (await import('./kind/redis-store.js')).redisStore,
  noop: async () => (await import('./kind/noop.js')).noop,
  cache_metrics: async () => (await import('./kind/cache-metrics.js')).cacheMetrics,
}
