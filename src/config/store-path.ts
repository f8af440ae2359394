import type { StoreConfig } from './config.js'

/**
 * The path of a blob through a store, outermost kind first: `verify > fast_slow(fast: memory, slow:
 * filesystem)`. References are resolved; a second one to a store of several parts is a name. `stores` must contain every name and no cycle.
 */
export const storePath = (
  store: StoreConfig,
  stores: ReadonlyMap<string, StoreConfig>,
  told = new Set<string>(),
): string => {
  if (store.kind === 'ref_store') {
    const { name } = store.options
    const named = stores.get(name)
    if (named === undefined) return `ref_store ${name}`
    if (told.has(name) && nestedStores(named).length > 0) return `${name} as before`
    told.add(name)
    return storePath(named, stores, told)
  }
  const below = nestedStores(store).map(([key, nested]) => [key, storePath(nested, stores, told)] as const)
  const [only] = below
  if (only === undefined) return store.kind
  if (below.length === 1) return `${store.kind} > ${only[1]}`
  const acknowledges = store.kind === 'fast_slow' && store.options.acknowledge === 'fast'
  const named = (key: string): string => (acknowledges && key === 'fast' ? 'fast, which acknowledges' : key)
  return `${store.kind}(${below.map(([key, path]) => `${named(key)}: ${path}`).join(', ')})`
}

/** The stores nested directly in a store, by key; in a list by index. */
export const nestedStores = ({ options }: StoreConfig): readonly (readonly [key: string, store: StoreConfig])[] =>
  Object.entries(options).flatMap(([key, value]) => storesIn(value, key))

/** A store and everything nested in it. References are not followed. */
export const withNested = (store: StoreConfig): readonly StoreConfig[] => [
  store,
  ...nestedStores(store).flatMap(([, nested]) => withNested(nested)),
]

/**
 * The most bytes that a store keeps, by the limits of what is nested in it; infinite if it has none. Of a `fast_slow` the
 * larger tier counts.
 */
export const limitBytes = (
  store: StoreConfig,
  stores: ReadonlyMap<string, StoreConfig>,
  known = new Map<string, number>(),
): number => {
  if (store.kind === 'noop') return 0
  if (store.kind === 'filesystem' || store.kind === 'memory')
    return store.options.eviction_policy.max_bytes || Number.POSITIVE_INFINITY
  if (store.kind === 'ref_store') {
    const { name } = store.options
    const named = stores.get(name)
    const bytes = known.get(name) ?? (named === undefined ? Number.POSITIVE_INFINITY : limitBytes(named, stores, known))
    known.set(name, bytes)
    return bytes
  }
  if (store.kind === 'dedup') return limitBytes(store.options.content_store, stores, known)
  const limits = nestedStores(store).map(([, nested]) => limitBytes(nested, stores, known))
  if (store.kind === 'fast_slow') return Math.max(...limits)
  if (store.kind === 'shard' || store.kind === 'size_partitioning') return limits.reduce((sum, bytes) => sum + bytes, 0)
  return limits[0] ?? Number.POSITIVE_INFINITY
}

const storesIn = (value: unknown, key: string): readonly (readonly [string, StoreConfig])[] => {
  if (isStore(value)) return [[key, value]]
  if (Array.isArray(value)) {
    return value.flatMap((item, index) =>
      storesIn(item, String(index)).map(([, store]) => [String(index), store] as const),
    )
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([inner, item]) => storesIn(item, inner))
    : []
}

const isStore = (value: unknown): value is StoreConfig =>
  typeof value === 'object' && value !== null && 'kind' in value && 'options' in value
