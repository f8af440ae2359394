import type { Clock } from '../../base/clock.js'
import { LruCache } from '../../base/lru-cache.js'
import type { Store } from '../../blobs/store.js'
import type { Log } from '../../log/log.js'
import type { Scope } from '../../rpc/scope.js'
import { KnownScope, type ScopeLimits } from './known-scope.js'
import { RevokedWriters, ValidResults } from './revoked-writers.js'
import { ScopedStore } from './scoped-store.js'

export interface ScopesOptions {
  readonly limits: ScopeLimits
  readonly clock: Clock
  readonly log: Log
  /** Whether callers are known, so that what one wrote can be told from the rest. */
  readonly knowsCallers: boolean
}

export type ScopeUsage = KnownScope['usage']

/** Callers choose the names of branches. The longest unused one is forgotten here; what it keeps stays in the store. */
const MAX_KNOWN = 10_000

/** The scopes in one action cache, as an instance sees it. */
export class Scopes {
  readonly #store: Store
  readonly #options: ScopesOptions
  /** By instance and name. */
  readonly #known = new LruCache<KnownScope>(MAX_KNOWN)
  readonly revoked: RevokedWriters

  constructor(store: Store, options: ScopesOptions) {
    this.#store = store
    this.#options = options
    this.revoked = new RevokedWriters(store, options)
  }

  /** The action cache without what revoked callers wrote. */
  valid(over: Store): Store {
    return this.#options.knowsCallers ? new ValidResults(over, this.revoked) : over
  }

  /** What a scope keeps. `over` is the action cache, or it with a check of completeness above. */
  layer(scope: Scope, over: Store = this.#store): Store {
    return this.valid(new ScopedStore(over, scope, ({ instanceName }) => this.of(instanceName, scope)))
  }

  of(instanceName: string, scope: Scope): KnownScope {
    const name = `${instanceName}\0${scope.name}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const added = new KnownScope({ ...this.#options, store: this.#store, scope, instanceName })
    this.#known.set(name, added, 1)
    return added
  }

  /** Those that were used since the start, or keep something. */
  get usage(): readonly ScopeUsage[] {
    return [...this.#known.values()].map(({ usage }) => usage).filter(({ usedMs }) => usedMs > 0)
  }
}
