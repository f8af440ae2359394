import { REMOTES, type Remote } from './remotes.js'

/** The instances of a server that is killed: one for each kind of store that lasts, with limits so small that they evict all the time. */
const MIB = 1024 * 1024

export interface World {
  readonly name: string
  /** What was acknowledged last, up to so many bytes, must be there: no store of the instance evicts that. */
  readonly sureBytes: number
  /**
   * Whether a blob may be uploaded again: not where a store may say for some time that it is there, nor where it may still be
   * among the next to be evicted, as in Redis, which chooses them from samples taken before.
   */
  readonly uploadsAgain: boolean
  readonly evicts: boolean
}

export type Store = Readonly<Record<string, object>>

const ROOM_BYTES = 4 * MIB
const SURE_BYTES = 0.8 * MIB
const RESULTS_BYTES = 256 * 1024

/** Nothing is promised, so the least recently used go first, whatever their age. */
const filesystem =
  (folder: string) =>
  (name: string, maxBytes = ROOM_BYTES, options: object = {}): Store => ({
    filesystem: {
      content_path: `${folder}/${name}/content`,
      temp_path: `${folder}/${name}/temp`,
      eviction_policy: { max_bytes: maxBytes, evict_bytes: Math.floor(maxBytes / 20) },
      retention: 0,
      ...options,
    },
  })

/** The CAS of each instance. */
const casOf = (folder: string, remotes: ReadonlyMap<string, Remote>): Readonly<Record<string, Store>> => {
  const files = filesystem(folder)
  return {
    files: files('files'),
    synced: files('synced', ROOM_BYTES, { durability: 'power_loss' }),
    each_a_file: files('each', ROOM_BYTES, { small_blob_size: 0 }),
    dedup: {
      dedup: {
        index_store: files('lists', MIB),
        content_store: files('chunks'),
        ...{ chunking_function: 'fast_cdc_2020', avg_chunk_size_bytes: 8192 },
      },
    },
    zstd: { compression: { compression_algorithm: { zstd: {} }, backend: files('zstd') } },
    lz4: { compression: { compression_algorithm: { lz4: {} }, backend: files('lz4') } },
    before_memory: {
      fast_slow: { fast: { memory: { eviction_policy: { max_bytes: 1.5 * MIB }, retention: 0 } }, slow: files('slow') },
    },
    tiers: { fast_slow: { fast: files('near', 1.5 * MIB), slow: files('far') } },
    behind: { fast_slow: { fast: files('quick'), slow: files('late'), acknowledge: 'fast' } },
    sizes: {
      size_partitioning: { size: 50_000, lower_store: files('lower'), upper_store: files('upper') },
    },
    shards: { shard: { stores: [{ store: files('one') }, { store: files('two') }] } },
    known: { existence_cache: { backend: files('known'), eviction_policy: { max_seconds: 5, max_count: 1000 } } },
    verified: { verify: { backend: files('verified'), verify_size: true, verify_hash: true } },
    ...Object.fromEntries([...remotes].map(([name, of]) => [name, of('cas-')])),
  }
}

export const worldsOf = (remotes: ReadonlyMap<string, Remote>): World[] =>
  Object.keys(casOf('', remotes)).map((name) => ({
    name,
    sureBytes: SURE_BYTES,
    uploadsAgain: name !== 'known' && name !== 'redis',
    evicts: REMOTES[name]?.evicts ?? true,
  }))

/** The folders of the stores, with the most bytes that each may have. */
export const eachFolder = (config: unknown): { readonly path: string; readonly maxBytes: number }[] => {
  if (typeof config !== 'object' || config === null) return []
  const found = Object.entries(config).flatMap(([key, value]) =>
    key === 'filesystem'
      ? [{ path: value.content_path as string, maxBytes: value.eviction_policy.max_bytes as number }]
      : eachFolder(value),
  )
  return found
}

/** Caches of build tools over HTTP that take any file. */
export const FILE_CACHES = ['opaque', 'webdav', 'gradle'] as const

/** Results are checked for completeness by a store where the CAS is that of `files`, elsewhere by the service. */
export const configOf = (folder: string, threads: number, remotes: ReadonlyMap<string, Remote>): object => {
  const cas = casOf(folder, remotes)
  const names = Object.keys(cas)
  const results = (name: string): Store => filesystem(folder)(`${name}-results`, RESULTS_BYTES)
  const acOf = (name: string): Store => {
    const remote = remotes.get(name)
    if (remote !== undefined) return remote('ac-')
    if (name !== 'files') return results(name)
    return { completeness_checking: { backend: results(name), cas_store: { ref_store: { name: 'files' } } } }
  }
  const each = <T>(of: (name: string) => T): T[] => names.map(of)
  return {
    ...(threads > 0 && { global: { threads } }),
    stores: Object.fromEntries(
      names.flatMap((name) => [
        [name, cas[name]],
        [`${name}-results`, acOf(name)],
      ]),
    ),
    servers: [
      {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: each((name) => ({ instance_name: name, cas_store: name })),
          bytestream: each((name) => ({ instance_name: name, cas_store: name })),
          ac: each((name) => ({ instance_name: name, ac_store: `${name}-results` })),
          push: [{ instance_name: 'files', push_store: 'files-results' }],
          fetch: [{ instance_name: 'files', fetch_store: 'files-results' }],
          http_cache: Object.fromEntries(
            ['bazel', ...FILE_CACHES].map((kind) => [`/${kind}`, { kind, instance_name: 'shards' }]),
          ),
          build_events: { path: `${folder}/builds`, max_invocations: 30, max_bytes: '2mb' },
        },
      },
    ],
  }
}
