import type { StoreConfig } from '../../config/config.js'

/** How the service threads of a process use a store. */
export type ThreadUse =
  | {
      /** Each thread looks up, reads and writes by itself. */
      readonly isOneEach: true
      readonly node: ThreadNode
    }
  | {
      /** The owner of the process does it, and calls that need the store are carried to it. */
      readonly isOneEach: false
      /** For operators. */
      readonly because: string
    }

/** A store as each thread makes it. It can be sent to a thread. `path` is that in the configuration. */
export type ThreadNode =
  /** It registers with `ThreadSharing`, and the thread has its half. */
  | { readonly path: string; readonly form: 'shared' }
  /** It only passes on. */
  | { readonly path: string; readonly form: 'passing'; readonly to: ThreadNode }
  /** `StoreKind.stage` of its kind makes it, of these by their key in its options. */
  | {
      readonly path: string
      readonly form: 'stage'
      readonly config: StoreConfig
      readonly below: Readonly<Record<string, ThreadNode>>
    }

/** The place of a store, and how threads use those that it is made of. */
export interface ThreadUseBelow {
  /** Path of the store in the configuration. */
  readonly path: string
  child(config: StoreConfig, key: string): ThreadUse
  named(name: string): ThreadUse
  /** A stage of its own in each thread, over these by their key: its kind has `StoreKind.stage`. Not if one of these is for all. */
  stage(below: Readonly<Record<string, ThreadUse>>): ThreadUse
}

export const oneForAll = (because: string): ThreadUse => ({ isOneEach: false, because })

/** The paths of the shared stores that a node is made of. */
export const sharedPathsOf = (node: ThreadNode): readonly string[] => {
  if (node.form === 'shared') return [node.path]
  if (node.form === 'passing') return sharedPathsOf(node.to)
  return Object.values(node.below).flatMap(sharedPathsOf)
}
