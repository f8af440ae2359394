import type { HealthStatus } from '../base/health.js'
import { isStatus, StatusError } from '../base/status-error.js'
import type { InFlight } from '../ledger/bytes-in-flight.js'
import type { Chunking, ChunkList } from '../reapi/chunking.js'
import type { CompressorName } from '../reapi/compressor.js'
import type { Digest } from '../reapi/digest.js'
import { DigestBatch } from '../reapi/digest-batch.js'
import { type Call, callWith } from '../rpc/call.js'
import { Blob } from '../stream/blob/blob.js'
import { type Range, WHOLE } from '../stream/path.js'
import { boundedMap, LANES } from '../work/bounded-map.js'

/**
 * Keeps blobs under digests. The same contract serves the CAS, whose keys describe the bytes, and the action cache,
 * whose keys are action digests: a store never assumes that `digest.sizeBytes` is the length of the stored bytes.
 *
 * 1. `get` rejects with NOT_FOUND before it returns a blob. Later failures are reported by the blob.
 * 2. When `put` resolves, the blob is committed and visible to readers. When it rejects or is aborted, nothing remains.
 * 3. Callers and stores exchange plain blobs (`Blob.encoding` is IDENTITY), whatever encoding the bytes arrived in. A
 *    receiver that can use the encoding takes the blob with `as`. The receiver must use a blob once or discard it, even
 *    when it rejects the blob.
 * 4. Stages are single-use, keep order, call back exactly once and never throw. Bytes are immutable once pushed: those
 *    from `get` forever, those given to `put` until it settles.
 * 5. Only `Blob.verify` checks lengths and hashes. Each uploaded byte is hashed once.
 *
 * A put under a present digest replaces the blob. Reads in flight finish with the old bytes.
 */
export interface Store {
  /**
   * Returns the absent digests in the order given. Present blobs count as used: they are kept for `properties.retentionMs`,
   * or as long as the call asks (`keep`). Absence is never an error.
   */
  findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch>

  /** An offset past the end is OUT_OF_RANGE. A limit past the end returns what there is. */
  get(digest: Digest, range: Range, call: Call): Promise<Blob>

  /**
   * Whether `get` would surely reject with NOT_FOUND now. True only if the store knows it by its own index, without I/O or a
   * question to another process; false says nothing. Neither a use nor a read that metrics count.
   */
  lacks(digest: Digest, call: Call): boolean

  /**
   * The size in the digest of a stored blob with the hash of `named`, whatever the size of `named`. Undefined if there is
   * none, or if the store cannot look (`properties.findsByHash`). The largest of several, which only keys can have. Does
   * not count as a use.
   */
  sizeOf(named: Digest, call: Call): Promise<number | undefined>

  /**
   * When a blob was last evicted, in milliseconds since the epoch, to the second. Undefined if the store does not know: it
   * evicts nothing by itself, or so many others since, or it started later. The blob may be there again.
   */
  evictedMs(digest: Digest, call: Call): Promise<number | undefined>

  put(digest: Digest, blob: Blob, call: Call): Promise<void>

  /**
   * `put` for many blobs. Returns one outcome per entry, in order: an error, or `undefined` for a stored blob. Rejects
   * only when the outcomes are unknown. The same digest may occur twice.
   */
  putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes>

  /** Removes a blob. Succeeds if it is absent. */
  remove(digest: Digest, why: Removal, call: Call): Promise<void>

  /** Whether this component works now. A probe leaves nothing behind in a cache. */
  health(call: Call): Promise<HealthStatus>

  readonly properties: StoreProperties

  /** Present when blobs are local files that the input root of an action can link to. */
  readonly files: BlobFiles | undefined

  /** Present when blobs survive kill -9 and can be held. */
  readonly lasting?: LastingBlobs | undefined

  /** Present when large blobs are kept as lists of chunks that clients can read by themselves. The chunks are blobs too. */
  readonly chunks?: BlobChunks | undefined

