import type { Test } from 'tap'
import type { kinds } from '../../../src/store/kinds/kinds.js'
import { abortEach, type Files } from './abort-each.js'
import { ways } from './ways.js'

/** A CAS of each kind, or why there is none here. A kind without a line does not compile. */
const stores: Readonly<Record<keyof typeof kinds, ((files: Files) => object) | string>> = {
  memory: () => ({ memory: {} }),
  filesystem: 'see ways-http.test.ts',
  fast_slow: (files) => ({ fast_slow: { fast: files('fast'), slow: files('slow') } }),
  compression: (files) => ({ compression: { compression_algorithm: { zstd: {} }, backend: files('encoded') } }),
  dedup: (files) => ({
    dedup: { index_store: files('lists'), content_store: files('chunks'), chunking_function: 'fast_cdc_2020' },
  }),
  size_partitioning: (files) => ({
    size_partitioning: { size: 500_000, lower_store: files('small'), upper_store: files('large') },
  }),
  shard: (files) => ({ shard: { stores: [{ store: files('one') }, { store: files('two') }] } }),
  verify: (files) => ({ verify: { verify_hash: true, backend: files('cas') } }),
  existence_cache: (files) => ({ existence_cache: { backend: files('cas') } }),
  cache_metrics: (files) => ({ cache_metrics: { cache_type: 'CAS', backend: files('cas') } }),
  ref_store: 'it is another store',
  completeness_checking: 'it is for action results',
  noop: 'it keeps nothing',
  grpc: 'its bytes are on another server',
  redis_store: 'its bytes are on another server',
  experimental_cloud_object_store: 'its bytes are on another server',
  experimental_mongo: 'its bytes are on another server',
  ontap_s3_existence_cache: 'its bytes are on another server',
}

/** One for each code that takes or lends: the kinds of HTTP caches share theirs. */
const SOME = ['a PUT of opaque', 'a Write', 'a compressed Write', 'a SplitBlob']

/** Tests stores of several parts, or those of one. */
export const testStores = (t: Test, hasParts: boolean): void => {
  for (const [kind, storeOf] of Object.entries(stores)) {
    if (typeof storeOf === 'string' || OF_PARTS.includes(kind) !== hasParts) continue
    t.test(`${kind}: transfers that are given up, at each step of the disk, change nothing of others`, (t) =>
      abortEach(t, storeOf, Object.fromEntries(Object.entries(ways).filter(([way]) => SOME.includes(way)))),
    )
  }
}

const OF_PARTS = ['fast_slow', 'dedup', 'size_partitioning', 'shard']
