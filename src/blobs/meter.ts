/**
 * A `lookup` is a read that the server makes by itself, of a result that a client may have asked for before: see
 * `Call.isLookup`. Counted apart, so that the reads tell what clients found.
 */
export type StoreOperation = 'read' | 'lookup' | 'find_missing' | 'write' | 'delete'

/**
 * `cancelled` counts failures caused by the caller: it left, sent bytes that do not match the digest, or read past the
 * end. Each operation has one result per blob; a read counted as `hit` that breaks off later counts as `error` too.
 */
export type StoreResult = 'hit' | 'miss' | 'success' | 'error' | 'cancelled'

/** A counter. Callers keep a reference to it, so that counting a blob needs no lookup. */
export interface Tally {
  add(amount: number): void
}

/** The meter of one operation of a store. */
export type OperationMeter = Readonly<Record<StoreResult, Tally>> & {
  /** Records the duration. For a read: until the blob is available, not until it is read. */
  took(ms: number): void
}

/** The metrics of one store. Called for every blob, so it must be nearly free. */
export interface StoreMeter {
  of(operation: StoreOperation): OperationMeter
  /** The meter of one instance, the same for each call. Absent if instances share one. */
  readonly ofInstance?: ((name: string) => StoreMeter) | undefined
  readonly bytes: { readonly in: Tally; readonly out: Tally }
}

/** What a store that keeps blobs itself holds. */
export interface StoreUsage {
  readonly entryCount: number
  readonly sizeBytes: number
  /** The configured `max_bytes`; undefined without a limit. */
  readonly maxBytes: number | undefined
  /** Since the start. */
  readonly evictedCount: number
  readonly evictFailureCount: number
  /** How long the blob evicted last had been unused: the actual retention. */
  readonly lastEvictedIdleMs: number | undefined
  /** Absent for a store that promises nothing, such as a tier that only holds copies. */
  readonly promised?: PromisedUsage | undefined
  /** Free space of the file system of its files; undefined for other stores and before it is known. */
  readonly diskFreeBytes?: number | undefined
}

/** What several stores keep together. */
export interface KeptSizes {
  readonly sizeBytes: number
  readonly entryCount: number
  /** Undefined if one of them has no limit. */
  readonly maxBytes: number | undefined
  /** Whether each blob is kept with the bytes of its upload: neither compressed nor as chunks. */
  readonly isAsUploaded: boolean
}

/** What a store promised to its clients. */
export interface PromisedUsage {
  /** How long a blob is kept at least after its last use. */
  readonly retentionMs: number
  /** Bytes used within that time. */
  readonly promisedBytes: number
  /** Bytes that live invocations hold, whenever they were used. */
  readonly heldBytes: number
  /** Promises broken since the start, because there was no room. */
  readonly brokenCount: number
}

/** The uploads of a store that wait behind their answer for a slow store. */
export interface UploadQueueUsage {
  readonly entryCount: number
  readonly sizeBytes: number
  /** How long the oldest upload has been waiting; 0 if none waits. */
  readonly oldestAgeMs: number
  /** Uploads since the start that ended, failed and are tried again, or were given up. */
  readonly doneCount: number
  readonly retriedCount: number
  readonly lostCount: number
}

/** The bytes of larger blobs in a store that keeps these as chunks, since the start. */
export interface ChunkUsage {
  /** Of blobs that the store cut: in chunks that it wrote, and in chunks that were there. */
  readonly newBytes: number
  readonly knownBytes: number
  /** Of blobs that clients put together from chunks: in chunks that were uploaded for them, and in others. */
  readonly sentBytes: number
  readonly unsentBytes: number
}

/** A store of the configuration, as registered for metrics. */
export interface MeteredStore {
  /** `CAS`, `CAS/fast`, or the configured name of a `cache_metrics` store. */
  readonly cacheType: string
  /** Undefined for a store that keeps no blobs itself. */
  usage(): StoreUsage | undefined
  /** Undefined for a store without a queue. */
  uploadQueue?(): UploadQueueUsage | undefined
  /** Undefined for a store that keeps no chunks. */
  chunks?(): ChunkUsage | undefined
}
