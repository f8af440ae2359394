import { access, constants, open, unlink } from 'node:fs/promises'
import { decimalSize } from '../../../base/decimal-size.js'
import { errnoOf, fileFailure } from '../../../base/errno.js'
import { freeBytesOf } from '../../../base/free-bytes.js'
import type { HealthStatus } from '../../../base/health.js'
import { counted, sizeText } from '../../../base/quantities.js'
import type { StatusError } from '../../../base/status-error.js'
import type { StoreUsage } from '../../../blobs/meter.js'
import {
  BaseStore,
  type BlobEntry,
  type FinishedFile,
  type LastingBlobs,
  type Outcomes,
  PLAIN,
  type Removal,
  type StoreProperties,
} from '../../../blobs/store.js'
import type { BytesInFlight } from '../../../ledger/bytes-in-flight.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import { type Call, cancelledBy } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import type { BlobForm } from '../../../stream/blob/form.js'
import type { Range } from '../../../stream/path.js'
import type { Semaphore } from '../../../work/semaphore.js'
import { ABSENT } from '../../index/blob-index.js'
import type { Claimant } from '../../index/promises.js'
import { putInGroups } from '../../partition/put-in-groups.js'
import type { Catalog } from './catalog.js'
import { commitDrafts } from './commit-drafts.js'
import type { Refused } from './commit-group.js'
import { type WriteParts, writeBlob } from './files/write-blob.js'
import type { Inspection } from './inspection.js'
import { LinkedFiles } from './linked-files.js'
import { keyFor } from './located.js'
import { PutTogether } from './packing/put-together.js'
import { Runs } from './packing/runs.js'
import { putSmall } from './put-small.js'
import { Reads } from './reads.js'
import type { Patrol } from './upkeep/patrol.js'
import type { Shortages } from './upkeep/shortages.js'

const WRITE_FRESH_MS = 1000

export interface FilesystemStoreParts {
  readonly inspection: Inspection
  /** Limits concurrent file writers. */
  readonly writeSlots: Semaphore
  /** Bytes per read from a file. */
  readonly bufferBytes: number
  /** Largest blob kept in the log. */
  readonly smallBytes: number
  readonly patrol: Patrol
  readonly shortages: Shortages
  /** Files of blobs that are not complete. */
  readonly inFlight: BytesInFlight
}

/**
 * Keeps small blobs as records of a log and larger ones as files. `get` itself opens the file, because only the disk
 * knows whether the blob still exists, and NOT_FOUND must come before the blob. The blob holds the descriptor until it
 * is read or discarded.
 *
 * Guarantees: a `put` that resolved survives any end of the process, kill -9 included. With `durability: power_loss` it
 * also survives a power loss. Without it, a power loss may lose the last seconds of writes; a file truncated by it is
 * noticed and is a miss. A damaged record is never returned. A damaged file can be returned at most once, if it was not
 * verified since the start, and that read ends with an error.
 */
