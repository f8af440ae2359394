import type { StoreConfig } from '../../config/config.js'

/** How the service threads of a process use a store. */
export type ThreadUse =
  | {
      /** Each thread looks up, reads and writes by itself. */
      readonly isOneEach: true
      /** The paths of the nodes that a thread makes, outermost first, down to a store that registers with `ThreadSharing`. */
      readonly nodes: readonly string[]
    }
  | {
      /** The owner of the process does it, and calls that need the store are carried to it. */
      readonly isOneEach: false
      /** For operators. */
      readonly because: string
    }

/** The place of a store, and how threads use those that it is made of. */
export interface ThreadUseBelow {
  /** Path of the store in the configuration. */
  readonly path: string
  child(config: StoreConfig, key: string): ThreadUse
  named(name: string): ThreadUse
}

export const oneForAll = (because: string): ThreadUse => ({ isOneEach: false, because })
