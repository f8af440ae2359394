/** A build, as lists show it. */
export interface ListedBuild {
  readonly id: string
  readonly instance: string
  readonly startedMs: number
}

/** A store that keeps blobs itself. */
export interface StoreStatus {
  /** The name of the store, and where it is in it: `CAS/fast`. */
  readonly name: string
  readonly sizeBytes: number
  /** Undefined without a limit. */
  readonly maxBytes: number | undefined
  readonly blobs: number
}

export interface ProcessStatus {
  readonly version: string
  readonly startedMs: number
  readonly nowMs: number
  /** `healthy`, `degraded`, `starting` or `not healthy`, and the reasons, worst first. */
  readonly health: string
  readonly reasons: readonly string[]
  readonly stores: readonly StoreStatus[]
  /** Operations that ended since the start, by result. */
  readonly results: Readonly<Record<string, number>>
  readonly builds: { readonly kept: number; readonly running: number }
}

/**
 * Results in the action cache of an instance: that of an action, those that a target or a build asked for, all that a scope keeps, or
 * all that a caller wrote.
 */
export interface WantedResults {
  readonly instance: string
  readonly by: 'action' | 'target' | 'build' | 'scope' | 'caller'
  readonly value: string
  /** Only tells what would be deleted. */
  readonly isDryRun: boolean
}

/** Digests of actions; the name of a scope or of a caller. */
export interface DeletedResults {
  readonly deleted: readonly string[]
  /** Without a result in the action cache. */
  readonly absent: readonly string[]
}

export type DeleteResults = (wanted: WantedResults) => Promise<DeletedResults>

/** What an instance keeps: blobs, results of actions, or entries of HTTP caches. */
export interface WantedList {
  readonly kind: 'blobs' | 'results' | 'http'
  readonly instance: string
  /** The path of a store, with those nested in it; empty for all that the instance uses. */
  readonly store: string
  readonly order: 'largest' | 'oldest' | 'newest'
  readonly limit: number
  readonly after: ListedEntry | undefined
  readonly minBytes: number
  readonly maxBytes: number
  readonly usedFromMs: number
  readonly usedToMs: number
  readonly hashPrefix: string
}

export interface ListedEntry {
  readonly key: string
  /** Path of the store that has it. */
  readonly store: string
  readonly storedBytes: number
  readonly usedMs: number
}

export interface KeptList {
  readonly blobs: readonly ListedEntry[]
  /** Those that were looked at. */
  readonly stores: readonly string[]
  /** Those that keep their blobs in another process, which is not asked. */
  readonly unlisted: readonly string[]
}

export type ListKept = (wanted: WantedList, signal: AbortSignal) => Promise<KeptList>

/** What a scope keeps in one action cache. */
export interface ListedScope {
  readonly scope: string
  readonly instanceName: string
  readonly sizeBytes: number
  readonly entryCount: number
  readonly usedMs: number
  /** Results of actions that its callers asked for since the start, by where they were found. */
  readonly reads: { readonly own: number; readonly shared: number; readonly parent: number; readonly none: number }
}

/** What the process knows about itself. */
export interface ProcessFacts {
  status(): ProcessStatus
  /** Every build of the instances that may be read. */
  builds(mayRead: (instance: string) => boolean): Promise<readonly ListedBuild[]>
  readonly deleteResults: DeleteResults
  readonly listKept: ListKept
  /** The scopes of all instances that were used since the start. */
  scopes(): readonly ListedScope[]
}
