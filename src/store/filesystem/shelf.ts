import { type Stats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Clock } from '../../base/clock.js'
import type { Log } from '../../base/log.js'
import { StatusError } from '../../base/status-error.js'
import { boundedMap } from '../../base/work/bounded-map.js'
import type { Digest } from '../../reapi/digest.js'
import { ABSENT, type BlobIndex } from '../index/blob-index.js'
import { Evictions } from '../index/evictions.js'
import { Commits } from './commits.js'
import { Marks } from './files/marks.js'
import { OpenFile } from './files/open-file.js'
import { isGone, Unlinker } from './files/unlinker.js'
import type { Layout } from './layout.js'
import { Leases } from './leases.js'
import { RecentRecords } from './records/recent-records.js'
import type { RecordKind } from './records/record.js'
import type { RecordLog } from './records/record-log.js'

/** Where a blob is. */
export interface Located {
  readonly digest: Digest
  readonly slot: number
  readonly storedBytes: number
  /** Of the record that holds the blob, or that speaks for its file. */
  readonly location: number
  readonly isInline: boolean
  /** Of its file, where it is one. */
  readonly path: string
}

/** What is to be known of a finished file. */
export interface FinishedFile {
  readonly storedBytes: number
  /** CRC-32 of its bytes. */
  readonly checksum: number
  readonly mtimeMs: number
}

export interface ShelfParts {
  readonly layout: Layout
  readonly index: BlobIndex
  readonly records: RecordLog
  /** Memory for small blobs that were read lately. */
  readonly recentBytes: number
  readonly clock: Clock
  readonly log: Log
}

/** Deletions under way at a time: enough to keep the disk busy, few enough to leave the thread pool to the calls. */
const UNLINKS_MAX = 16

/** Blobs evicted between two breaths: below a millisecond. */
const SLICE = 500

const STATS_AT_A_TIME = 16

