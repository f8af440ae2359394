import { systemClock } from '../../src/base/clock.js'
import { PLAIN, type Store, type StoreProperties } from '../../src/blobs/store.js'
import { cacheMetrics } from '../../src/store/kinds/cache_metrics/kind.js'
import { compression } from '../../src/store/kinds/compression/kind.js'
import { fastSlow } from '../../src/store/kinds/fast_slow/kind.js'
import { noop } from '../../src/store/kinds/noop/kind.js'
import { verify } from '../../src/store/kinds/verify/kind.js'
import { asCas } from '../../src/store/view/cas.js'
import { isolatedView } from '../../src/store/view/isolated.js'
import { asKeyed } from '../../src/store/view/keyed.js'
import { SharedStore } from '../../src/store/view/quota.js'
import type { Resources } from '../../src/work/resources.js'
import { buildStore, given, memoryStore, tierDefaults } from './build.js'
import { deduplicated, existenceCached, MOST_DEDUPLICATED_BYTES, partitioned, sharded } from './composed.js'
import type { Operation } from './double.js'
import { zstdStore } from './kinds/compression/zstd-store.js'

/** What a wrapper is built with beside its backend; both are made anew unless given. */
export interface Around {
  /** The store beside the backend. */
  readonly beside?: Store
  /** Stops what the wrapper started. */
  readonly resources?: Resources
}

export interface Wrapper {
  readonly wrap: (backend: Store, around?: Around) => Promise<Store> | Store
  readonly checksUploads?: boolean
  /** It never touches a blob that it passes on. */
  readonly onlyPasses?: boolean
  /** It has another store beside the backend, whose blobs the backend does not check. */
  readonly isBeside?: boolean
  /** The store beside the backend only caches: without it nothing is lost. */
  readonly isCache?: boolean
  /** Below it, stored bytes do not match the digest, or digests are marked as keys. */
  readonly changes?: 'bytes' | 'keys'
  /** Its properties over a backend with these. Default: the same. */
  readonly announces?: (below: StoreProperties) => StoreProperties
  /** What becomes of an operation at the backend. Default: the same operation. */
  readonly asks?: Partial<Record<Operation, Operation | 'nothing'>>
}

const lz4 = { block_size: 64 * 1024, max_decode_block_size: 0 }

const tiers = (
  fast: Store,
  slow: Store,
  { resources }: Around,
  fast_direction: 'both' | 'get' = 'both',
): Promise<Store> =>
  buildStore(
    fastSlow,
    { ...tierDefaults, fast: given, slow: given, fast_direction },
    { children: { fast, slow }, ...(resources && { resources }) },
  )

const ofSlow = (slow: StoreProperties): StoreProperties =>
  slow.keepsNothing
    ? { ...PLAIN, extendsLifetimes: true, retentionMs: Number.POSITIVE_INFINITY, findsByHash: true }
    : { ...slow, keepsNothing: false, checksCompleteness: false, detectsDamage: false }

/** Beside memory, which has no encodings and extends lifetimes. */
const besideMemory = ({ retentionMs, findsByHash }: StoreProperties): StoreProperties => ({
  ...PLAIN,
  ...{ extendsLifetimes: true, retentionMs, findsByHash },
})

