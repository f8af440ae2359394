import type { Config, GlobalOptions, ServerConfig, StoreConfig } from '../config/config.js'
import type { MetricChanges } from '../metrics/relayed.js'
import type { ActionOutcome } from '../rpc/request-records.js'

/** What service threads serve themselves: calls that only read, of these servers, from these stores. */
export interface ThreadReads {
  /** The paths of the nodes of each named store, from the outermost to the file store that is read. */
  readonly stores: ReadonlyMap<string, readonly string[]>
  readonly servers: readonly ServerConfig[]
}

/**
 * Everything else is carried to the owner: access control, quotas and isolation of instances, chunk lists, HTTP caches, series
 * for each instance, and all stores but `filesystem`, alone or in front of `noop`, have state that is in one place.
 */
export const threadReadsOf = (config: Config, isTraced: boolean): ThreadReads => {
  const { global, instances, security, servers } = config
  const named = [...config.stores.keys()].map((name) => [name, pathsOf(name, config.stores)] as const)
  const stores = new Map(named.flatMap(([name, paths]) => (paths === undefined ? [] : [[name, paths] as const])))
  const isPlain = security === undefined && instances.size === 0 && !global.metrics_instance_names && !isTraced
  const hasHttpCaches = servers.some(({ services }) => services.http_cache.size > 0)
  if (!isPlain || hasHttpCaches) return { stores, servers: [] }
  const isRead = ({ services: { cas, ac, bytestream } }: ServerConfig): boolean =>
    [...cas.values(), ...bytestream.values()].every(({ cas_store }) => stores.has(cas_store)) &&
    [...ac.values()].every(({ ac_store }) => stores.has(ac_store)) &&
    [...cas.values()].every(({ experimental_chunking }) => experimental_chunking === undefined)
  return { stores, servers: servers.filter(isRead) }
}

const pathsOf = (name: string, stores: ReadonlyMap<string, StoreConfig>): readonly string[] | undefined => {
  const config = stores.get(name)
  if (config?.kind === 'filesystem') return [name]
  if (config?.kind === 'ref_store') return pathsOf(config.options.name, stores)
  if (config?.kind !== 'fast_slow') return undefined
  const { fast, slow } = config.options
  return fast.kind === 'filesystem' && slow.kind === 'noop' ? [name, `${name}/fast`] : undefined
}

/** Tells a thread what it serves itself. */
export interface ReadsMessage {
  readonly kind: 'reads'
  readonly global: GlobalOptions
  readonly stores: ThreadReads['stores']
  readonly servers: readonly { readonly number: number; readonly server: ServerConfig }[]
  /** What the file stores share, by path. */
  readonly shares: ReadonlyMap<string, unknown>
}

/** The numbers by which the owner knows builds. */
export interface NumbersMessage {
  readonly kind: 'numbers'
  readonly numbers: readonly (readonly [invocation: string, number: number])[]
}

/** The answer to `DamagedMessage`. */
export interface DroppedMessage {
  readonly kind: 'dropped'
  readonly id: number
  readonly failure: string | undefined
}

/** A file of records of a store is deleted. */
export interface RetiredMessage {
  readonly kind: 'retired'
  readonly path: string
  readonly number: number
}

export type ToReadingThread = ReadsMessage | NumbersMessage | DroppedMessage | RetiredMessage

/** What became of blobs and requests in a thread, all of one turn. */
export interface ReportMessage {
  readonly kind: 'report'
  readonly uses: readonly (readonly [path: string, slots: Int32Array])[]
  readonly claims: readonly (readonly [path: string, invocation: string, keepForMs: number, slots: Int32Array])[]
  /** Builds with calls. */
  readonly touched: readonly string[]
  readonly records: readonly (readonly [instance: string, header: string | Uint8Array | undefined, ActionOutcome])[]
}

export interface DamagedMessage {
  readonly kind: 'damaged'
  readonly id: number
  readonly path: string
  readonly hash: string
  readonly sizeBytes: number
  readonly digestFunction: number
  readonly instanceName: string | undefined
  readonly slot: number
  readonly location: number
}

export interface MetricsMessage {
  readonly kind: 'metrics'
  readonly changes: MetricChanges | undefined
  readonly extensionCount: number
}

export type FromReadingThread = ReportMessage | DamagedMessage | MetricsMessage
