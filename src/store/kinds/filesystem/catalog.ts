import { unlink } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Clock } from '../../../base/clock.js'
import { LruCache } from '../../../base/lru-cache.js'
import { StatusError } from '../../../base/status-error.js'
import type { FinishedFile } from '../../../blobs/store.js'
import type { Log } from '../../../log/log.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import { Semaphore } from '../../../work/semaphore.js'
import { ABSENT, type BlobIndex } from '../../index/blob-index.js'
import type { BlobKind } from '../../index/entries.js'
import type { Claimant } from '../../index/promises.js'
import { Commits } from './commits.js'
import { Eviction } from './eviction.js'
import type { Written } from './files/file-writer.js'
import type { FolderSyncs } from './files/folder-syncs.js'
import { placeFile } from './files/place-file.js'
import { Unlinker } from './files/unlinker.js'
import { VerifiedTimes } from './files/verified-times.js'
import type { Layout } from './layout.js'
import { Leases } from './leases.js'
import { type Located, notFound } from './located.js'
import { type Packed, Packs } from './packs/packs.js'
import type { ReadCatalog, RecentRecord, Wrong } from './read-catalog.js'
import { offsetIn } from './records/location.js'
import { encodePlace } from './records/place.js'
import { type RecordKind, recordBytes, sizeOf } from './records/record.js'
import type { RecordLog } from './records/record-log.js'
import type { Segment } from './records/segment.js'

export interface CatalogParts {
  readonly layout: Layout
  readonly index: BlobIndex
  readonly records: RecordLog
  /** Memory for small blobs that were read recently. */
  readonly recentBytes: number
  /** Set when a finished write must survive a power loss. */
  readonly syncs: FolderSyncs | undefined
  readonly clock: Clock
  readonly log: Log
}

interface AppendedContent {
  readonly storedBytes: number
  readonly checksum: number
  readonly bytes?: Buffer
  readonly call?: Call
  /** Called in the step in which the index has the blob. */
  readonly onArrived?: (slot: number) => void
}

/**
 * The blobs on disk, and the index of them, kept consistent. Every blob has a record in the log: the record of a small
 * blob contains it, the record of a large one refers to its file. Replaying the log from its beginning gives the
 * content of the index, except that evicted small blobs have no removal in the log.
 */
export class Catalog implements ReadCatalog {
  readonly layout: Layout
  readonly index: BlobIndex
  readonly records: RecordLog
  readonly leases: Leases
  readonly unlinker: Unlinker
  readonly packs: Packs
  readonly verifiedTimes = new VerifiedTimes()
  /** Small blobs read recently, by digest key. */
  readonly recent: LruCache<RecentRecord>
  readonly commits = new Commits()
  readonly eviction: Eviction
  readonly syncs: FolderSyncs | undefined
  readonly clock: Clock
  readonly #log: Log
  /** Held while records are moved: of two copies of a record at a time the later one might have the older place. */
  readonly moves = new Semaphore({ permits: 1 })
  /** Blobs found damaged since the start, by whichever thread. */
  damagedCount = 0
  #isClosed = false
  /** Set when blobs were evicted without a removal, or found no room in the index: the log may hold a blob that the index lacks. */
  #hasLeft = false

  constructor({ layout, index, records, recentBytes, syncs, clock, log }: CatalogParts) {
    this.layout = layout
    this.index = index
    this.records = records
    this.syncs = syncs
    this.clock = clock
    this.#log = log
    this.eviction = new Eviction(this, clock)
    this.leases = new Leases(this)
    this.unlinker = new Unlinker(log)
    this.packs = new Packs({ layout, unlinker: this.unlinker, syncs })
    this.recent = new LruCache(recentBytes)
    records.onCut = (segment) => this.#dropCut(segment)
  }

  /** Locates a blob, which counts as a use by a call. Throws NOT_FOUND. */
  locate(digest: Digest, claimant?: Claimant): Located {
    const located = this.find(digest)
    if (located === undefined) throw notFound(digest)
    this.index.touchFor(located.slot, claimant)
    return located
  }

  /**
   * Drops a blob whose file or record turned out to be wrong. A commit or a removal may have happened since it was
   * located. A commit in flight is waited for, and the blob is dropped only if the index still has that location.
   */
  async dropDamaged(located: Located, why: Wrong): Promise<void> {
    if (why === 'damaged') this.damagedCount++
    if (this.isCommitting(located.digest)) await this.commits.settled(located.digest)
    else if (this.isAsLocated(located)) await this.remove(located)
  }

  /** Whether a located blob was neither replaced nor removed since, and no commit of it is in flight. */
  isAsLocated(located: Located): boolean {
    return this.isThere(located) && !this.isCommitting(located.digest)
  }