/** By name, in groups, which are the nightly test files of the whole product (test/store/pairs/). */
export const groups = {
  checking: {
    verify: {
      wrap: (backend) =>
        buildStore(verify, { backend: given, verify_size: true, verify_hash: true }, { children: { backend } }),
      checksUploads: true,
      announces: (below) => ({ ...below, detectsDamage: true }),
    },
    CAS: { wrap: (backend) => asCas(backend), checksUploads: true },
    AC: { wrap: (backend) => asKeyed(backend), onlyPasses: true, changes: 'keys' },
    'an isolated instance over': {
      wrap: (backend) => isolatedView(backend, 'tenant'),
      onlyPasses: true,
      changes: 'keys',
    },
    'a limited instance over': {
      wrap: (backend) =>
        new SharedStore(isolatedView(backend, 'tenant'), {
          ...{ instanceName: 'tenant', maxBytes: 1e9, clock: systemClock },
        }),
      onlyPasses: true,
      changes: 'keys',
    },
  },
  encoding: {
    lz4: {
      wrap: (backend) =>
        buildStore(compression, { backend: given, compression_algorithm: { lz4 } }, { children: { backend } }),
      changes: 'bytes',
      announces: (below) => ({ ...below, encodings: [] }),
    },
    zstd: {
      wrap: (backend) => zstdStore(backend),
      changes: 'bytes',
      announces: (below) => ({ ...below, encodings: ['ZSTD'] }),
    },
  },
  chunks: {
    'chunks in memory, listed in': {
      wrap: async (backend, { beside } = {}) => deduplicated(backend, beside ?? (await memoryStore())),
      changes: 'bytes',
      announces: ({ keepsNothing, retentionMs, findsByHash }) => ({
        ...PLAIN,
        ...{ keepsNothing, detectsDamage: true, extendsLifetimes: true, retentionMs, findsByHash },
        maxBlobBytes: MOST_DEDUPLICATED_BYTES,
      }),
      asks: { putAll: 'put' },
    },
    'lists in memory, chunks in': {
      wrap: async (backend, { beside } = {}) => deduplicated(beside ?? (await memoryStore()), backend),
      isBeside: true,
      announces: ({ keepsNothing, extendsLifetimes, retentionMs, findsByHash }) => ({
        ...PLAIN,
        ...{ keepsNothing, detectsDamage: true, extendsLifetimes, retentionMs, findsByHash },
        maxBlobBytes: MOST_DEDUPLICATED_BYTES,
      }),
      asks: { put: 'findMissing', putAll: 'findMissing', remove: 'nothing' },
    },
  },
  tiers: {
    'memory in front of': {
      wrap: async (backend, around = {}) => tiers(around.beside ?? (await memoryStore()), backend, around),
      isCache: true,
      announces: ofSlow,
      asks: { putAll: 'put' },
    },
    'memory that only copies in front of': {
      wrap: async (backend, around = {}) => tiers(around.beside ?? (await memoryStore()), backend, around, 'get'),
      isCache: true,
      announces: ofSlow,
      asks: { putAll: 'put' },
    },
    'nothing behind': {
      wrap: async (backend, around = {}) => tiers(backend, await buildStore(noop, {}), around),
      announces: ({ keepsNothing, encodings, detectsDamage, extendsLifetimes, retentionMs, findsByHash }) => ({
        ...PLAIN,
        ...{ keepsNothing, encodings, detectsDamage: detectsDamage || keepsNothing },
        ...{ extendsLifetimes, retentionMs, findsByHash },
      }),
    },
  },
  partitions: {
    'a shard of two, memory and': {
      wrap: async (backend, { beside } = {}) => sharded([beside ?? (await memoryStore()), backend], [1, 3]),
      onlyPasses: true,
      isBeside: true,
      announces: besideMemory,
    },
    'memory for small blobs, else': {
      wrap: async (backend, { beside } = {}) => partitioned(beside ?? (await memoryStore()), backend),
      onlyPasses: true,
      isBeside: true,
      announces: besideMemory,
    },
  },
  passing: {
    'existence_cache over': {
      wrap: (backend) => existenceCached(backend),
      onlyPasses: true,
      announces: (below) => ({ ...below, extendsLifetimes: false }),
    },
    'cache_metrics of': {
      wrap: (backend) => buildStore(cacheMetrics, { backend: given, cache_type: 'cas' }, { children: { backend } }),
      onlyPasses: true,
    },
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Wrapper>>>>

export const wrappers: Readonly<Record<string, Wrapper>> = Object.assign({}, ...Object.values(groups))
