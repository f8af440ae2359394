import type { Clock } from '../base/clock.js'
import type { Store } from '../blobs/store.js'
import type { Config } from '../config/config.js'
import { isolatedView } from '../store/view/isolated.js'
import { SharedStore } from '../store/view/quota.js'
import { RetainedStore } from '../store/view/retained.js'

/** Isolation, quotas and retention of instances in shared stores. */
export class Instances {
  readonly #options: Config['instances']
  readonly #clock: Clock
  readonly #shares = new WeakMap<Store, Store>()
  /** By store and retention. */
  readonly #retained = new WeakMap<Store, Map<number, Store>>()

  constructor(options: Config['instances'], clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  isIsolated(instanceName: string): boolean {
    return this.#options.get(instanceName)?.isolate === true
  }

  /** The largest blob that clients may upload to the instance; undefined if it has no limit of its own. */
  maxBlobBytes(instanceName: string): number | undefined {
    return this.#options.get(instanceName)?.max_blob_size
  }

  /** Returns the same object for the same instance and store, so that uploads to it see each other. */
  viewOf(instanceName: string, store: Store): Store {
    const view = this.#ownView(instanceName, store)
    const retentionS = this.#options.get(instanceName)?.retention
    if (retentionS === undefined) return view
    const views = this.#retained.get(view) ?? new Map<number, Store>()
    this.#retained.set(view, views)
    const retained = views.get(retentionS) ?? new RetainedStore(view, retentionS * 1000)
    views.set(retentionS, retained)
    return retained
  }

  #ownView(instanceName: string, store: Store): Store {
    if (!this.isIsolated(instanceName)) return store
    const view = isolatedView(store, instanceName)
    const maxBytes = this.#options.get(instanceName)?.max_stored_bytes
    if (maxBytes === undefined) return view
    const known = this.#shares.get(view)
    if (known !== undefined) return known
    const share = new SharedStore(view, { instanceName, maxBytes, clock: this.#clock })
    this.#shares.set(view, share)
    return share
  }
}
