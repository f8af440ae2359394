import { LruCache } from '../../base/lru-cache.js'
import type { Store } from '../../blobs/store.js'
import type { Call } from '../../rpc/call.js'
import type { Scope } from '../../rpc/scope.js'
import { layered, meteredLayers } from './layers.js'
import type { ScopeLayer } from './scope-reads.js'

/** An action cache as callers see it. What everybody reads is not to be had here: a caller always says who it is. */
export interface CallerResults {
  /**
   * What a caller reads: what its scope keeps, then what everybody reads, then what a parent instance has. What it writes, the scope
   * alone keeps. Without a scope it is a trusted caller, which writes what everybody reads.
   */
  of(scope: Scope | undefined): Store
}

export interface ResultCacheParts {
  readonly shared: Store
  /** What a scope keeps. */
  readonly own: (scope: Scope) => Store
  /** Those of parent instances, the nearest first. Read only. */
  readonly parents: readonly Store[]
  /** Hears of each read of a caller with a scope. */
  readonly onRead?: (scope: Scope, layer: ScopeLayer, call: Call) => void
}

const LAYERS = ['own', 'shared'] as const

const KNOWN_SCOPES = 1000

/** The action cache of an instance, for trusted callers and for scopes. */
export class ResultCache implements CallerResults {
  readonly #parts: ResultCacheParts
  readonly #trusted: Store
  readonly #own = new LruCache<Store>(KNOWN_SCOPES)
  readonly #layers = new LruCache<Store>(KNOWN_SCOPES)

  constructor(parts: ResultCacheParts) {
    this.#parts = parts
    this.#trusted = layered(parts.shared, ...parts.parents)
  }

  /** What everybody reads, and what workers that confine their actions write. */
  get shared(): Store {
    return this.#parts.shared
  }

  of(scope: Scope | undefined): Store {
    if (scope === undefined) return this.#trusted
    const known = this.#layers.get(scope.name)
    if (known !== undefined) return known
    const { shared, parents, onRead } = this.#parts
    const layers = meteredLayers(this.own(scope), [shared, ...parents], (layer, call) =>
      onRead?.(scope, layer === undefined ? 'none' : (LAYERS[layer] ?? 'parent'), call),
    )
    this.#layers.set(scope.name, layers, 1)
    return layers
  }

  /** What the scope alone keeps. */
  own(scope: Scope): Store {
    const known = this.#own.get(scope.name)
    if (known !== undefined) return known
    const own = this.#parts.own(scope)
    this.#own.set(scope.name, own, 1)
    return own
  }
}
