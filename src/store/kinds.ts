import type { StoreOptions } from '../config/config.js'
import { cacheMetrics } from './kind/cache-metrics.js'
import { completenessChecking } from './kind/completeness-checking.js'
import { compression } from './kind/compression.js'
import { dedup } from './kind/dedup.js'
import { existenceCache } from './kind/existence-cache.js'
import { experimentalCloudObjectStore } from './kind/experimental-cloud-object-store.js'
import { experimentalMongo } from './kind/experimental-mongo.js'
import { fastSlow } from './kind/fast-slow.js'
import { filesystem } from './kind/filesystem.js'
import { grpc } from './kind/grpc.js'
import { memory } from './kind/memory.js'
import { noop } from './kind/noop.js'
import { ontapS3ExistenceCache } from './kind/ontap-s3-existence-cache.js'
import { redisStore } from './kind/redis-store.js'
import { refStore } from './kind/ref-store.js'
import { shard } from './kind/shard.js'
import { sizePartitioning } from './kind/size-partitioning.js'
import { verify } from './kind/verify.js'
import type { StoreKind } from './kind.js'

/** Those that keep blobs on other machines. */
export const elsewhere: ReadonlySet<keyof StoreOptions> = new Set([
  'experimental_cloud_object_store',
  'experimental_mongo',
  'grpc',
  'redis_store',
])

/**
 * Every kind by its key in the configuration. A schema without a kind or a kind without a schema does not compile. Kinds
 * whose code is not there yet are no part of the type: the configuration knows their names and refuses them at start.
 */
export const kinds: { readonly [Name in keyof StoreOptions]: StoreKind<StoreOptions[Name]> } = {
  memory,
  filesystem,
  fast_slow: fastSlow,
  compression,
  completeness_checking: completenessChecking,
  dedup,
  verify,
  existence_cache: existenceCache,
  size_partitioning: sizePartitioning,
  shard,
  experimental_cloud_object_store: experimentalCloudObjectStore,
  experimental_mongo: experimentalMongo,
  ontap_s3_existence_cache: ontapS3ExistenceCache,
  ref_store: refStore,
  grpc,
  redis_store: redisStore,
  noop,
  cache_metrics: cacheMetrics,
}