export class FilesystemStore extends BaseStore {
  override readonly files: LinkedFiles
  readonly lasting: LastingBlobs
  override readonly properties: StoreProperties
  readonly #catalog: Catalog
  readonly sideBySide: Runs
  readonly #reads: Reads
  readonly #together: PutTogether
  readonly #parts: FilesystemStoreParts
  readonly #writeParts: WriteParts
  readonly #one = {
    put: (digest: Digest, blob: Blob, call: Call) => this.put(digest, blob, call),
    tell: (digest: Digest, thrown: unknown) => this.#tell(digest, thrown),
  }
  #checking: Promise<HealthStatus> | undefined
  /** When a test file was last written and deleted. Reset by a later failure. */
  #couldWriteMs = Number.NEGATIVE_INFINITY
  /** At the last check. */
  #diskFreeBytes: number | undefined

  constructor(catalog: Catalog, parts: FilesystemStoreParts) {
    super()
    this.#catalog = catalog
    this.#parts = parts
    const { layout, index, syncs } = catalog
    const { writeSlots, smallBytes, inFlight } = parts
    this.#writeParts = {
      ...{ writeSlots, smallBytes, inFlight, isSynced: syncs !== undefined },
      nextTempPath: () => layout.nextTempPath(),
      fits: (storedBytes) => index.fits(storedBytes),
    }
    this.#reads = new Reads(catalog, parts.inspection, parts.bufferBytes)
    this.files = new LinkedFiles(catalog, parts.inspection, inFlight)
    this.sideBySide = new Runs(catalog, parts.inspection, parts.bufferBytes)
    this.#together = new PutTogether(catalog, parts.writeSlots, {
      putForm: (digest, form, call) => this.#putForm(digest, form, call),
      telling: (digest, write) => this.#telling(digest, write),
    })
    this.lasting = lastingBlobs(catalog)
    const { retentionMs, maxBlobBytes } = index
    const facts = { detectsDamage: true, extendsLifetimes: true, findsByHash: true }
    this.properties = { ...PLAIN, ...facts, retentionMs, maxBlobBytes }
  }

  async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.#catalog.index.missing(digests, call)
  }

  override lacks(digest: Digest): boolean {
    return this.#catalog.index.find(digest) === ABSENT
  }

  override async sizeOf(named: Digest): Promise<number | undefined> {
    return this.#catalog.index.sizeOf(named)
  }

  override async evictedMs(digest: Digest): Promise<number | undefined> {
    return this.#catalog.index.evictedMs(digest)
  }

  get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.#reads.get(digest, range, call)
  }

  async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const cancelled = cancelledBy(call)
    if (cancelled !== undefined) {
      blob.discard()
      throw cancelled
    }
    try {
      const sizeBytes = blob.sizeBytes ?? (digest.describesContent ? digest.sizeBytes : 0)
      this.#catalog.index.checkRoomFor(digest, sizeBytes)
    } catch (error) {
      blob.discard()
      throw error
    }
    const key = keyFor(digest, blob)
    await this.#putForm(key, await blob.take(), call)
  }

  #putForm(digest: Digest, form: BlobForm, call: Call): Promise<void> {
    return this.#telling(digest, () =>
      writeBlob(digest, form, call, this.#writeParts, (written) => this.#catalog.commit(digest, written, call)),
    )
  }

  /** Keeps a file that a service thread has written. If it rejects, the file is gone. */
  async commit(digest: Digest, file: FinishedFile, call: Call): Promise<void> {
    await this.#telling(digest, async () => {
      try {
        this.#catalog.index.checkRoomFor(digest, file.sizeBytes)
      } catch (error) {
        await unlink(file.path).catch(() => {})
        throw error
      }
      await this.#catalog.commit(digest, file, call)
    })
  }

  /** Keeps small blobs whose records a service thread has drafted. Returns those that it could not. */
  async commitDrafts(drafts: Uint8Array, claimant: Claimant): Promise<readonly Refused[]> {
    const refused = await commitDrafts(this.#catalog, drafts, claimant)
    return refused.map((one) => ({ ...one, error: this.#tell(one.digest, one.error) }))
  }

  /** Appends small blobs together, so that one write covers all of them. */
  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const isSmall = ({ blob: { sizeBytes } }: BlobEntry): boolean =>
      sizeBytes !== undefined && sizeBytes <= this.#parts.smallBytes
    const { together } = call
    // A small one goes where the larger ones go that it belongs to: only a whole pack can be linked.
    if (together !== undefined && (this.#catalog.packs.isBegun(together) || !entries.every(isSmall)))
      return this.#together.put(entries, together, call)
    return putInGroups(entries, isSmall, (areSmall, some) =>
      areSmall ? putSmall(this.#catalog, some, call, this.#one) : super.putAll(some, call),
    )
  }

  remove(digest: Digest, _why: Removal, _call: Call): Promise<void> {
    return this.#catalog.drop(digest)
  }

  /** Concurrent callers share one check, so that a disk that hangs does not collect requests. */
  health(): Promise<HealthStatus> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async #check(): Promise<HealthStatus> {
    const { layout, index, damagedCount } = this.#catalog
    try {
      const folders = [layout.contentPath, layout.tempPath]
      await Promise.all([...folders.map((folder) => access(folder, constants.W_OK)), this.#tryToWrite()])
      this.#diskFreeBytes = await freeBytesOf(layout.contentPath)
    } catch (error) {
      const reason = errnoOf(error) === 'ENOENT' ? 'its folder is gone' : fileFailure(error, 'could not write').message
      return { state: 'Failed', message: 'cannot write and delete a file', error: reason }
    }
    const { failure, hasGoneRound } = this.#parts.patrol
    if (failure !== undefined) {
      return { state: 'Failed', message: 'cannot read a folder of its files', error: failure }
    }
    const damage = damagedCount > 0 ? `, found ${counted(damagedCount, 'damaged one')} since the start` : ''
    const kept = `keeps ${counted(index.count, 'blob')} of ${sizeText(index.bytes)}${damage}`
    if (!hasGoneRound) return { state: 'Initializing', message: kept }
    const shortage = this.#shortage()
    return shortage === undefined ? { state: 'Ok', message: kept } : { state: 'Warning', message: `${kept}${shortage}` }
  }

  /** What the disk lacks to hold `max_bytes`. */
  #shortage(): string | undefined {
    const { maxBytes, sizeBytes } = this.#catalog.index.usage
    const roomBytes = sizeBytes + (this.#diskFreeBytes ?? Number.POSITIVE_INFINITY)
    if (maxBytes === undefined || maxBytes <= roomBytes) return undefined
    return `, may keep ${decimalSize(maxBytes)}, but its disk has room for ${decimalSize(roomBytes)}: lower max_bytes or make room`
  }

  /**
   * Caches a success for WRITE_FRESH_MS: any client may ask, and creating and deleting a file waits for the disk's
   * journal.
   */
  async #tryToWrite(): Promise<void> {
    const nowMs = performance.now()
    if (nowMs - this.#couldWriteMs < WRITE_FRESH_MS) return
    await writeAndDelete(this.#catalog.layout.nextTempPath())
    this.#couldWriteMs = nowMs
  }

  usage(): StoreUsage {
    const { index, unlinker } = this.#catalog
    return { ...index.usage, evictFailureCount: unlinker.failureCount, diskFreeBytes: this.#diskFreeBytes }
  }

  /** A failed write is noted before its caller gets it. */
  async #telling(digest: Digest, write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      throw this.#tell(digest, error)
    }
  }

  #tell(digest: Digest, thrown: unknown): StatusError {
    const error = fileFailure(thrown, `could not write blob ${digest.key}`)
    this.#parts.shortages.met(digest, error)
    this.#couldWriteMs = Number.NEGATIVE_INFINITY
    return error
  }
}

const lastingBlobs = ({ layout, index, leases, syncs }: Catalog): LastingBlobs => {
  let isClaimed = false
  return {
    folder: layout.notesPath,
    claim: () => {
      if (isClaimed) return false
      isClaimed = true
      return true
    },
    isSynced: syncs !== undefined,
    maxBytes: index.maxBlobBytes,
    hold: (digest) => leases.hold(digest),
    release: (digest) => leases.release(digest),
  }
}

/** Uses as few thread pool operations as possible, because the probe waits for each. */
const writeAndDelete = async (path: string): Promise<void> => {
  const file = await open(path, 'wx')
  const written = file.write(new Uint8Array(1)).finally(() => file.close())
  const [deleted] = await Promise.allSettled([unlink(path), written])
  await written
  if (deleted.status === 'rejected') throw deleted.reason
}
