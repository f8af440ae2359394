import type { Clock } from '../../src/base/clock.js'
import type { Store } from '../../src/blobs/store.js'
import { mostChunksIn } from '../../src/content/chunk-list.js'
import { dedup } from '../../src/store/kinds/dedup/kind.js'
import { existenceCache } from '../../src/store/kinds/existence_cache/kind.js'
import { shard } from '../../src/store/kinds/shard/kind.js'
import { sizePartitioning } from '../../src/store/kinds/size_partitioning/kind.js'
import { buildStore, given } from './build.js'

/** Stores of the composing kinds on given stores. */

export const existenceCached = (
  backend: Store,
  policy: { max_seconds?: number; max_count?: number; max_bytes?: number } = {},
  clock?: Clock,
): Promise<Store> =>
  buildStore(
    existenceCache,
    { backend: given, eviction_policy: { max_bytes: 0, evict_bytes: 0, max_seconds: 300, max_count: 1000, ...policy } },
    { children: { backend }, ...(clock && { clock }) },
  )

export const sharded = (stores: readonly Store[], weights: readonly number[]): Promise<Store> =>
  buildStore(
    shard,
    { stores: weights.map((weight) => ({ store: given, weight })) },
    { children: Object.fromEntries(stores.entries()) },
  )

export const partitioned = (lower_store: Store, upper_store: Store, size = 64 * 1024): Promise<Store> =>
  buildStore(
    sizePartitioning,
    { size, lower_store: given, upper_store: given },
    { children: { lower_store, upper_store } },
  )

/** What chunking_function would use. */
export const SIZES = { avg_chunk_size_bytes: 524_288, min_chunk_size_bytes: 262_144 }

const MAX_CHUNK_BYTES = 65_536
/** By the longest list of chunks. */
export const MOST_DEDUPLICATED_BYTES = mostChunksIn(Number.POSITIVE_INFINITY) * MAX_CHUNK_BYTES

/** In chunks of about 16 KiB. */
export const deduplicated = (
  index_store: Store,
  content_store: Store,
  max_concurrent_fetch_per_get = 10,
): Promise<Store> =>
  buildStore(
    dedup,
    {
      index_store: given,
      content_store: given,
      ...SIZES,
      min_size: 4096,
      normal_size: 16_384,
      max_size: MAX_CHUNK_BYTES,
      max_concurrent_fetch_per_get,
    },
    { children: { index_store, content_store } },
  )
