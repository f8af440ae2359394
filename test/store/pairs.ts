import t, { type Test } from 'tap'
import type { Store } from '../../src/store/contract/store.js'
import { cacheMetrics } from '../../src/store/kinds/cache_metrics/kind.js'
import { compression } from '../../src/store/kinds/compression/kind.js'
import { fastSlow } from '../../src/store/kinds/fast_slow/kind.js'
import { noop } from '../../src/store/kinds/noop/kind.js'
import { verify } from '../../src/store/kinds/verify/kind.js'
import { asCas } from '../../src/store/view/cas.js'
import { isolatedView } from '../../src/store/view/isolated.js'
import { asKeyed } from '../../src/store/view/keyed.js'
import { buildStore, given, memoryStore } from './build.js'
import { deduplicated, existenceCached, partitioned, sharded } from './composed.js'
import { zstdStore } from './kinds/compression/zstd-store.js'
import { openFilesystem } from './kinds/filesystem/open.js'
import { type OpenStore, storeSuite } from './suite.js'

// Wrappers must forward correctly over any backend: each wrapper over each backend, including other wrappers.

const lz4 = { block_size: 64 * 1024, max_decode_block_size: 0 }
const slowOptions = { slow_direction: 'both', bypass_dedup_threshold_bytes: 0, action_result_max_age_s: 0 } as const

const tiers = (fast: Store, slow: Store, fast_direction: 'both' | 'get' = 'both'): Promise<Store> =>
  buildStore(fastSlow, { fast: given, slow: given, fast_direction, ...slowOptions }, { children: { fast, slow } })

export interface Wrapper {
  readonly wrap: (backend: Store) => Promise<Store> | Store
  readonly checksUploads?: boolean
  /** It has another store beside the backend, whose blobs the backend does not check. */
  readonly isBeside?: boolean
}

/** By name, in groups with one test file each (test/store/pairs/), so that no file takes minutes. */
const groups = {
  checking: {
    verify: {
      wrap: (backend) =>
        buildStore(verify, { backend: given, verify_size: true, verify_hash: true }, { children: { backend } }),
      checksUploads: true,
    },
    CAS: { wrap: asCas, checksUploads: true },
    AC: { wrap: asKeyed },
    'an isolated instance over': { wrap: (backend) => isolatedView(backend, 'tenant') },
  },
  encoding: {
    lz4: {
      wrap: (backend) =>
        buildStore(compression, { backend: given, compression_algorithm: { lz4 } }, { children: { backend } }),
    },
    zstd: { wrap: zstdStore },
  },
  chunks: {
    'chunks in memory, listed in': { wrap: async (backend) => deduplicated(backend, await memoryStore()) },
    'lists in memory, chunks in': {
      wrap: async (backend) => deduplicated(await memoryStore(), backend),
      isBeside: true,
    },
  },
  tiers: {
    'memory in front of': { wrap: async (backend) => tiers(await memoryStore(), backend) },
    'memory that only copies in front of': { wrap: async (backend) => tiers(await memoryStore(), backend, 'get') },
    'nothing behind': { wrap: async (backend) => tiers(backend, await buildStore(noop, {})) },
  },
  partitions: {
    'a shard of two, memory and': {
      wrap: async (backend) => sharded([await memoryStore(), backend], [1, 3]),
      isBeside: true,
    },
    'memory for small blobs, else': {
      wrap: async (backend) => partitioned(await memoryStore(), backend),
      isBeside: true,
    },
  },
  passing: {
    'existence_cache over': { wrap: (backend) => existenceCached(backend) },
    'cache_metrics of': {
      wrap: (backend) => buildStore(cacheMetrics, { backend: given, cache_type: 'cas' }, { children: { backend } }),
    },
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Wrapper>>>>

export const wrappers: Readonly<Record<string, Wrapper>> = Object.assign({}, ...Object.values(groups))

/** Views of a store, which are never a backend. */
const VIEWS = ['CAS', 'AC', 'an isolated instance over']

/** They change no keys; two pairs are enough. */
const TOLD_BY_TWO = ['CAS', 'AC']

/** Below these, stored bytes do not match the digest. */
export const CHANGING = ['lz4', 'zstd', 'chunks in memory, listed in']

const suiteOf = (name: string, checksUploads: boolean, open: (t: Test) => Promise<OpenStore>): void =>
  storeSuite(t, { name, open, isPersistent: false, checksUploads, runs: 3 })

/** The suite over each wrapper of a group, on files and on every wrapper over memory. */
export const pairsUnder = (group: keyof typeof groups): void => {
  for (const [outer, wrapper] of Object.entries(groups[group])) pairs(outer, wrapper)
}

const pairs = (outer: string, { wrap, checksUploads = false, isBeside = false }: Wrapper): void => {
  suiteOf(`${outer} filesystem`, checksUploads, async (t) => {
    const { store, close, tempFiles } = await openFilesystem(t.testdir())
    return { store: await wrap(store), close, leftovers: tempFiles }
  })
  for (const [inner, below] of Object.entries(wrappers)) {
    const isView = VIEWS.includes(inner) || (TOLD_BY_TWO.includes(outer) && inner !== 'memory in front of')
    const cannotCheck = isBeside || CHANGING.includes(outer)
    if (isView || (below.checksUploads === true && cannotCheck)) continue
    suiteOf(`${outer} ${inner} memory`, checksUploads || below.checksUploads === true, async () => ({
      store: await wrap(await below.wrap(await memoryStore())),
      close: async () => {},
    }))
  }
}
