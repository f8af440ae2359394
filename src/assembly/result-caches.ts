import { entryFor } from '../base/catch-all.js'
import type { Clock } from '../base/clock.js'
import type { Store } from '../blobs/store.js'
import type { SecurityOptions, ServerConfig } from '../config/config.js'
import type { ParentResults } from '../config/parents.js'
import type { DirectoryTrees } from '../content/directory-trees.js'
import type { Log } from '../log/log.js'
import type { Call } from '../rpc/call.js'
import type { Scope } from '../rpc/scope.js'
import { foundByHash } from '../service/http-cache/hash-sizes.js'
import { withCompleteness } from '../store/kinds/completeness_checking/checking-store.js'
import { inInstanceOf } from '../store/scoped/layers.js'
import { ResultCache } from '../store/scoped/result-cache.js'
import { noReads, type ScopeLayer, type ScopeReads } from '../store/scoped/scope-reads.js'
import { Scopes, type ScopeUsage } from '../store/scoped/scopes.js'

const DAY_MS = 86_400_000

/** The scopes in each action cache. The same object for the same view of a store, so that all services agree. */
export class ScopesOfStores {
  readonly #options: ConstructorParameters<typeof Scopes>[1]
  readonly #known = new WeakMap<Store, Scopes>()
  readonly #all = new Set<Scopes>()
  /** Of all scopes, those that are forgotten included. */
  readonly reads: ScopeReads = noReads()

  constructor(
    security: Pick<SecurityOptions, 'scopes'> | undefined,
    parts: { readonly clock: Clock; readonly log: Log },
  ) {
    const { max_bytes: maxBytes, scope_days: days } = security?.scopes ?? { max_bytes: Infinity, scope_days: 1 }
    this.#options = { ...parts, knowsCallers: security !== undefined, limits: { maxBytes, maxIdleMs: days * DAY_MS } }
  }

  /** `view` is an action cache as its instance sees it. */
  of(view: Store): Scopes {
    const known = this.#known.get(view)
    if (known !== undefined) return known
    const scopes = new Scopes(view, this.#options)
    this.#known.set(view, scopes)
    this.#all.add(scopes)
    return scopes
  }

  /** A caller with a scope has asked for a result. Lookups of the server itself do not count. */
  noteRead(scopes: Scopes, scope: Scope, layer: ScopeLayer, { instanceName, isLookup }: Call): void {
    if (isLookup === true) return
    this.reads[layer] += 1
    scopes.of(instanceName, scope).noteRead(layer)
  }

  /** Those that were used since the start. */
  get usage(): readonly ScopeUsage[] {
    return [...this.#all].flatMap(({ usage }) => usage)
  }
}

/** The scopes in every action cache that an instance has: of results, and of assets. */
export const scopesIn =
  (servers: readonly ServerConfig[], sources: Pick<ResultCacheSources, 'ac' | 'viewOf' | 'scopes'>) =>
  (instance: string): readonly Scopes[] => {
    const names = servers.flatMap(({ services: { ac, execution, fetch, push } }) => [
      entryFor(ac, instance)?.ac_store,
      entryFor(execution, instance)?.ac_store,
      entryFor(fetch, instance)?.fetch_store,
      entryFor(push, instance)?.push_store,
    ])
    const views = [...new Set(names)].flatMap((name) =>
      name === undefined ? [] : [sources.viewOf(instance, sources.ac(name))],
    )
    return [...new Set(views)].map((view) => sources.scopes.of(view))
  }

/** What an action cache of an instance is made of. */
export interface ResultCacheSources {
  ac(name: string): Store
  viewOf(instanceName: string, store: Store): Store
  hasHashClients(instanceName: string): boolean
  readonly readsOlder: boolean
  readonly trees: { readonly ofActions: DirectoryTrees }
  readonly scopes: ScopesOfStores
  parentsOf(instanceName: string): readonly ParentResults[]
}

/** A named store as the action cache of an instance. Contains only results whose outputs are in its CAS. */
export const resultCacheOf = (
  name: string,
  instance: string,
  cas: Store | undefined,
  sources: ResultCacheSources,
): ResultCache => {
  const { readsOlder, trees } = sources
  const ofInstance = (acStore: string, of: string) => {
    const view = sources.viewOf(of, sources.ac(acStore))
    const checked = withCompleteness(view, cas, trees.ofActions)
    const named = (ac: Store): Store => (sources.hasHashClients(of) ? foundByHash({ ac, cas, readsOlder }) : ac)
    return { view, checked, named }
  }
  const { view, checked, named } = ofInstance(name, instance)
  return new ResultCache({
    shared: named(sources.scopes.of(view).valid(checked)),
    own: (scope) => named(sources.scopes.of(view).layer(scope, checked)),
    parents: sources.parentsOf(instance).map(({ instanceName, acStore }) => {
      const parent = ofInstance(acStore, instanceName)
      return inInstanceOf(parent.named(sources.scopes.of(parent.view).valid(parent.checked)), instanceName)
    }),
    onRead: (scope, layer, call) => sources.scopes.noteRead(sources.scopes.of(view), scope, layer, call),
  })
}
