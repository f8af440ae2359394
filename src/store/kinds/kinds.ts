import type { StoreOptions } from '../../config/config.js'
import type { StoreKind } from '../contract/kind.js'

/**
 * All kinds by their key in the configuration. A schema without a kind, or a kind without a schema, does not compile.
 * Kinds that are not implemented are absent here: the configuration knows their names and rejects them at start. A kind
 * is imported only when the configuration uses it.
 */
export const kinds: { readonly [Name in keyof StoreOptions]: () => Promise<StoreKind<StoreOptions[Name]>> } = {
  memory: async () => (await import('./memory/kind.js')).memory,
  filesystem: async () => (await import('./filesystem/kind.js')).filesystem,
  fast_slow: async () => (await import('./fast_slow/kind.js')).fastSlow,
  compression: async () => (await import('./compression/kind.js')).compression,
  completeness_checking: async () => (await import('./completeness_checking/kind.js')).completenessChecking,
  dedup: async () => (await import('./dedup/kind.js')).dedup,
  verify: async () => (await import('./verify/kind.js')).verify,
  existence_cache: async () => (await import('./existence_cache/kind.js')).existenceCache,
  size_partitioning: async () => (await import('./size_partitioning/kind.js')).sizePartitioning,
  shard: async () => (await import('./shard/kind.js')).shard,
  experimental_cloud_object_store: async () =>
    (await import('./experimental_cloud_object_store/kind.js')).experimentalCloudObjectStore,
  experimental_mongo: async () => (await import('./experimental_mongo/kind.js')).experimentalMongo,
  ontap_s3_existence_cache: async () => (await import('./ontap_s3_existence_cache/kind.js')).ontapS3ExistenceCache,
  ref_store: async () => (await import('./ref_store/kind.js')).refStore,
  grpc: async () => (await import('./grpc/kind.js')).grpc,
  redis_store: async () => (await import('./redis_store/kind.js')).redisStore,
  noop: async () => (await import('./noop/kind.js')).noop,
  cache_metrics: async () => (await import('./cache_metrics/kind.js')).cacheMetrics,
}