  /** Whether a located blob was neither replaced nor removed since. */
  isThere({ digest, slot, location }: Located): boolean {
    return this.index.find(digest) === slot && this.index.extraOf(slot) === location
  }

  /** Stores what was written, and keeps it as the call claims. Resolves once it is committed and visible. */
  async commit(digest: Digest, written: Written, call: Call): Promise<void> {
    if (Buffer.isBuffer(written)) await this.commitBytes(digest, written, call)
    else await this.commitFile(digest, written)
    this.index.holdFor(digest, call)
  }

  /** Stores a small blob. Resolves once it is committed and visible. */
  commitBytes(digest: Digest, bytes: Buffer, call: Call): Promise<void> {
    const content = { storedBytes: bytes.length, checksum: crc32(bytes), bytes, call }
    return this.#commit(digest, () => this.#append('bytes', digest, content))
  }

  /**
   * Stores a finished file: moves it to its path and makes the blob visible. On failure the file is gone. If the file
   * replaces one of the same length, a kill -9 between the two steps leaves bytes that do not match the record: a miss.
   */
  async commitFile(digest: Digest, { path, sizeBytes: storedBytes, checksum, mtimeMs }: FinishedFile): Promise<void> {
    const blobPath = this.layout.blobPath(digest, storedBytes)
    const run = async (): Promise<void> => {
      await this.unlinker.settled(blobPath)
      try {
        await placeFile(blobPath, path, this.syncs)
        await this.#append('file', digest, { storedBytes, checksum })
      } catch (error) {
        this.#distrust(digest, blobPath)
        throw error
      }
      const slot = this.index.find(digest)
      if (slot !== ABSENT) this.verifiedTimes.set(slot, mtimeMs)
    }
    try {
      await this.#commit(digest, run)
    } catch (error) {
      // The file may have been moved already.
      await unlink(path).catch(() => {})
      throw error
    }
  }

  /** Stores a blob whose bytes were written to a pack. Resolves once it is committed and visible. */
  async commitPacked(digest: Digest, { pack, offset }: Packed, bytes: Buffer, call: Call): Promise<void> {
    const place = { pack: pack.number, offset }
    const content = { storedBytes: bytes.length, checksum: crc32(bytes) }
    const onArrived = (slot: number): void => {
      this.packs.arrived(slot, place, content)
      this.packs.verified(slot)
    }
    const appended = { ...content, bytes: encodePlace(place), call, onArrived }
    await this.#commit(digest, () => this.#append('packed', digest, appended))
    this.index.holdFor(digest, call)
  }

  /** Where a packed blob is; its record is read if that is not known yet. Undefined if the record is damaged. */
  async placeOf(located: Located): Promise<Packed | undefined> {
    const { slot, location, digest } = located
    const known = this.packs.placeOf(slot)
    if (known !== undefined) return known
    const record = await this.records.readPacked(location, digest)
    if (!this.isThere(located)) return undefined
    if (record !== undefined && this.packs.placeOf(slot) === undefined)
      this.packs.arrived(slot, record.place, record.head)
    return this.packs.placeOf(slot)
  }

  isVerified({ slot }: Located): boolean {
    return this.packs.isVerified(slot)
  }

  verified({ slot }: Located): void {
    this.packs.verified(slot)
  }

