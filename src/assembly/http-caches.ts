import { entryFor } from '../base/catch-all.js'
import { LruCache } from '../base/lru-cache.js'
import type { Store } from '../blobs/store.js'
import type { Config, HttpCacheServiceOptions, ServerConfig } from '../config/config.js'
import { HttpError } from '../http/answer.js'
import { type Route, treeRoute } from '../http/request.js'
import type { Scope } from '../rpc/scope.js'
import { CACHE_ANSWERS } from '../service/http-cache/answers.js'
import type { CacheStores } from '../service/http-cache/entries.js'
import { HashSizes } from '../service/http-cache/hash-sizes.js'
import { cacheKinds } from '../service/http-cache/kinds/kinds.js'
import { type CacheMeters, UNCOUNTED_CACHE } from '../service/http-cache/meter.js'
import { Mount } from '../service/http-cache/mount.js'
import type { ResultCache } from '../store/scoped/result-cache.js'
import { cachesOf, type Parts } from './services.js'

/** Clients choose the names of instances that a catch-all entry serves. */
const MAX_INSTANCES = 1000

/** Refuses requests while the stores open. Nx and sccache would take anything but a miss for an error. */
export const startingHttpCaches = ({ services }: ServerConfig): readonly Route[] =>
  [...services.http_cache.values()].map(({ path, kind }) => {
    const handler = async (): Promise<never> => {
      throw new HttpError(503, 'the server is starting', { 'retry-after': '1' })
    }
    return cacheRoute(kind, treeRoute(path, handler, 'open'))
  })

const cacheRoute = (kind: HttpCacheServiceOptions['kind'], route: Route): Route => {
  const { claims } = cacheKinds[kind]
  return { ...route, answers: CACHE_ANSWERS, ...(claims && { claims }) }
}

/** The routes of a server's HTTP caches. */
export const httpCaches = (server: ServerConfig, parts: Parts, meters: CacheMeters | undefined): readonly Route[] => {
  const caches = cachesOf(server, parts)
  // One for each instance, so that sizes that one cache learns are known to the others.
  const known = new Map<string, CacheStores>()
  const storesOf = (instanceName: string): CacheStores | undefined => {
    const before = known.get(instanceName)
    if (before !== undefined) return before
    const { results, cas, isReadOnly = false } = entryFor(caches.ac, instanceName) ?? {}
    if (results === undefined || cas === undefined) return undefined
    const maxBlobBytes = parts.maxBlobBytes(instanceName)
    const hasZstd = entryFor(caches.cas, instanceName)?.compressors.some(({ name }) => name === 'ZSTD') === true
    const { readsOlder } = parts
    const { cas: casServices, ac: acServices } = server.services
    const names = [entryFor(casServices, instanceName)?.cas_store, entryFor(acServices, instanceName)?.ac_store]
    const kept = () => parts.keptBy(names.filter((name) => name !== undefined))
    const parents = parts
      .parentsOf(instanceName)
      .map((parent) => storesOf(parent.instanceName))
      .filter((parent) => parent !== undefined)
    const ofAll = { instanceName, cas, isReadOnly, maxBlobBytes, kept, hasZstd }
    const stores = new LayeredCacheStores({ ...ofAll, results, readsOlder, parents })
    if (known.size < MAX_INSTANCES) known.set(instanceName, stores)
    return stores
  }
  // The configuration was checked, so the server has them.
  const configured = (instanceName: string): CacheStores => {
    const stores = storesOf(instanceName)
    if (stores === undefined) throw new Error(`instance ${instanceName} has no cache`)
    return stores
  }
  const routeOf = (options: HttpCacheServiceOptions): Route => {
    const { path, kind, instance_name } = options
    const mount = new Mount({
      options,
      stores: configured(instance_name),
      storesOf,
      meter: meters?.(options) ?? UNCOUNTED_CACHE,
    })
    return cacheRoute(kind, treeRoute(path, cacheKinds[kind].handler(mount), 'caller'))
  }
  return [...server.services.http_cache.values()].map(routeOf)
}

type OfAll = Omit<CacheStores, 'ac' | 'of' | 'parents' | 'sizes' | 'readsOlder'>

interface LayeredParts extends OfAll, Pick<CacheStores, 'readsOlder' | 'parents'> {
  readonly results: ResultCache
}

const SCOPES_MAX = 200
const SIZES_OF_SCOPE_MAX = 2000

/** The stores of an instance, and of each scope in it. */
class LayeredCacheStores implements CacheStores {
  readonly instanceName: string
  readonly ac: Store
  readonly cas: Store
  readonly isReadOnly: boolean
  readonly maxBlobBytes: number | undefined
  readonly kept: CacheStores['kept']
  readonly hasZstd: boolean
  readonly sizes: HashSizes
  readonly readsOlder: boolean
  readonly parents: readonly CacheStores[]
  readonly #results: ResultCache
  readonly #scoped = new LruCache<CacheStores>(SCOPES_MAX)

  constructor({
    instanceName,
    cas,
    isReadOnly,
    maxBlobBytes,
    kept,
    hasZstd,
    results,
    readsOlder,
    parents,
  }: LayeredParts) {
    this.instanceName = instanceName
    this.ac = results.shared
    this.cas = cas
    this.isReadOnly = isReadOnly
    this.maxBlobBytes = maxBlobBytes
    this.kept = kept
    this.hasZstd = hasZstd
    this.readsOlder = readsOlder
    this.sizes = new HashSizes({ ac: this.ac, cas, readsOlder })
    this.parents = parents
    this.#results = results
  }

  of(scope: Scope): CacheStores {
    const known = this.#scoped.get(scope.name)
    if (known !== undefined) return known
    const ac = this.#results.own(scope)
    const sizes = new HashSizes({ ac, cas: this.cas, readsOlder: false, maxKnown: SIZES_OF_SCOPE_MAX })
    const { instanceName, cas, isReadOnly, maxBlobBytes, kept, hasZstd } = this
    const ofAll = { instanceName, cas, isReadOnly, maxBlobBytes, kept, hasZstd }
    const scoped: CacheStores = { ...ofAll, ac, sizes, readsOlder: false, parents: [], of: () => scoped }
    this.#scoped.set(scope.name, scoped, 1)
    return scoped
  }
}

/** Bazel over HTTP may name any instance of its server. */
export const hashClientsOf = ({ servers }: Config): ((instanceName: string) => boolean) => {
  const serving = servers.filter(({ services }) =>
    [...services.http_cache.values()].some(({ kind }) => kind === 'bazel'),
  )
  return (instanceName) => serving.some(({ services }) => entryFor(services.ac, instanceName) !== undefined)
}
