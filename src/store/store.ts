import type { Call } from '../base/call.js'
import type { HealthStatus } from '../base/health.js'
import { StatusError } from '../base/status-error.js'
import { boundedMap } from '../base/work/bounded-map.js'
import type { CompressorName } from '../reapi/compressor.js'
import type { Digest } from '../reapi/digest.js'
import { DigestBatch } from '../reapi/digest-batch.js'
import { Blob } from '../stream/blob/blob.js'
import { type Range, WHOLE } from '../stream/path.js'

/**
 * Keeps blobs under digests. The same contract serves the CAS, whose keys describe the bytes, and the action cache, whose
 * keys are action digests: a store never assumes that `digest.sizeBytes` is the length of what it keeps.
 *
 * 1. `get` rejects with NOT_FOUND before there is a blob; after that every failure is the blob's.
 * 2. `put` resolved means committed and visible to readers; rejected or aborted, it leaves no trace.
 * 3. Blobs cross this border plain (`Blob.encoding` is IDENTITY), in whatever encoding they come: who can use that takes
 *    them `as` it. Whoever gets a blob uses it once or discards it, a store that refuses it too.
 * 4. Stages are single-use, keep order, call back exactly once and never throw. Bytes are immutable once pushed:
 *    those of `get` for good, those of `put` until it has settled.
 * 5. Lengths and hashes are checked by `Blob.checkedAs` only. Each uploaded byte is hashed once.
 *
 * A put under a digest that is present replaces what it held; readers under way finish with the old bytes.
 */
export interface Store {
  /** The digests that are absent, in the order asked. What is present counts as used. Absence is never an error. */
  findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch>

  /** An offset past the end is OUT_OF_RANGE, a limit past it gives what there is. */
  get(digest: Digest, range: Range, call: Call): Promise<Blob>

  put(digest: Digest, blob: Blob, call: Call): Promise<void>

  /**
   * `put` for many blobs at a time. Answers in their order why each was not kept, `undefined` of those that were; rejects
   * only when it cannot even say that. The same digest may come twice.
   */
  putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes>

  /** Forgets a blob. Absent is fine. */
  remove(digest: Digest, why: Removal, call: Call): Promise<void>

  /** Whether this component works now. Leaves nothing behind in a cache. */
  health(call: Call): Promise<HealthStatus>

  readonly properties: StoreProperties

  /** Present when blobs are files of this machine that an action's input root can link to. */
  readonly files: BlobFiles | undefined
}

/**
 * Why a blob goes. `unwanted` it goes everywhere below. What a read got of it and found `wrong` goes where that read got it: where
 * another store below may have it right, that one is read from then on, until it is found wrong too.
 */
export type Removal = 'unwanted' | 'wrong'

/** What a store is, for those who use it: data, which a wrapper passes on. */
export interface StoreProperties {
  /** It takes every blob and has nothing to read: what it says about absence means nothing. */
  readonly keepsNothing: boolean
  /** What blobs may come and go in without being encoded for it. */
  readonly encodings: readonly CompressorName[]
  /** It has action results only while all they refer to is in a CAS. */
  readonly checksCompleteness: boolean
  /** `findMissing` delays the eviction of the blobs that it finds (REAPI: it extends their lifetimes). */
  readonly extendsLifetimes: boolean
}

export const PLAIN: StoreProperties = {
  keepsNothing: false,
  encodings: [],
  checksCompleteness: false,
  extendsLifetimes: false,
}

export interface BlobEntry {
  readonly digest: Digest
  readonly blob: Blob
}

/** What became of blobs that were put together. */
export type Outcomes = readonly (StatusError | undefined)[]

/** How many blobs are put at a time where they cannot be together. */
const PUT_LANES = 16

/** What kinds have in common that say nothing else. */
export abstract class BaseStore implements Store {
  readonly properties: StoreProperties = PLAIN
  readonly files: BlobFiles | undefined = undefined

  abstract findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch>
  abstract get(digest: Digest, range: Range, call: Call): Promise<Blob>
  abstract put(digest: Digest, blob: Blob, call: Call): Promise<void>
  abstract remove(digest: Digest, why: Removal, call: Call): Promise<void>
  abstract health(call: Call): Promise<HealthStatus>

  putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return boundedMap(entries, PUT_LANES, ({ digest, blob }) => outcomeOf(this.put(digest, blob, call)))
  }
}

export const outcomeOf = (work: Promise<void>): Promise<StatusError | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => StatusError.from(error),
  )

/** The whole of a blob that the caller knows to be small: more than `maxBytes` is RESOURCE_EXHAUSTED. */
export const getBytes = async (store: Store, digest: Digest, maxBytes: number, call: Call): Promise<Buffer> => {
  const blob = await store.get(digest, WHOLE, call)
  return blob.bytes(maxBytes, call)
}

export const putBytes = (store: Store, digest: Digest, bytes: Buffer, call: Call): Promise<void> =>
  store.put(digest, Blob.ofBytes(bytes), call)

/** Those among digests at hand that are absent, in their order. */
export const missingOf = async (store: Store, digests: readonly Digest[], call: Call): Promise<readonly Digest[]> =>
  digests.length === 0 ? [] : (await store.findMissing(DigestBatch.of(digests), call)).digests()

/** Blobs as files of this machine: what workers need to build an input root, and to hand in outputs, without moving bytes. */
export interface BlobFiles {
  /**
   * Keeps these blobs from being evicted until released, whatever the eviction policy says. The answer lists those that
   * are not here (yet); leased ones cannot become missing while the lease is held.
   */
  lease(digests: readonly Digest[], call: Call): Promise<BlobLease>

  /**
   * What a process of this machine links to or copies (`linkBlob`), be it executable or not. Rejects with NOT_FOUND when the blob
   * is not here.
   */
  locate(digest: Digest, isExecutable: boolean): Promise<LocatedBlob>

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

  /** Length of the largest file that `adopt` takes; infinite if there is no limit, or it is not known. */
  maxBlobBytes(call: Call): Promise<number>

  /** Where a new file may be put that is to become a blob; what lies there and is never adopted is the caller's to remove. */
  reserve(call: Call): Promise<ReservedPlace>

  /**
   * `put` of a finished file at a reserved place, which is the store's from then on. That its bytes are those of the digest
   * is the caller's word; INVALID_ARGUMENT when the file is not as told. Rejected, the file may be gone.
   */
  adopt(digest: Digest, file: FinishedFile, call: Call): Promise<void>
}

export interface BlobLease {
  readonly missing: readonly Digest[]
  /** Adds blobs that came in since; answers those still not here. */
  extend(digests: readonly Digest[]): Promise<readonly Digest[]>
  release(): void
}

/** The bytes of a small blob that has no file, or its file as it is now: never to be written to. */
export type LocatedBlob =
  | { readonly bytes: Buffer }
  | { readonly path: string; readonly sizeBytes: number; readonly mtimeMs: number }

export interface ReservedPlace {
  readonly path: string
  /** The bytes have to be on the disk before the file is adopted. */
  readonly isSynced: boolean
}

/** A file at a reserved place that nobody writes to any more. */
export interface FinishedFile {
  readonly path: string
  readonly sizeBytes: number
  /** CRC-32 of its bytes. */
  readonly checksum: number
  readonly mtimeMs: number
}
