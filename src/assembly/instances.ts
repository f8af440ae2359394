import type { Clock } from '../base/clock.js'
import type { Config } from '../config/config.js'
import type { Store } from '../store/contract/store.js'
import { keptApart } from '../store/view/apart.js'
import { SharedStore } from '../store/view/quota.js'

/** Isolation and quotas of instances in shared stores. */
export class Instances {
  readonly #options: Config['instances']
  readonly #clock: Clock
  readonly #shares = new WeakMap<Store, Store>()

  constructor(options: Config['instances'], clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  isIsolated(instanceName: string): boolean {
    return this.#options.get(instanceName)?.isolate === true
  }

  /** Returns the same object for the same instance and store, so that uploads to it see each other. */
  ownOf(instanceName: string, store: Store): Store {
    if (!this.isIsolated(instanceName)) return store
    const own = keptApart(store, instanceName)
    const maxBytes = this.#options.get(instanceName)?.max_stored_bytes
    if (maxBytes === undefined) return own
    const known = this.#shares.get(own)
    if (known !== undefined) return known
    const share = new SharedStore(own, { instanceName, maxBytes, clock: this.#clock })
    this.#shares.set(own, share)
    return share
  }
}
