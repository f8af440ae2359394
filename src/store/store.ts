import type { Call } from '../base/call.js'
import type { HealthStatus } from '../base/health.js'
import type { Digest } from '../reapi/digest.js'
import type { Range, ReadPath, WritePath } from '../stream/path.js'

/**
 * Keeps bytes under digests. The same contract serves the CAS, whose keys describe the bytes, and the action cache, whose
 * keys are action digests: a store never assumes that `digest.sizeBytes` is the length of what it keeps.
 *
 * 1. `reader` rejects with NOT_FOUND before any stream is returned; after that every failure is a stream error.
 * 2. The last stream's `finish` means committed and visible to readers. `destroy` before `finish` leaves no trace.
 * 3. Whoever obtains a path runs it or discards it. Files are opened in `_construct`, so a failed open is a stream error.
 * 4. Stages are single-use, keep order, call back exactly once and never throw.
 * 5. Bytes are immutable once pushed: a stage may slice, never overwrite.
 * 6. Lengths and hashes are checked by Verify only. Each uploaded byte is hashed once.
 *
 * A write under a digest that is present replaces what it held; readers under way finish with the old bytes.
 */
export interface Store {
  /** The digests that are absent, in the order asked. What is present counts as used. Absence is never an error. */
  findMissing(digests: readonly Digest[], call: Call): Promise<Digest[]>

  /** Byte streams (never object mode). An offset past the end is OUT_OF_RANGE, a limit past it gives what there is. */
  reader(digest: Digest, range: Range, call: Call): Promise<ReadPath>

  writer(digest: Digest, call: Call): Promise<WritePath>

  /** Forgets a blob that turned out to be wrong, everywhere below. Absent is fine. */
  remove(digest: Digest, call: Call): Promise<void>

  /** Whether this component works now. Leaves nothing behind in a cache. */
  health(call: Call): Promise<HealthStatus>

  /** True of a store that takes every write and has nothing to read: what it says about absence means nothing. */
  readonly keepsNothing?: boolean | undefined

  /** True when its writer already fails on bytes that are not those of the digest, so that nobody need hash them again. */
  readonly checksUploads?: boolean | undefined

  /** Present when blobs are files of this machine that an action's input root can link to. */
  readonly files?: BlobFiles | undefined
}

/** Blobs as files: what the worker needs to build an input root without copying. */
export interface BlobFiles {
  /**
   * Keeps these blobs from being evicted until released, whatever the eviction policy says. The answer lists those that
   * are not here (yet); leased ones cannot become missing while the lease is held.
   */
  lease(digests: readonly Digest[]): BlobLease

  /**
   * Makes `destination` a hard link to the blob's file, read-only and executable or not. Rejects with NOT_FOUND when the
   * blob is not here. Where linking is impossible (another device, too many links) it copies.
   */
  link(digest: Digest, destination: string, isExecutable: boolean): Promise<void>

  /**
   * Fetches a blob that is not here from the store behind, without passing its bytes to the caller; once for all who ask
   * at a time. Rejects with NOT_FOUND when nobody has it, which a store with none behind says of every absent blob.
   * Extend the lease afterwards: until then the blob may be evicted again.
   */
  populate(digest: Digest, call: Call): Promise<void>

  /**
   * Forgets this machine's file of a blob because its bytes were changed behind the store's back; a store behind keeps
   * its own. A lease goes on: the blob is absent until populated or written again. Absent is fine.
   */
  drop(digest: Digest, call: Call): Promise<void>
}

export interface BlobLease {
  readonly missing: readonly Digest[]
  /** Adds blobs that came in since; answers those still not here. */
  extend(digests: readonly Digest[]): readonly Digest[]
  release(): void
}
