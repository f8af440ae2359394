import type { Clock } from '../base/clock.js'
import type { HealthProbe } from '../base/health.js'
import type { Log } from '../base/log.js'
import type { Resources } from '../base/resources.js'
import type { StoreConfig } from '../config/config.js'
import type { StoreUsage } from './meter.js'
import type { Store } from './store.js'

/** One way to keep or to treat blobs: what a key of the configuration stands for. */
export interface StoreKind<Options> {
  build(options: Options, context: BuildContext): Promise<Store> | Store
}

/** What a kind gets to build one store. It asks here for the stores below it and knows no other kind. */
export interface BuildContext {
  /** Where in the configuration the store stands, for logs and errors: `CAS`, `CAS/fast`. */
  readonly path: string
  /** Builds a nested store; `key` is its key in the options (`backend`, `fast`). */
  child(config: StoreConfig, key: string): Promise<Store>
  /** Another store of the configuration, defined before or after this one; everyone gets the same one. */
  named(name: string): Promise<Store>
  /** Takes the health probe of a connection to a backend, which is a component of its own beside the store. */
  watch(probe: HealthProbe): void
  /** Takes, of a kind that keeps blobs itself, what tells how much it holds. */
  holds(usage: () => StoreUsage): void
  /** Takes the functions that stop what was started; those of nested stores run after. */
  readonly resources: Resources
  readonly clock: Clock
  readonly log: Log
}