  /**
   * Present when a tree of Directories can be read in one request, because each costs a round trip to another server. Wrappers
   * that pass blobs on unchanged pass it on. Not so those that change bytes or keys (`compression`, `dedup`, an isolated
   * instance), because the server does not have the tree as it is; those that divide blobs (`shard`, `size_partitioning`),
   * because each part has only some of its Directories; and `fast_slow`, because its fast tier may have it.
   */
  readonly trees?: FarTrees | undefined

  /** Present when blobs that were put together (`Call.together`) may lie side by side, and are then read as one. */
  readonly sideBySide?: SideBySide | undefined
}

/** Trees of Directories on another server. */
export interface FarTrees {
  /**
   * Reads the Directories from `root` down and passes them to `take`, parents before children, each with bytes that its digest
   * describes. Best effort: Directories that the server sends in another order, or beyond a bound, are left out. A retry may
   * pass some twice. Rejects like a read, and with UNIMPLEMENTED if the server cannot.
   */
  read(root: Digest, take: (directories: readonly DirectoryBytes[]) => Promise<void>, call: Call): Promise<void>
}

export interface DirectoryBytes {
  readonly digest: Digest
  readonly bytes: Buffer
}

/** Blobs that lie one behind the other. */
export interface SideBySide {
  /**
   * How many of these blobs lie one behind the other, from each that does not follow the one before it. The sum is the
   * number of digests: what is absent, or lies elsewhere, counts alone. Not a use.
   */
  runs(digests: readonly Digest[]): readonly number[]

  /**
   * A range of a run, as one blob; counts as a use of each blob in it. Undefined if they lie side by side no more, or if it
   * is not known of one that its bytes are intact: each can still be got by itself.
   */
  get(run: readonly Digest[], range: Range, call: Call): Promise<Blob | undefined>
}

/** Blobs as lists of chunks. A blob that is no larger than the largest chunk is a chunk itself. */
export interface BlobChunks {
  /** How the store cuts blobs. */
  readonly chunking: Chunking

  /** The chunks of a larger blob, none larger than the largest of `chunking`. Rejects with NOT_FOUND. */
  listOf(digest: Digest, call: Call): Promise<ChunkList>

  /**
   * Keeps a larger blob as these chunks, which are there: they are read and checked against its digest, and are no larger
   * than the largest of `chunking`. Rejects with INVALID_ARGUMENT if they are another blob, NOT_FOUND if one is gone.
   */
  splice(digest: Digest, list: ChunkList, call: Call): Promise<void>
}

/** Blobs that outlast the process, for a caller that has acknowledged them and still has work to do with them. */
export interface LastingBlobs {
  /** A folder of the store for notes about the blobs. It may be absent, and belongs to the one caller that claims it. */
  readonly folder: string
  /** False if another caller has claimed the folder. */
  claim(): boolean
  /** Whether notes must survive a power loss, as the blobs do. */
  readonly isSynced: boolean
  /** Length of the largest blob that fits, and of all blobs together; infinite without a limit. */
  readonly maxBytes: number
  /** Protects a blob, present or to come, from eviction. Counted: it needs as many releases. */
  hold(digest: Digest): void
  release(digest: Digest): void
}

/**
 * Why a blob is removed. `unwanted`: from all stores below. `wrong`: a read found it damaged, and it is removed only
 * from the store that the read used. A good copy in another store below then serves reads until it is found wrong too.
 */
export type Removal = 'unwanted' | 'wrong'

