import { unlink } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Clock } from '../../base/clock.js'
import type { Log } from '../../base/log.js'
import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import { ABSENT, type BlobIndex } from '../index/blob-index.js'
import type { FinishedFile } from '../store.js'
import { Commits } from './commits.js'
import { Eviction } from './eviction.js'
import type { FolderSyncs } from './files/folder-syncs.js'
import { Marks } from './files/marks.js'
import { placeFile } from './files/place-file.js'
import { Unlinker } from './files/unlinker.js'
import type { Layout } from './layout.js'
import { Leases } from './leases.js'
import { type Located, notFound } from './located.js'
import { offsetIn } from './records/location.js'
import { type RecordKind, recordBytes, sizeOf } from './records/record.js'
import type { RecordLog } from './records/record-log.js'
import type { Segment } from './records/segment.js'

/** A small blob in memory: a record never changes, so it is right for as long as the index says the same location. */
interface RecentRecord {
  readonly location: number
  readonly bytes: Buffer
}

export interface ShelfParts {
  readonly layout: Layout
  readonly index: BlobIndex
  readonly records: RecordLog
  /** Memory for small blobs that were read lately. */
  readonly recentBytes: number
  /** Set where a finished write has to survive a power loss. */
  readonly syncs: FolderSyncs | undefined
  readonly clock: Clock
  readonly log: Log
}

/**
 * The blobs on disk and the index that knows them, kept in step. Every blob has a record in the log: a small one is in it,
 * of a large one it says that there is a file. What the index says is what reading the log from its beginning would
 * say, except that evicted blobs which are only in the log are left out without a word there.
 */
export class Shelf {
  readonly layout: Layout
  readonly index: BlobIndex
  readonly records: RecordLog
  readonly leases: Leases
  readonly unlinker: Unlinker
  readonly marks = new Marks()
  /** Small blobs that were read lately, by the keys of their digests. */
  readonly recent: LruCache<RecentRecord>
  readonly commits = new Commits()
  readonly eviction: Eviction
  readonly syncs: FolderSyncs | undefined
  readonly #clock: Clock
  readonly #log: Log
  #isClosed = false
  /** Blobs were evicted without a record of it: the log may still hold a blob that the index lacks. */
  #hasLeft = false

  constructor({ layout, index, records, recentBytes, syncs, clock, log }: ShelfParts) {
    this.layout = layout
    this.index = index
    this.records = records
    this.syncs = syncs
    this.#clock = clock
    this.#log = log
    this.eviction = new Eviction(this, clock)
    this.leases = new Leases(this)
    this.unlinker = new Unlinker(log)
    this.recent = new LruCache(recentBytes)
    records.onCut = (segment) => this.#dropCut(segment)
  }

  /** Where a blob is, which counts as a use; rejects with NOT_FOUND. */
  locate(digest: Digest): Located {
    const located = this.find(digest)
    if (located === undefined) throw notFound(digest)
    this.index.use(digest)
    return located
  }

  /**
   * Drops a blob whose file or record turned out to be wrong. A commit or a removal may have come between the index and the
   * disk: one under way is waited for, and only what is still believed is wrong.
   */
  async heal(located: Located): Promise<void> {
    if (this.isCommitting(located.digest)) await this.commits.settled(located.digest)
    else if (this.isAsLocated(located)) await this.remove(located)
  }

  /** Whether nobody has replaced or removed a blob since it was located, or is about to. */
  isAsLocated(located: Located): boolean {
    return this.isThere(located) && !this.isCommitting(located.digest)
  }

  /** Whether nobody has replaced or removed a blob since it was located. */
  isThere({ digest, slot, location }: Located): boolean {
    return this.index.find(digest) === slot && this.index.extraOf(slot) === location
  }

  /** Keeps a small blob. Resolves once it is committed and visible. */
  commitBytes(digest: Digest, bytes: Buffer, signal: AbortSignal): Promise<void> {
    const content = { storedBytes: bytes.length, checksum: crc32(bytes), bytes, signal }
    return this.#commit(digest, () => this.#append('bytes', digest, content))
  }

  /**
   * Keeps a file, which is gone if that fails: moves it to where it belongs, and makes it visible. A kill -9 between the two
   * leaves bytes that are not those of the record where a file of the same length was replaced: a miss.
   */
  async commitFile(digest: Digest, { path, sizeBytes: storedBytes, checksum, mtimeMs }: FinishedFile): Promise<void> {
    const place = this.layout.blobPath(digest, storedBytes)
    const run = async (): Promise<void> => {
      await this.unlinker.settled(place)
      try {
        await placeFile(place, path, this.syncs)
        await this.#append('file', digest, { storedBytes, checksum })
      } catch (error) {
        this.#distrust(digest, place)
        throw error
      }
      const slot = this.index.find(digest)
      if (slot !== ABSENT) this.marks.set(slot, mtimeMs)
    }
    try {
      await this.#commit(digest, run)
    } catch (error) {
      // It may have been moved already.
      await unlink(path).catch(() => {})
      throw error
    }
  }