/** How often to look again when a blob changes while it is being opened: a commit each time, or a removal. */
export const ATTEMPTS_MAX = 10

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
  readonly recent: RecentRecords
  readonly commits = new Commits()
  readonly evictions = new Evictions()
  /** Whether there may be files in the index whose length nobody has looked at since the power was lost. */
  hasDoubts = false
  readonly #clock: Clock
  readonly #log: Log
  #evicting = Promise.resolve()
  #isEvicting = false
  #unlinkCount = 0
  #damagedCount = 0

  constructor({ layout, index, records, recentBytes, clock, log }: ShelfParts) {
    this.layout = layout
    this.index = index
    this.records = records
    this.#clock = clock
    this.#log = log
    this.leases = new Leases(this)
    this.unlinker = new Unlinker(log)
    this.recent = new RecentRecords(recentBytes)
  }

  /** Blobs found to be other than what was written, since the start. */
  get damagedCount(): number {
    return this.#damagedCount
  }

  /** Looks at those of these files that nobody has looked at since the power was lost. */
  async resolveDoubts(digests: Iterable<Digest>): Promise<void> {
    if (!this.hasDoubts) return
    const doubtful = [...digests].filter((digest) => {
      const slot = this.index.find(digest)
      return slot !== ABSENT && this.index.isDoubtful(slot)
    })
    await boundedMap(doubtful, STATS_AT_A_TIME, async (digest) => {
      const located = this.#located(digest)
      if (located !== undefined) await this.look(located)
    })
  }

  /** Drops a file that is gone, or not as long as it was; one that cannot be looked at stays as it is. */
  async look(located: Located): Promise<void> {
    try {
      const { size } = await stat(located.path)
      if (size !== located.storedBytes) await this.heal(located)
      else if (this.isAsLocated(located)) this.index.setDoubtful(located.slot, false)
    } catch (error) {
      if (isGone(error)) await this.heal(located)
    }
  }

  /** Where a blob is, which counts as a use; rejects with NOT_FOUND. */
  locate(digest: Digest): Located {
    const located = this.#located(digest)
    if (located === undefined) throw notFound(digest)
    this.index.use(digest)
    return located
  }

  /** What a lease can see at once. */
  findNow(digest: Digest): number {
    const located = this.#located(digest)
    if (located === undefined) return ABSENT
    if (!this.index.isDoubtful(located.slot)) return located.slot
    const isThere = statSync(located.path, { throwIfNoEntry: false })?.size === located.storedBytes
    if (isThere) this.index.setDoubtful(located.slot, false)
    return isThere ? located.slot : ABSENT
  }

  /** The bytes of a small blob. A record that turns out damaged is dropped, and is a miss. */
  async readInline(located: Located): Promise<Buffer | undefined> {
    const { digest, location } = located
    const recent = this.recent.get(digest, location)
    if (recent !== undefined) return recent
    const bytes = await this.checkInline(located)
    if (bytes !== undefined && this.isThere(located)) this.recent.keep(digest, location, bytes)
    return bytes
  }

  /** As `readInline`, from the disk whatever is in memory. */
  async checkInline(located: Located): Promise<Buffer | undefined> {
    const { digest, location, storedBytes } = located
    const bytes = await this.records.read(location, digest, storedBytes)
    if (bytes === undefined && this.isAsLocated(located)) await this.damaged(located)
    return bytes
  }

  /** Opens a blob's file. One that vanished or was cut short is dropped; undefined then, and when it changed meanwhile. */
  async openFile(located: Located): Promise<OpenFile | undefined> {
    const file = await OpenFile.open(located.path, located.digest.key)
    if (file !== undefined) {
      if (file.stat().size === located.storedBytes) return file
      await file.close().catch(() => {})
    }
    await this.heal(located)
    return undefined
  }

  /** The checksum that a file had when it was written; undefined when its record is damaged, and the blob dropped. */
  async checksumOf(located: Located): Promise<number | undefined> {
    const head = await this.records.readHead(located.location, located.digest)
    if (head === undefined && this.isAsLocated(located)) await this.damaged(located)
    return head?.checksum
  }

  /**
   * Whether the bytes of a file with this modification time are known to be right. While the blob is uploaded again the file
   * in its place may be the new one already: either is whole.
   */
  trusts({ digest, slot }: Located, { mtimeMs }: Pick<Stats, 'mtimeMs'>): boolean {
    return this.marks.vouchesFor(slot, mtimeMs) || this.isCommitting(digest)
  }

  /** Whether somebody wrote to a file, or touched it, since its bytes were known to be right. */
  suspects({ digest, slot }: Located, { mtimeMs }: Pick<Stats, 'mtimeMs'>): boolean {
    return this.marks.suspects(slot, mtimeMs) && !this.isCommitting(digest)
  }

  /** Somebody read all of a file that had this modification time, and its bytes were right. */
  vouch(located: Located, { mtimeMs }: Pick<Stats, 'mtimeMs'>): void {
    if (!this.isAsLocated(located)) return
    this.marks.set(located.slot, mtimeMs)
    this.index.setDoubtful(located.slot, false)
  }

  /** Drops a blob whose bytes are not those that were written: nobody gets them again, and the next upload heals it. */
  async damaged(located: Located): Promise<void> {
    if (!this.isAsLocated(located)) return
    this.#damagedCount++
    this.#log.warn('a blob of the store is damaged: it is dropped until somebody uploads it again', {
      blob: located.digest.key,
    })
    await this.heal(located)
  }

  /**
   * Drops a blob whose file or record turned out to be wrong. A commit or a removal may have come between the index and the
   * disk: one under way is waited for, and only what is still believed is wrong.
   */
  async heal(located: Located): Promise<void> {
    if (this.isCommitting(located.digest)) await this.commits.settled(located.digest)
    else if (this.isAsLocated(located)) await this.#remove(located)
  }

  /** Whether nobody has replaced or removed a blob since it was located, or is about to. */
  isAsLocated(located: Located): boolean {
    return this.isThere(located) && !this.isCommitting(located.digest)
  }

  /** Whether nobody has replaced or removed a blob since it was located. */
  isThere({ digest, slot, location }: Located): boolean {
    return this.index.find(digest) === slot && this.index.extraOf(slot) === location
  }

  /** Keeps a small blob. Resolves once it is committed and visible. Commits of one digest run in turn. */
  async commitBytes(digest: Digest, bytes: Buffer, signal?: AbortSignal): Promise<void> {
    while (this.isCommitting(digest)) await this.commits.settled(digest)
    await this.#commit(digest, () =>
      this.#append('bytes', digest, {
        storedBytes: bytes.length,
        checksum: crc32(bytes),
        bytes,
        ...(signal && { signal }),
      }),
    )
  }

  /**
   * Keeps a file: lets `place` put it where it belongs, and makes it visible. Commits of one digest run in turn. A kill -9
   * between the two leaves bytes that are not those of the record where a file of the same length was replaced: a miss.
   */
  async commitFile(digest: Digest, file: FinishedFile, place: (path: string) => Promise<void>): Promise<void> {
    while (this.isCommitting(digest)) await this.commits.settled(digest)
    await this.#commit(digest, async () => {
      const path = this.layout.blobPath(digest, file.storedBytes)
      await this.unlinker.settled(path)
      try {
        await place(path)
        await this.#append('file', digest, file)
      } catch (error) {
        this.#distrust(digest, path)
        throw error
      }
      const slot = this.index.find(digest)
      if (slot !== ABSENT) this.marks.set(slot, file.mtimeMs)
    })
  }

  /** A commit failed that may have put its file in the place of another. */
  #distrust(digest: Digest, path: string): void {
    const located = this.#located(digest)
    if (located?.path === path) this.marks.clear(located.slot)
    else void this.unlinker.unlink(path)
  }

  isCommitting(digest: Digest): boolean {
    return this.commits.has(digest)
  }

  /** Forgets a blob, and what is kept of it. Absent is fine. */
  async drop(digest: Digest): Promise<void> {
    while (this.isCommitting(digest)) await this.commits.settled(digest)
    const located = this.#located(digest)
    if (located !== undefined) await this.#remove(located)
  }

  /** Deletes what the limits no longer allow, behind the back of every call. */
  evict(): void {
    if (this.#isEvicting) return
    this.#isEvicting = true
    this.#evicting = this.#evict()
  }

  /** Settles when nothing is being committed or deleted. */
  async idle(): Promise<void> {
    await this.commits.idle()
    await this.#evicting
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

  #located(digest: Digest): Located | undefined {
    const slot = this.index.find(digest)
    return slot === ABSENT ? undefined : this.at(slot, digest)
  }

  async #commit(digest: Digest, run: () => Promise<void>): Promise<void> {
    const work = run().finally(() => this.commits.end(digest))
    this.commits.begin(digest, work)
    await work
    this.evict()
  }

  #append(
    kind: RecordKind,
    digest: Digest,
    content: { storedBytes: number; checksum: number; bytes?: Buffer; signal?: AbortSignal },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      this.records.append({
        kind,
        digest,
        ...content,
        writtenMs: this.#clock.now(),
        placed: (location) => {
          if (kind !== 'removal') this.#arrive(digest, kind, content.storedBytes, location)
          resolve()
        },
        failed: reject,
      })
    })
  }

  /** Makes a blob visible whose record is written. */
  #arrive(digest: Digest, kind: 'bytes' | 'file', storedBytes: number, location: number): void {
    const replaced = this.#located(digest)
    if (replaced !== undefined) this.#forget(replaced, kind === 'file' && storedBytes === replaced.storedBytes)
    const slot = this.index.insert(digest, storedBytes, kind === 'bytes')
    this.index.setExtra(slot, location)
    this.records.account(location, kind, digest, storedBytes, true)
    this.leases.arrived(digest, slot)
  }

  /** Takes leave of what is kept of a blob, but for its place in the index. */
  #forget(
    { digest, slot, storedBytes, location, isInline, path }: Located,
    keepsFile: boolean,
    after?: Promise<void>,
  ): void {
    this.records.account(location, isInline ? 'bytes' : 'file', digest, storedBytes, false)
    if (isInline) {
      this.recent.forget(digest)
      return
    }
    this.marks.clear(slot)
    if (this.index.hasTwin(slot)) void this.unlinker.unlink(this.layout.twinPath(digest, storedBytes), after)
    if (!keepsFile) void this.unlinker.unlink(path, after)
  }

  /** Removes a blob for good: the log says so before its file goes. Visible at once. */
  async #remove(located: Located): Promise<void> {
    const removal = this.#append('removal', located.digest, { storedBytes: 0, checksum: 0 })
    // Without it a kill -9 brings back the blob of the log, or a miss in place of its file.
    const told = removal.catch((error: unknown) => this.#log.warn('could not note a removal', { error }))
    this.#forget(located, false, told)
    this.index.remove(located.slot)
    await told
    if (!located.isInline) await this.unlinker.settled(located.path)
  }

  async #evict(): Promise<void> {
    try {
      for (let count = 1; this.#unlinkCount < UNLINKS_MAX; count++) {
        const slot = this.index.victim()
        if (slot === ABSENT) return
        const located = this.at(slot)
        const nowMs = this.#clock.now()
        if (this.isCommitting(located.digest)) {
          this.index.touch(slot, Math.ceil(nowMs / 1000))
          return
        }
        this.evictions.add(nowMs, this.index.accessedOf(slot))
        if (located.isInline) {
          this.#forget(located, false)
          this.index.remove(slot)
        } else {
          this.#unlinkCount++
          void this.#remove(located).finally(() => {
            this.#unlinkCount--
            this.evict()
          })
        }
        if (count % SLICE === 0) await setImmediate()
      }
    } finally {
      this.#isEvicting = false
    }
  }
}

export const notFound = (digest: Digest): StatusError =>
  new StatusError('NOT_FOUND', `blob ${digest.key} is not in the file store`)