/** Facts about a store for its callers. Wrappers pass them on. */
export interface StoreProperties {
  /** Accepts every blob and stores none; its `findMissing` answer carries no information. */
  readonly keepsNothing: boolean
  /** Encodings in which blobs can be stored and read without a conversion. */
  readonly encodings: readonly CompressorName[]
  /** Returns an action result only while every blob it refers to is in a CAS. */
  readonly checksCompleteness: boolean
  /** A read of a whole blob whose bytes changed in the backend fails before its last byte, and the blob is missing then. */
  readonly detectsDamage: boolean
  /** `findMissing` delays the eviction of the blobs it finds (REAPI: it extends their lifetimes). */
  readonly extendsLifetimes: boolean
  /**
   * How long a blob is kept at least after it was written, read or found, in milliseconds, unless the store runs out of
   * room. 0 if the store cannot say.
   */
  readonly retentionMs: number
  /** `sizeOf` finds every blob. */
  readonly findsByHash: boolean
  /** Length of the largest blob that can be stored, if the store has no other; infinite without a limit, or if it cannot say. */
  readonly maxBlobBytes: number
}

export const PLAIN: StoreProperties = {
  keepsNothing: false,
  encodings: [],
  checksCompleteness: false,
  detectsDamage: false,
  extendsLifetimes: false,
  retentionMs: 0,
  findsByHash: false,
  maxBlobBytes: Number.POSITIVE_INFINITY,
}

export interface BlobEntry {
  readonly digest: Digest
  readonly blob: Blob
}

/** One outcome per blob of `putAll`: an error, or undefined for a stored blob. */
export type Outcomes = readonly (StatusError | undefined)[]

/** Defaults for stores that do not override them. */
export abstract class BaseStore implements Store {
  readonly properties: StoreProperties = PLAIN
  readonly files: BlobFiles | undefined = undefined

  abstract findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch>
  abstract get(digest: Digest, range: Range, call: Call): Promise<Blob>
  abstract put(digest: Digest, blob: Blob, call: Call): Promise<void>
  abstract remove(digest: Digest, why: Removal, call: Call): Promise<void>
  abstract health(call: Call): Promise<HealthStatus>

  lacks(_digest: Digest, _call: Call): boolean {
    return false
  }

  sizeOf(_named: Digest, _call: Call): Promise<number | undefined> {
    return Promise.resolve(undefined)
  }

  evictedMs(_digest: Digest, _call: Call): Promise<number | undefined> {
    return Promise.resolve(undefined)
  }

  putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return boundedMap(entries, LANES, ({ digest, blob }) => outcomeOf(this.put(digest, blob, call)))
  }
}

export const outcomeOf = (work: Promise<void>): Promise<StatusError | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => StatusError.from(error),
  )

/** Reads a whole blob that should be small: more than `maxBytes` is RESOURCE_EXHAUSTED. */
export const getBytes = async (store: Store, digest: Digest, maxBytes: number, call: Call): Promise<Buffer> => {
  const blob = await store.get(digest, WHOLE, call)
  return blob.bytes(maxBytes, call)
}

export const putBytes = (store: Store, digest: Digest, bytes: Buffer, call: Call): Promise<void> =>
  store.put(digest, Blob.ofBytes(bytes), call)

/** Removes a blob, unless the store has no way to: the cache of another server, where it stays until it is evicted or replaced. */
export const removeIfPossible = async (store: Store, digest: Digest, why: Removal, call: Call): Promise<void> => {
  await store.remove(digest, why, call).catch((failure: unknown) => {
    if (!isStatus(failure, 'UNIMPLEMENTED')) throw failure
  })
}

/**
 * `findMissing` with a promise: the present blobs are kept for at least `forMs` from now, as far as `properties` say that
 * the store can. The promise travels with the call, as its invocation does, so every wrapper passes it on.
 */
export const keep = (store: Store, digests: DigestBatch, forMs: number, call: Call): Promise<DigestBatch> =>
  store.findMissing(digests, callWith(call, { keepForMs: Math.max(forMs, call.keepForMs ?? 0) }))

/** The absent ones among `digests`, in their order. */
export const missingOf = async (store: Store, digests: readonly Digest[], call: Call): Promise<readonly Digest[]> =>
  digests.length === 0 ? [] : (await store.findMissing(DigestBatch.of(digests), call)).digests()