  /** A commit failed that may have put its file in the place of another. */
  #distrust(digest: Digest, path: string): void {
    const located = this.find(digest)
    if (located?.path === path) this.marks.clear(located.slot)
    else void this.unlinker.unlink(path)
  }

  isCommitting(digest: Digest): boolean {
    return this.commits.has(digest)
  }

  /** Forgets a blob, and what is kept of it, for good. Absent is fine. */
  async drop(digest: Digest): Promise<void> {
    while (this.isCommitting(digest)) await this.commits.settled(digest)
    const located = this.find(digest)
    if (located !== undefined) await this.remove(located)
    else if (this.#hasLeft) await this.#append('removal', digest, { storedBytes: 0, checksum: 0 })
  }

  /** Settles when nothing is being committed or deleted. No commit begins from now on: what a checkpoint says then stays true. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.commits.idle()
    await this.eviction.idle()
    await this.records.idle()
    await this.unlinker.idle()
  }

  /** Where the blob of a slot is. */
  at(slot: number, digest = this.index.digestOf(slot)): Located {
    const storedBytes = this.index.storedBytesOf(slot)
    const isInline = this.index.isInline(slot)
    const path = isInline ? '' : this.layout.blobPath(digest, storedBytes)
    return { digest, slot, storedBytes, location: this.index.extraOf(slot), isInline, path }
  }

  /** Where a blob is; undefined when it is not here. Counts as no use. */
  find(digest: Digest): Located | undefined {
    const slot = this.index.find(digest)
    return slot === ABSENT ? undefined : this.at(slot, digest)
  }

  /** Commits of one digest run in turn. */
  async #commit(digest: Digest, run: () => Promise<void>): Promise<void> {
    while (this.isCommitting(digest)) await this.commits.settled(digest)
    if (this.#isClosed) throw new StatusError('UNAVAILABLE', `could not keep blob ${digest.key}: the store is closed`)
    const work = run().finally(() => this.commits.end(digest))
    this.commits.begin(digest, work)
    await work
    this.eviction.start()
  }

  #append(
    kind: Exclude<RecordKind, 'touches'>,
    digest: Digest,
    content: { storedBytes: number; checksum: number; bytes?: Buffer; signal?: AbortSignal },
  ): Promise<void> {
    const placed = (location: number): void => {
      if (kind !== 'removal') this.#arrive(digest, kind, content.storedBytes, location)
    }
    return this.records.append({ kind, digest, ...content, writtenMs: this.#clock.now(), placed })
  }

  /** Makes a blob visible whose record is written. */
  #arrive(digest: Digest, kind: 'bytes' | 'file', storedBytes: number, location: number): void {
    const replaced = this.find(digest)
    if (replaced !== undefined) this.#forget(replaced, kind === 'file' && storedBytes === replaced.storedBytes)
    const slot = this.index.insert(digest, storedBytes, kind === 'bytes')
    this.index.setExtra(slot, location)
    this.records.need(location, sizeOf({ kind, digest, storedBytes }))
    this.leases.arrived(digest, slot)
  }

  /** Takes leave of what is kept of a blob, but for its place in the index. */
  #forget(
    { digest, slot, storedBytes, location, isInline, path }: Located,
    keepsFile: boolean,
    after?: Promise<void>,
  ): void {
    this.records.release(location, sizeOf({ kind: isInline ? 'bytes' : 'file', digest, storedBytes }))
    if (isInline) {
      this.recent.delete(digest.key)
      return
    }
    this.marks.clear(slot)
    if (this.index.hasTwin(slot)) void this.unlinker.unlink(this.layout.twinPath(digest, storedBytes), after)
    if (!keepsFile) void this.unlinker.unlink(path, after)
  }

  /** Forgets the blobs whose records a segment lost, so that clients upload them again. */
  #dropCut(segment: Segment): void {
    for (const slot of this.index.slots()) {
      const location = this.index.extraOf(slot)
      if (this.records.segmentAt(location) !== segment) continue
      const located = this.at(slot)
      const kind = located.isInline ? 'bytes' : 'file'
      const bytes = recordBytes(sizeOf({ ...located, kind }), segment.format)
      if (offsetIn(location) + bytes <= segment.endBytes) continue
      this.#forget(located, false)
      this.index.remove(slot)
    }
  }

  /** Takes leave of a blob that is only in the log, without a word there: after a kill -9 it may be back. */
  leave(located: Located): void {
    this.#hasLeft = true
    this.#forget(located, false)
    this.index.remove(located.slot)
  }

  /** Removes a blob for good: the log says so before its file goes. Visible at once. Never rejects. */
  async remove(located: Located): Promise<void> {
    const removal = this.#append('removal', located.digest, { storedBytes: 0, checksum: 0 })
    // Without it a kill -9 brings back the blob of the log, or a miss in place of its file.
    const told = removal.catch((error: unknown) => this.#log.warn('could not note a removal', { error }))
    this.#forget(located, false, told)
    this.index.remove(located.slot)
    await told
    if (!located.isInline) await this.unlinker.settled(located.path)
  }
}
