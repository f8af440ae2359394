import { resolve, sep } from 'node:path'
import type { EvictionPolicy, StoreConfig, StoreOptions } from '../config.js'
import { withNested } from '../store-path.js'
import { lintDedupSizes } from './chunking.js'
import { type LintContext, storeBehind } from './context.js'
import { lintObjectStore, lintOntapBackend } from './object-stores.js'
import { lintGrpcStore, lintMongo, lintRedis } from './remote-stores.js'
import { lintBackends } from './shared-backends.js'
import { lintQueues, lintTiers, SHARED_KINDS } from './tiers.js'

/** Reports stores that cannot do their task. */
export const lintStores = (context: LintContext): void => {
  const all = [...context.config.stores.values()]
    .flatMap(withNested)
    .filter((store) => context.originOf(store.options).length > 0)
  for (const store of all) lintStore(store, context)
  lintDirectories(all, context)
  lintResultAges(context)
  lintQueues(all, context)
  lintBackends(all, context)
}

const lintStore = (store: StoreConfig, context: LintContext): void => {
  if (store.kind === 'memory' || store.kind === 'filesystem') lintEviction(store.kind, store.options, context)
  else if (store.kind === 'fast_slow') lintTiers(store.options, context)
  else if (store.kind === 'compression') lintCompression(store.options, context)
  else if (store.kind === 'verify') lintVerify(store.options, context)
  else if (store.kind === 'dedup') lintDedup(store.options, context)
  else if (store.kind === 'experimental_cloud_object_store') lintObjectStore(store.options, context)
  else if (store.kind === 'redis_store') lintRedis(store.options, context)
  else if (store.kind === 'experimental_mongo') lintMongo(store.options, context)
  else if (store.kind === 'grpc') lintGrpcStore(store.options, context)
  else if (store.kind === 'ontap_s3_existence_cache') lintOntapBackend(store.options, context)
}

const lintVerify = (options: StoreOptions['verify'], { findings, originOf }: LintContext): void => {
  if (options.verify_hash || options.verify_size) return
  findings.warning(originOf(options), 'this checks nothing', { expected: 'verify_hash or verify_size to be true' })
}

/** A blob of one chunk and its list of chunks have the same digest, so they need different stores. */
const lintDedup = (options: StoreOptions['dedup'], context: LintContext): void => {
  const { config, findings, originOf } = context
  lintDedupSizes(options, context)
  const { index_store: index, content_store: content, min_size, normal_size, max_size } = options
  if (min_size > normal_size || normal_size > max_size) {
    findings.error(originOf(options), 'no chunk can have these sizes', {
      found: `min_size ${min_size}, normal_size ${normal_size}, max_size ${max_size}`,
      expected: 'min_size <= normal_size <= max_size',
    })
  }
  const behind = (store: StoreConfig) =>
    store.kind === 'ref_store' ? storeBehind(config.stores, store.options.name) : store
  if (isCasOfAnother(behind(index))) {
    findings.error(
      [...originOf(options), 'index_store'],
      'a CAS rejects lists of chunks, because they do not match their digests',
      {
        found: 'a grpc store of type cas',
        expected: 'a store that takes any bytes under a digest',
      },
    )
  }
  if (behind(index) === undefined || behind(index) !== behind(content)) return
  findings.error(
    [...originOf(options), 'content_store'],
    'chunks and their lists have one store, and overwrite each other',
    {
      found: 'the store of index_store',
      expected: 'another store',
    },
  )
}

const lintEviction = (
  kind: 'memory' | 'filesystem',
  options: { readonly eviction_policy: EvictionPolicy },
  { findings, originOf, isWhole }: LintContext,
): void => {
  const { max_bytes, evict_bytes, max_count } = options.eviction_policy
  const path = originOf(options)
  if (isWhole && max_bytes === 0 && max_count === 0) {
    const end = kind === 'memory' ? 'the memory of the process' : 'the disk'
    findings.warning(path, `nothing limits this store: it grows until ${end} is full`, {
      expected: 'eviction_policy.max_bytes',
    })
  }
  if (max_bytes > 0 && evict_bytes >= max_bytes) {
    findings.warning(
      [...path, 'eviction_policy', 'evict_bytes'],
      'evict_bytes is not below max_bytes: every eviction empties the store',
      {
        found: `${evict_bytes} bytes of ${max_bytes}`,
        expected: 'a part of max_bytes',
      },
    )
  }
}