/** Blobs as local files. Workers build input roots from them and hand in outputs without copying bytes. */
export interface BlobFiles {
  /**
   * Protects these blobs from eviction until the lease is released, whatever the eviction policy says. The lease lists
   * those that are absent now. Leased blobs cannot become missing while the lease is held.
   */
  lease(digests: readonly Digest[], call: Call): Promise<BlobLease>

  /**
   * The file that a local process links to or copies (`linkBlob`), executable or not. Rejects with NOT_FOUND when the
   * blob is absent.
   */
  locate(digest: Digest, isExecutable: boolean): Promise<LocatedBlob>

  /**
   * Fetches an absent blob from the store behind, without passing its bytes to the caller. Concurrent callers share one
   * fetch. Rejects with NOT_FOUND when no store has it; a store with none behind rejects for every absent blob. Extend
   * the lease afterwards: until then the blob may be evicted again.
   */
  populate(digest: Digest, call: Call): Promise<void>

  /**
   * Fetches the Directories from `root` down that are absent from the store behind, in few requests, so that reading them
   * one level after the other costs no round trips. Best effort: what is missing afterwards is read as usual. Rejects only if
   * the call is cancelled. Absent if there is never a far store behind. `onArrived` receives the Directories that were absent, as
   * they come; a store in another process does not call it.
   */
  populateTree?(root: Digest, call: Call, onArrived?: (directories: readonly DirectoryBytes[]) => void): Promise<void>

  /**
   * Removes the local file of a blob that a process changed. Another file of the blob whose bytes are still right stays, and
   * so does the copy of a store behind. A lease remains: a blob without another copy is absent until it is populated or
   * written again. Succeeds if the blob is absent.
   */
  drop(digest: Digest, call: Call): Promise<void>

  /**
   * Links a file to `destination` that consists of these blobs in this order, of which each has been checked, for
   * `adopt` of another store. Undefined if there is none. Absent if the store never has such files.
   */
  readonly linkTogether?: (digests: readonly Digest[], destination: string) => Promise<FinishedFile | undefined>

  /** Length of the largest file that `adopt` takes; infinite if there is no limit or it is unknown. */
  maxBlobBytes(call: Call): Promise<number>

  /** Reserves a path for a new file that may become a blob. The caller must remove a file that is never adopted. */
  reserve(call: Call): Promise<ReservedFile>

  /**
   * `put` of a finished file at a reserved path. The store owns the file from then on. The caller guarantees that the
   * bytes match the digest; INVALID_ARGUMENT when the file differs from `file`. After a rejection the file may be gone.
   */
  adopt(digest: Digest, file: FinishedFile, call: Call): Promise<void>
}

export interface BlobLease {
  readonly missing: readonly Digest[]
  /** Adds blobs that arrived since. Returns those still absent. */
  extend(digests: readonly Digest[]): Promise<readonly Digest[]>
  release(): void
}

/** The bytes of a small blob without a file, or its current file. Never write to either. */
export type LocatedBlob =
  | { readonly bytes: Buffer }
  | {
      readonly path: string
      readonly sizeBytes: number
      readonly mtimeMs: number
      /** Whether the blob is lost if a process changes this file, because the store has no other copy. */
      readonly isOnlyCopy?: boolean
    }

export interface ReservedFile {
  readonly path: string
  /** Whether the bytes must be on disk before the file is adopted. */
  readonly isSynced: boolean
  /** For bytes of a client: counts them before they are written, and is released once the file is adopted or removed. */
  readonly inFlight: InFlight
}

/** A file at a reserved path that has no writer any more. */
export interface FinishedFile {
  /** Whether it is a link to a file of another store, which never changes it. */
  readonly isShared?: boolean
  readonly path: string
  readonly sizeBytes: number
  /** CRC-32 of its bytes. */
  readonly checksum: number
  readonly mtimeMs: number
}
