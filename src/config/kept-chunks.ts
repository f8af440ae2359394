import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { Config, FilesystemOptions, StoreConfig } from './config.js'
import type { Findings } from './findings.js'
import { CHUNK_DEFAULTS, DEDUP_DEFAULTS } from './lint/chunking.js'
import type { Origins } from './schema/origins.js'
import { withNested } from './store-path.js'

type Parts = Omit<Config, 'warnings'>

/** Where the default configuration of 0.2.0 had the lists of chunks, and files for workers, beside `content`. */
const LISTS = 'lists'
const WHOLE = 'whole'

const LIST_LIMITS = { max_bytes: 100e6, evict_bytes: 5e6 }
/** Of the limit of the store, beside it. */
const WHOLE_SHARE = 4

/**
 * The default configuration of 0.2.0 kept larger blobs as chunks, with their lists in a folder beside `content_path`. Where a
 * plain store has such a folder it stays the `dedup` store that it was: a plain one would not find those blobs, and they may
 * be more than its limit allows once they are whole.
 */
export const keepChunks = (config: Parts, origins: Origins, findings: Findings): Parts => {
  const nested = [...config.stores.values()].flatMap(withNested)
  const named = new Set(
    nested.flatMap((store) =>
      store.kind === 'filesystem' ? [resolve(store.options.content_path), resolve(store.options.temp_path)] : [],
    ),
  )
  const added: string[] = []
  const stores = [...config.stores].map(([name, store]): [string, StoreConfig] => {
    const files = filesOf(store)
    if (files === undefined) return [name, store]
    const folders = [...foldersOf(files, LISTS), ...foldersOf(files, WHOLE)].map((path) => resolve(path))
    const [lists = ''] = folders
    const isOurs = basename(resolve(files.content_path)) === 'content' && !folders.some((path) => named.has(path))
    if (!isOurs || !existsSync(lists)) return [name, store]
    added.push(...folders)
    const path = dirname(lists)
    const whole = resolve(path, '..', WHOLE)
    findings.warning(
      origins.of(store.options),
      `${path} has the lists of larger blobs that an older release kept as chunks: this store stays a dedup store, so that none is lost`,
      {
        found: store.kind,
        expected: `this, or plain blobs: stop, delete ${path} and ${whole}, start; clients then upload blobs above 2 MiB again`,
      },
    )
    return [name, asDedup(files)]
  })
  if (added.length === 0) return config
  return { ...config, stores: new Map(stores), paths: [...new Set([...config.paths, ...added])] }
}

/** Of a store of blobs without chunks, as shipped configurations have it. */
const filesOf = (store: StoreConfig): FilesystemOptions | undefined => {
  if (store.kind === 'filesystem') return store.options
  if (store.kind !== 'fast_slow' || store.options.slow.kind !== 'noop') return undefined
  const { fast } = store.options
  return fast.kind === 'filesystem' ? fast.options : undefined
}

const foldersOf = (files: FilesystemOptions, name: string): readonly [content: string, temp: string] => {
  const folder = `${dirname(files.content_path)}/${name}`
  return [`${folder}/content`, `${folder}/temp`]
}

const asDedup = (files: FilesystemOptions): StoreConfig => {
  const beside = (name: string, limits: Partial<FilesystemOptions['eviction_policy']>): StoreConfig => {
    const [content_path, temp_path] = foldersOf(files, name)
    const eviction_policy = { ...files.eviction_policy, max_count: 0, ...limits }
    return { kind: 'filesystem', options: { ...files, content_path, temp_path, eviction_policy } }
  }
  const wholeBytes = Math.floor(files.eviction_policy.max_bytes / WHOLE_SHARE)
  return {
    kind: 'dedup',
    options: {
      ...CHUNK_DEFAULTS,
      ...DEDUP_DEFAULTS,
      chunking_function: 'fast_cdc_2020',
      max_concurrent_fetch_per_get: 2,
      content_store: { kind: 'filesystem', options: files },
      index_store: beside(LISTS, LIST_LIMITS),
      whole_store: beside(WHOLE, { max_bytes: wholeBytes, evict_bytes: 0 }),
    },
  }
}
