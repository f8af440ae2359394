import type { StoreOptions } from '../../config/config.js'
import type { StoreKind } from '../contract/kind.js'

interface KindEntry<Options> {
  /** The name of its class in health reports, also while the store starts. */
  readonly structName: string
  load(): Promise<StoreKind<Options>>
}

/**
 * All kinds by their key in the configuration. A schema without a kind, or a kind without a schema, does not compile.
 * Kinds that are not implemented are absent here: the configuration knows their names and rejects them at start. A kind
 * is imported only when the configuration uses it.
 */
export const kinds: { readonly [Name in keyof StoreOptions]: KindEntry<StoreOptions[Name]> } = {
  memory: { structName: 'MemoryStore', load: async () => (await import('./memory/kind.js')).memory },
  filesystem: { structName: 'FilesystemStore', load: async () => (await import('./filesystem/kind.js')).filesystem },
  fast_slow: { structName: 'FastSlowStore', load: async () => (await import('./fast_slow/kind.js')).fastSlow },
  compression: {
    structName: 'CompressionStore',
    load: async () => (await import('./compression/kind.js')).compression,
  },
  completeness_checking: {
    structName: 'CompletenessCheckingStore',
    load: async () => (await import('./completeness_checking/kind.js')).completenessChecking,
  },
  dedup: { structName: 'DedupStore', load: async () => (await import('./dedup/kind.js')).dedup },
  verify: { structName: 'VerifyStore', load: async () => (await import('./verify/kind.js')).verify },
  existence_cache: {
    structName: 'ExistenceCacheStore',
    load: async () => (await import('./existence_cache/kind.js')).existenceCache,
  },
  size_partitioning: {
    structName: 'SizePartitioningStore',
    load: async () => (await import('./size_partitioning/kind.js')).sizePartitioning,
  },
  shard: { structName: 'ShardStore', load: async () => (await import('./shard/kind.js')).shard },
  experimental_cloud_object_store: {
    structName: 'ObjectStore',
    load: async () => (await import('./experimental_cloud_object_store/kind.js')).experimentalCloudObjectStore,
  },
  experimental_mongo: {
    structName: 'ObjectStore',
    load: async () => (await import('./experimental_mongo/kind.js')).experimentalMongo,
  },
  ontap_s3_existence_cache: {
    structName: 'ExistenceCacheStore',
    load: async () => (await import('./ontap_s3_existence_cache/kind.js')).ontapS3ExistenceCache,
  },
  ref_store: { structName: 'StoreReference', load: async () => (await import('./ref_store/kind.js')).refStore },
  grpc: { structName: 'GrpcStore', load: async () => (await import('./grpc/kind.js')).grpc },
  redis_store: { structName: 'RedisStore', load: async () => (await import('./redis_store/kind.js')).redisStore },
  noop: { structName: 'NoopStore', load: async () => (await import('./noop/kind.js')).noop },
  cache_metrics: {
    structName: 'CacheMetricsStore',
    load: async () => (await import('./cache_metrics/kind.js')).cacheMetrics,
  },
}