/** An action cache whose slow tier other servers may write to has to say for how long the fast tier is believed. */
const lintResultAges = ({ config, findings, originOf, isWritten }: LintContext): void => {
  const behind = (store: StoreConfig) =>
    store.kind === 'ref_store' ? storeBehind(config.stores, store.options.name) : store
  const caches = config.servers.flatMap(({ services: { ac, execution } }) => [
    ...(ac?.values() ?? []),
    ...(execution?.values() ?? []),
  ])
  const names = new Set(caches.flatMap(({ ac_store }) => ac_store ?? []))
  for (const name of names) {
    const cache = storeBehind(config.stores, name)
    for (const store of cache === undefined ? [] : withNested(cache)) {
      if (store.kind !== 'fast_slow') continue
      const slow = behind(store.options.slow)
      const shared = slow && withNested(slow).find(({ kind }) => SHARED_KINDS.includes(kind))
      const path = originOf(store.options)
      if (shared === undefined || isWritten([...path, 'action_result_max_age_s'])) continue
      const message = 'results that other servers replace in the slow store are never noticed'
      findings.warning(path, message, {
        found: `fast_slow before ${shared.kind}, for an action cache`,
        expected: 'action_result_max_age_s: a time, or 0 if no other server writes there',
      })
    }
  }
}

const lintCompression = (options: StoreOptions['compression'], { config, findings, originOf }: LintContext): void => {
  const { backend, compression_algorithm: algorithm } = options
  if ('lz4' in algorithm) {
    const { block_size, max_decode_block_size } = algorithm.lz4
    if (max_decode_block_size > 0 && max_decode_block_size < block_size) {
      findings.error([...originOf(algorithm.lz4), 'max_decode_block_size'], UNREADABLE_BLOCKS, {
        found: String(max_decode_block_size),
        expected: `at least block_size, ${block_size}`,
      })
    }
  }
  const behind = backend.kind === 'ref_store' ? storeBehind(config.stores, backend.options.name) : backend
  if (isCasOfAnother(behind)) {
    findings.error(
      [...originOf(options), 'backend'],
      'a CAS rejects compressed bytes, because they do not match their digests',
      {
        found: 'compression over a grpc store of type cas',
        expected:
          'a store that takes any bytes under a digest; experimental_remote_cache_compression compresses on the wire',
      },
    )
  }
  if (behind?.kind !== 'verify') return
  findings.error(
    [...originOf(options), 'backend'],
    'verify below compression sees compressed bytes, which no digest fits',
    {
      found: 'compression over verify',
      expected: 'verify over compression',
    },
  )
}

/** The CAS of another server, which rejects content that does not match its digest. */
const isCasOfAnother = (store: StoreConfig | undefined): boolean =>
  store?.kind === 'grpc' && store.options.store_type === 'cas'

const UNREADABLE_BLOCKS = 'blobs written with block_size could not be read'

interface Directory {
  readonly role: 'content_path' | 'temp_path'
  readonly path: string
  readonly options: StoreOptions['filesystem']
}

const lintDirectories = (stores: readonly StoreConfig[], { findings, originOf }: LintContext): void => {
  const directories: Directory[] = []
  for (const store of stores) {
    if (store.kind !== 'filesystem') continue
    for (const role of ['content_path', 'temp_path'] as const) {
      const mine: Directory = { role, path: resolve(store.options[role]), options: store.options }
      const other = directories.find((one) => collide(mine, one))
      if (other) {
        findings.error(
          [...originOf(store.options), role],
          `${role} is where ${other.options === store.options ? 'the same' : 'another'} store has its ${other.role}: each would delete files of the other and not know of its own`,
          {
            found: JSON.stringify(store.options[role]),
            expected: 'a directory of its own; to use one store in two places, name it and write ref_store',
          },
        )
      }
      directories.push(mine)
    }
  }
}

const collide = (a: Directory, b: Directory): boolean => {
  if (a.path === b.path) return a.role === 'content_path' || b.role === 'content_path'
  return (
    a.options !== b.options &&
    a.role === b.role &&
    a.role === 'content_path' &&
    (isWithin(a.path, b.path) || isWithin(b.path, a.path))
  )
}

export const isWithin = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)