  /** Marks a file as unverified after a failed commit, which may have replaced it. */
  #distrust(digest: Digest, path: string): void {
    const located = this.find(digest)
    if (located?.path === path) this.verifiedTimes.clear(located.slot)
    else void this.unlinker.unlink(path)
  }

  isCommitting(digest: Digest): boolean {
    return this.commits.has(digest)
  }

  /** Removes a blob permanently. Succeeds if it is absent. */
  async drop(digest: Digest): Promise<void> {
    while (this.isCommitting(digest)) await this.commits.settled(digest)
    const located = this.find(digest)
    if (located !== undefined) await this.remove(located)
    else if (this.#hasLeft) await this.#append('removal', digest, { storedBytes: 0, checksum: 0 })
  }

  /** Resolves when no commit or deletion is in flight. No commit begins afterwards, so a checkpoint stays accurate. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.commits.idle()
    await this.eviction.stop()
    await this.records.idle()
    await this.unlinker.idle()
    await this.packs.close()
  }

  /** The location of the blob in a slot. */
  at(slot: number, asked?: Digest): Located {
    const isHash = this.index.isHash(slot)
    const digest = asked ?? (isHash ? this.index.digestOf(slot) : this.index.digestOf(slot).asKey())
    const storedBytes = this.index.storedBytesOf(slot)
    const kind = this.index.kindOf(slot)
    const path = kind === 'file' ? this.layout.blobPath(digest, storedBytes) : ''
    return { digest, slot, storedBytes, location: this.index.extraOf(slot), kind, path, isHash }
  }

  noteHash(located: Located): void {
    if (this.isThere(located)) this.index.noteHash(located.slot)
  }

  /** Locates a blob; undefined when it is absent. Does not count as a use. */
  find(digest: Digest): Located | undefined {
    const slot = this.index.find(digest)
    return slot === ABSENT ? undefined : this.at(slot, digest)
  }

  /** Throws UNAVAILABLE if nothing can be stored any more. */
  expectOpen(digest: Digest): void {
    if (this.#isClosed) throw new StatusError('UNAVAILABLE', `could not keep blob ${digest.key}: the store is closed`)
  }

  /** Runs a commit after earlier ones of the same digest. */
  async #commit(digest: Digest, run: () => Promise<void>): Promise<void> {
    while (this.isCommitting(digest)) await this.commits.settled(digest)
    this.expectOpen(digest)
    const work = run().finally(() => this.commits.end(digest))
    this.commits.begin(digest, work)
    await work
    this.eviction.start()
  }

  #append(
    kind: Exclude<RecordKind, 'touches'>,
    digest: Digest,
    { onArrived, ...content }: AppendedContent,
  ): Promise<void> {
    const onLocated = (location: number): void => {
      if (kind === 'removal') return
      const slot = this.arrive(digest, kind, content.storedBytes, location)
      onArrived?.(slot)
    }
    return this.records.append({ kind, digest, ...content, writtenMs: this.clock.now(), onLocated })
  }

  /** Makes a blob visible after its record was written. Returns its slot. */
  arrive(digest: Digest, kind: BlobKind, storedBytes: number, location: number): number {
    const replaced = this.find(digest)
    if (replaced !== undefined) this.#forget(replaced, kind === 'file' && storedBytes === replaced.storedBytes)
    const slot = this.#inserted(digest, storedBytes, kind, location)
    this.records.need(location, sizeOf({ kind, digest, storedBytes }))
    this.leases.arrived(digest, slot)
    return slot
  }

  /** There may be no memory for one more blob in the index. */
  #inserted(digest: Digest, storedBytes: number, kind: BlobKind, location: number): number {
    try {
      return this.index.insert(digest, storedBytes, kind, location)
    } catch (error) {
      this.#hasLeft = true
      throw error
    }
  }

  /** Releases everything a blob has, except its slot in the index. */
  #forget(
    { digest, slot, storedBytes, location, kind, path }: Located,
    keepsFile: boolean,
    after?: Promise<void>,
  ): void {
    this.records.release(location, sizeOf({ kind, digest, storedBytes }))
    if (kind === 'bytes') {
      this.recent.delete(digest.key)
      return
    }
    if (kind === 'packed') {
      this.packs.left(slot, storedBytes, after)
      return
    }
    this.verifiedTimes.clear(slot)
    if (this.index.hasExecutable(slot))
      void this.unlinker.unlink(this.layout.executablePath(digest, storedBytes), after)
    if (!keepsFile) void this.unlinker.unlink(path, after)
  }

  /** Drops the blobs whose records a segment lost, so that clients upload them again. */
  #dropCut(segment: Segment): void {
    for (const slot of this.index.slots()) {
      const location = this.index.extraOf(slot)
      if (this.records.segmentAt(location) !== segment) continue
      const located = this.at(slot)
      const bytes = recordBytes(sizeOf(located), segment.format)
      if (offsetIn(location) + bytes <= segment.endBytes) continue
      this.#forget(located, false)
      this.index.remove(slot)
    }
  }

  /** Evicts a blob that has only a log record. The log gets no removal, so the blob may be back after kill -9. */
  leave(slot: number): void {
    this.#hasLeft = true
    const { index } = this
    const size = { kind: 'bytes', hashBytes: index.hashBytesOf(slot), storedBytes: index.storedBytesOf(slot) } as const
    this.records.release(index.extraOf(slot), size)
    // The owner of a store reads little where service threads do.
    if (this.recent.size > 0) this.recent.delete(index.digestOf(slot).key)
    index.remove(slot)
  }

  /**
   * Removes a blob permanently. Visible at once. The removal is in the log before the file is deleted. Never rejects.
   */
  async remove(located: Located): Promise<void> {
    const removal = this.#append('removal', located.digest, { storedBytes: 0, checksum: 0 })
    // Without the removal record, a kill -9 restores the blob from the log, or leaves a record without its file: a
    // miss.
    const recorded = removal.catch((error: unknown) => this.#log.warn('could not record a removal', { error }))
    this.#forget(located, false, recorded)
    this.index.remove(located.slot)
    await recorded
    if (located.kind === 'file') await this.unlinker.settled(located.path)
  }
}
