export type StoreOperation = 'read' | 'find_missing' | 'write' | 'delete'

/**
 * `cancelled` is what came to nothing by its caller: it left, sent what is no such blob, or asked for a part there is not.
 * Each operation has one result for each blob; a read that was a `hit` and then broke off is an `error` too.
 */
export type StoreResult = 'hit' | 'miss' | 'success' | 'error' | 'cancelled'

/** Something that is counted: held by who counts, so that nothing is looked up for a blob. */
export interface Tally {
  add(amount: number): void
}

/** What counts one operation of a store. */
export type OperationMeter = Readonly<Record<StoreResult, Tally>> & {
  /** How long it took; of a read, until there was a blob to read from. */
  took(ms: number): void
}

/** Counts what one store of the configuration does. Called for every blob: it must cost next to nothing. */
export interface StoreMeter {
  of(operation: StoreOperation): OperationMeter
  readonly bytes: { readonly in: Tally; readonly out: Tally }
}

/** Where a store keeps blobs itself: what it holds. */
export interface StoreUsage {
  readonly entryCount: number
  readonly sizeBytes: number
  /** The limit by `max_bytes`; undefined where there is none. */
  readonly maxBytes: number | undefined
  /** Since the start. */
  readonly evictedCount: number
  readonly evictFailureCount: number
  /** How long the blob that was evicted last had not been used: the retention there really is. */
  readonly lastEvictedIdleMs: number | undefined
}

/** A store of the configuration as it is watched. */
export interface MeteredStore {
  /** `CAS`, `CAS/fast`, or what a `cache_metrics` store is called. */
  readonly cacheType: string
  /** Undefined of one that keeps nothing itself. */
  usage(): StoreUsage | undefined
}
