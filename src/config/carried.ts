import { entryFor } from '../base/catch-all.js'
import type { Config, ServerConfig } from './config.js'
import { parentsIn } from './parents.js'

/** How service threads use a named store; see `ThreadUse` of src/store/contract. */
export type Use = { readonly isOneEach: true } | { readonly isOneEach: false; readonly because: string }

/** Why a server without blobs and results has no use for threads. */
const NO_CALLS = 'it has no such calls'

/**
 * Why the connections of a server stay with the main thread; undefined if service threads have those of gRPC, and serve calls for
 * blobs and results. To carry each call between threads costs several times the call. What is named here has state in one
 * place. HTTP caches have none: file stores find a blob by its hash, so that gRPC need not note sizes for them. `uses` by the name
 * of a store.
 */
export const whyOwned = (
  { services: { cas, ac, bytestream } }: ServerConfig,
  { global, instances, servers }: Pick<Config, 'global' | 'instances' | 'servers'>,
  uses: ReadonlyMap<string, Use>,
): string | undefined => {
  const isServed = (name: string): boolean =>
    [cas, ac, bytestream].some((service) => entryFor<unknown>(service, name) !== undefined)
  const limited = [...instances].find(([name, { max_stored_bytes: bytes }]) => bytes !== undefined && isServed(name))
  if (limited !== undefined) return `instance ${JSON.stringify(limited[0])}: max_stored_bytes is counted in one place`
  if (global.metrics_instance_names) return '`metrics_instance_names` counts each instance in one place'
  const stores = [
    ...[...cas.values(), ...bytestream.values()].map(({ cas_store }) => cas_store),
    ...[...ac.values()].map(({ ac_store }) => ac_store),
  ]
  if (stores.length === 0) return NO_CALLS
  const parentsOf = parentsIn(servers, instances)
  for (const name of instances.keys())
    if (entryFor<unknown>(ac, name) !== undefined) stores.push(...parentsOf(name).map(({ acStore }) => acStore))
  for (const name of stores) {
    const use = uses.get(name)
    if (use?.isOneEach !== true) return `store ${name}: ${use?.because ?? 'it does not exist'}`
  }
  return undefined
}

/** The servers with calls for blobs or results that threads would not serve, with the reasons. */
export const ownedServers = (
  config: Pick<Config, 'global' | 'instances' | 'servers'>,
  uses: ReadonlyMap<string, Use>,
): readonly { readonly server: string; readonly why: string }[] =>
  config.servers.flatMap((server) => {
    const why = whyOwned(server, config, uses)
    return why === undefined || why === NO_CALLS ? [] : [{ server: server.name, why }]
  })
