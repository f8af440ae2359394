import { boundedMap } from '../base/bounded-map.js'
import type { Call } from '../base/call.js'
import type { HealthStatus } from '../base/health.js'
import { StatusError } from '../base/status-error.js'
import type { CompressorName } from '../reapi/compressor.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import { cancellation } from '../stream/join.js'
import { type Range, type ReadPath, WHOLE, type WritePath } from '../stream/path.js'
import { collect, deliver } from '../stream/run.js'

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
 * 7. A kind may have a shorter way for small blobs, `readBytes`, `writeBytes` and `writeBlobs`, and one for many digests,
 *    `findMissingIn`; whoever wants them calls the functions of that name below, which go by the others where it has none.
 *    Both ways see the same blobs at all times.
 *
 * A write under a digest that is present replaces what it held; readers under way finish with the old bytes.
 */
export interface Store {
  /** The digests that are absent, in the order asked. What is present counts as used. Absence is never an error. */
  findMissing(digests: readonly Digest[], call: Call): Promise<Digest[]>

  /** `findMissing` without an object for each digest. */
  findMissingIn?(batch: DigestBatch, call: Call): Promise<DigestBatch>

  /** Byte streams (never object mode). An offset past the end is OUT_OF_RANGE, a limit past it gives what there is. */
  reader(digest: Digest, range: Range, call: Call): Promise<ReadPath>

  writer(digest: Digest, call: Call): Promise<WritePath>

  /**
   * The whole blob, NOT_FOUND when it is absent, RESOURCE_EXHAUSTED when it has more than `maxBytes`. Nobody may write to
   * the answer: it can be what a later reader gets too.
   */
  readBytes?(digest: Digest, maxBytes: number, call: Call): Promise<Buffer>

  /**
   * Resolves once committed and visible, as `finish` says it; rejected, it leaves no trace. The bytes stay as they are
   * until it settles. An abort is heeded until the writing begins.
   */
  writeBytes?(digest: Digest, bytes: Buffer, call: Call): Promise<void>

  /**
   * `writeBytes` for many blobs at a time. Answers in their order why each was not kept, `undefined` of those that were;
   * rejects only when it cannot even say that. The same digest may come twice.
   */
  writeBlobs?(blobs: readonly BlobBytes[], call: Call): Promise<WriteOutcomes>

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

  /** Present when blobs are kept in a form that clients of REAPI may ask for and send. */
  readonly compressed?: CompressedBlobs | undefined

  /**
   * How many bytes it keeps of a blob, undefined of an absent one. Present where that is known without reading: it lets
   * a store above read a blob from its end.
   */
  storedBytes?(digest: Digest, call: Call): Promise<number | undefined>
}

/** A blob that is in memory as a whole. */
export interface BlobBytes {
  readonly digest: Digest
  readonly bytes: Buffer
}

/** What became of blobs that were written together. */
export type WriteOutcomes = readonly (StatusError | undefined)[]

/** Blobs as one compressor of REAPI has them, passed through as they are kept: neither compressed nor decompressed. */
export interface CompressedBlobs {
  readonly compressor: CompressorName

  /** The whole blob, compressed. Fails as `Store.reader` does. */
  reader(digest: Digest, call: Call): Promise<ReadPath>

  /**
   * Takes compressed bytes, in any form the compressor allows, and checks what they decompress to: bytes that are not
   * those of the digest, or not compressed so, are INVALID_ARGUMENT. For keys that describe the bytes, those of a CAS.
   */
  writer(digest: Digest, call: Call): Promise<WritePath>
}

/** Which digests of a batch are absent, in their order; see `Store.findMissing`. */
export const findMissingIn = (store: Store, batch: DigestBatch, call: Call): Promise<DigestBatch> =>
  store.findMissingIn === undefined ? findMissingOf(store, batch, call) : store.findMissingIn(batch, call)

const findMissingOf = async (store: Store, batch: DigestBatch, call: Call): Promise<DigestBatch> =>
  batch.only(await store.findMissing(batch.digests(), call))

/** The whole of a blob that the caller knows to be small; see `Store.readBytes`. */
export const readBytes = (store: Store, digest: Digest, maxBytes: number, call: Call): Promise<Buffer> =>
  store.readBytes === undefined ? readPath(store, digest, maxBytes, call) : store.readBytes(digest, maxBytes, call)

const readPath = async (store: Store, digest: Digest, maxBytes: number, call: Call): Promise<Buffer> =>
  collect(await store.reader(digest, WHOLE, call), { maxBytes, signal: call.signal })

/** Writes a blob that is in memory anyhow; see `Store.writeBytes`. */
export const writeBytes = async (store: Store, digest: Digest, bytes: Buffer, call: Call): Promise<void> => {
  if (call.signal.aborted) throw cancellation(call.signal)
  if (store.writeBytes === undefined) await deliver(bytes, await store.writer(digest, call), call.signal)
  else await store.writeBytes(digest, bytes, call)
}

/** How many blobs are written at a time where they cannot be together. */
const WRITE_LANES = 16

/** Writes many blobs that are in memory anyhow; see `Store.writeBlobs`. */
export const writeBlobs = async (store: Store, blobs: readonly BlobBytes[], call: Call): Promise<WriteOutcomes> =>
  store.writeBlobs === undefined
    ? boundedMap(blobs, WRITE_LANES, ({ digest, bytes }) => outcomeOf(writeBytes(store, digest, bytes, call)))
    : store.writeBlobs(blobs, call)

const outcomeOf = (work: Promise<void>): Promise<StatusError | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => StatusError.from(error),
  )

/** A blob of `sizeBytes` where at most `maxBytes` are wanted. */
export const tooLarge = (digest: Digest, sizeBytes: number, maxBytes: number): StatusError =>
  new StatusError('RESOURCE_EXHAUSTED', `blob ${digest.key} has ${sizeBytes} bytes, expected at most ${maxBytes} here`)

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
