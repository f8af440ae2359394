import { entryFor } from '../../base/catch-all.js'
import type { Config, SchedulerConfig, ServerConfig, StoreConfig, StoreOptions } from '../config.js'
import type { Path } from '../read/path.js'
import { nestedStores, withNested } from '../store-path.js'
import type { LintContext } from './context.js'
import { scopesOf } from './scopes.js'

/**
 * What a store has to keep in its place: blobs under their digests, results under those of actions, or also records under keys
 * of the server's own: entries of HTTP caches, and what is known of assets.
 */
type Role = 'blobs' | 'results' | 'records'

interface Place {
  readonly role: Role
  readonly store: StoreConfig
  readonly path: Path
}

/** A `grpc` store is one service of another server, so it fits into places of one role only. */
export const lintRoles = (context: LintContext): void => {
  const { config, findings } = context
  const reported = new Set<StoreOptions['grpc']>()
  for (const { role, store, path } of placesOf(context)) {
    if (path.length === 0 || findings.isWrong(path)) continue
    for (const options of remoteBelow(store, config.stores)) {
      const problem = problemOf(role, options)
      if (problem === undefined || reported.has(options)) continue
      reported.add(options)
      findings.error(path, problem.message, { found: problem.found, expected: problem.expected })
    }
  }
}

const problemOf = (role: Role, { store_type, record_secret }: StoreOptions['grpc']) => {
  const found = `a grpc store with store_type ${JSON.stringify(store_type)}`
  if (role === 'blobs')
    return store_type === 'cas'
      ? undefined
      : {
          message: 'this is the place of blobs, and another server takes only results there',
          found,
          expected: 'store_type "cas"',
        }
  if (store_type === 'cas') {
    const what = role === 'results' ? 'results' : 'results and of records under keys'
    const message = `this is the place of ${what}, and the CAS of another server refuses what does not match its digest`
    return { message, found, expected: role === 'results' ? 'store_type "ac"' : 'store_type "ac" with record_secret' }
  }
  if (role === 'results' || record_secret !== undefined) return undefined
  const message =
    'clients of the other server could forge the entries of HTTP caches, the assets and the scopes that are kept there'
  return {
    message,
    found: `${found} and no record_secret`,
    expected: 'record_secret, the same in all servers that share it',
  }
}

function* placesOf(context: LintContext): Generator<Place> {
  const { config, originOf } = context
  function* at(role: Role, name: string | undefined, options: object, key: string): Generator<Place> {
    const store = name === undefined ? undefined : config.stores.get(name)
    if (store !== undefined) yield { role, store, path: [...originOf(options), key] }
  }
  const noted = notedInstances(config)
  const hasScopes = scopesOf(config).length > 0
  for (const { services } of config.servers) {
    for (const options of services.cas.values()) yield* at('blobs', options.cas_store, options, 'cas_store')
    for (const [instance, options] of services.ac)
      yield* at(hasScopes || noted(instance) ? 'records' : 'results', options.ac_store, options, 'ac_store')
    for (const options of services.execution.values()) yield* at('blobs', options.cas_store, options, 'cas_store')
    for (const options of services.fetch.values()) yield* at('records', options.fetch_store, options, 'fetch_store')
    for (const options of services.push.values()) yield* at('records', options.push_store, options, 'push_store')
  }
  for (const { options } of config.workers) {
    const { upload_action_result: uploads } = options
    yield* at('blobs', options.cas_fast_slow_store, options, 'cas_fast_slow_store')
    yield* at('results', uploads.ac_store, uploads, 'ac_store')
    yield* at('blobs', uploads.historical_results_store, uploads, 'historical_results_store')
  }
  for (const scheduler of config.schedulers.values())
    for (const options of lookUpsOf(scheduler)) yield* at('results', options.ac_store, options, 'ac_store')
  for (const store of [...config.stores.values()].flatMap(withNested)) {
    if (store.kind !== 'completeness_checking') continue
    const { backend, cas_store } = store.options
    yield { role: 'results', store: backend, path: [...originOf(store.options), 'backend'] }
    yield { role: 'blobs', store: cas_store, path: [...originOf(store.options), 'cas_store'] }
  }
}

const lookUpsOf = (scheduler: SchedulerConfig): readonly { readonly ac_store: string }[] => {
  if (scheduler.kind === 'simple' || scheduler.kind === 'grpc') return []
  const below = lookUpsOf(scheduler.options.scheduler)
  return scheduler.kind === 'cache_lookup' ? [scheduler.options, ...below] : below
}

/** Which instances have HTTP caches. Bazel over HTTP may name any instance of its server. */
const notedInstances = ({ servers }: Pick<Config, 'servers'>): ((instance: string) => boolean) => {
  const isNoted = ({ services }: ServerConfig, instance: string): boolean =>
    [...services.http_cache.values()].some(({ kind, instance_name, overlay_instance_name }) => {
      if (kind === 'bazel') return entryFor(services.ac, instance) !== undefined
      return instance_name === instance || overlay_instance_name === instance
    })
  const known = new Map<string, boolean>()
  return (instance) => {
    const noted = known.get(instance) ?? servers.some((server) => isNoted(server, instance))
    known.set(instance, noted)
    return noted
  }
}

/** The `grpc` stores that have to keep what a store gets. Lists of chunks and blobs beside a result go their own ways. */
const remoteBelow = (
  store: StoreConfig,
  stores: Config['stores'],
  seen = new Set<string>(),
): readonly StoreOptions['grpc'][] => {
  if (store.kind === 'grpc') return [store.options]
  if (store.kind === 'ref_store') {
    const { name } = store.options
    const named = seen.has(name) ? undefined : stores.get(name)
    return named === undefined ? [] : remoteBelow(named, stores, seen.add(name))
  }
  // What is below these has other bytes, or is another place.
  if (store.kind === 'dedup' || store.kind === 'compression') return []
  const below = nestedStores(store).filter(([key]) => store.kind !== 'completeness_checking' || key === 'backend')
  return below.flatMap(([, nested]) => remoteBelow(nested, stores, seen))
}
