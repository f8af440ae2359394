import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Clock } from '../../base/clock.js'
import type { Log } from '../../base/log.js'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { ABSENT, BlobIndex, type EvictionLimits } from '../index/blob-index.js'
import { Commits } from './commits.js'
import type { Layout } from './layout.js'
import { Leases } from './leases.js'
import { type OpenFile, openToRead } from './open-file.js'
import { RecentBytes } from './recent-bytes.js'
import { Unlinker } from './unlinker.js'

/** A blob's file as the index knows it. */
export interface Located {
  readonly digest: Digest
  readonly slot: number
  readonly storedBytes: number
  /** `markOf` its modification time, or UNKNOWN_MARK. */
  readonly mark: number
  readonly path: string
}

export interface ShelfOptions {
  readonly limits: EvictionLimits
  readonly blockSizeBytes: number
  /** How much of what was read lately may stay in memory. */
  readonly recentBytes: number
}

/** Where a blob's file goes. */
export interface Placing {
  /** Relative to content_path. */
  readonly name: string
  /** Whether no file of that name is known, and nobody who lists the folder would believe it. */
  readonly isNew: boolean
}

/** Puts a whole file where it belongs; answers its modification time in milliseconds. */
export type Place = (placing: Placing) => Promise<number>

/** A scan under way, as long as the index cannot be believed without it. */
export interface Reconciliation {
  covers(digest: Digest): boolean
  cover(digest: Digest): Promise<void>
  confirmNow(digest: Digest): void
}

/** Deletions under way at a time: enough to keep the disk busy, few enough to leave the thread pool to the calls. */
const UNLINKS_MAX = 16

/** How often to look again when a blob changes while it is being opened: a commit each time, or a removal. */
export const ATTEMPTS_MAX = 10

/**
 * The blobs on disk and the index that knows them, kept in step. A file is visible once the index has it and forgotten
 * by the index before it is deleted; readers with an open file finish in peace.
 */
export class Shelf {
  readonly layout: Layout
  readonly index: BlobIndex
  readonly leases: Leases
  readonly unlinker: Unlinker
  /** Not to be asked while a scan is under way. */
  readonly recent: RecentBytes
  readonly commits = new Commits()
  readonly #clock: Clock
  #scan: Reconciliation | undefined
  #evictingCount = 0

  constructor(layout: Layout, { limits, blockSizeBytes, recentBytes }: ShelfOptions, clock: Clock, log: Log) {
    this.layout = layout
    this.#clock = clock
    this.index = new BlobIndex({ limits, clock, blockSizeBytes })
    this.leases = new Leases(this)
    this.unlinker = new Unlinker(log)
    this.recent = new RecentBytes(recentBytes)
  }

  /** From now until it is done, `scan` is asked before the index is believed. */
  startScan(scan: Reconciliation): void {
    this.#scan = scan
    this.unlinker.record(true)
  }

  endScan(): void {
    this.#scan = undefined
    this.unlinker.record(false)
    this.evict()
  }

  get isScanning(): boolean {
    return this.#scan !== undefined
  }

  async findMissing(batch: DigestBatch): Promise<DigestBatch> {
    const scan = this.#scan
    if (scan === undefined) return this.index.missing(batch)
    const absent: number[] = []
    for (let index = 0; index < batch.count; index++) {
      const digest = batch.at(index)
      await scan.cover(digest)
      if (this.#find(digest) === ABSENT) absent.push(index)
      else this.index.use(digest)
    }
    return batch.select(absent)
  }

  /** Where a blob is, which counts as a use; rejects with NOT_FOUND. */
  async locate(digest: Digest): Promise<Located> {
    if (this.#scan !== undefined) await this.#scan.cover(digest)
    const slot = this.#find(digest)
    if (slot === ABSENT) throw notFound(digest)
    this.index.use(digest)
    const storedBytes = this.index.storedBytesOf(slot)
    const mark = this.index.extraOf(slot)
    return { digest, slot, storedBytes, mark, path: this.layout.blobPath(digest, storedBytes) }
  }

  /** What a lease can see at once, without waiting for a scan. */
  findNow(digest: Digest): number {
    if (this.#scan !== undefined && !this.#scan.covers(digest)) this.#scan.confirmNow(digest)
    return this.#scan !== undefined && !this.#scan.covers(digest) ? this.#certain(digest) : this.#find(digest)
  }

  /**
   * Opens a blob's file. One that vanished, was cut short or was written to behind our back is dropped, and is NOT_FOUND
   * like any other miss.
   */
  async open(digest: Digest): Promise<{ readonly file: OpenFile; readonly storedBytes: number }> {
    for (let attempt = 1; ; attempt++) {
      const located = await this.locate(digest)
      const file = await openToRead(located.path, digest.key)
      if (file !== undefined) {
        if (this.accepts(located, file.stat())) return { file, storedBytes: located.storedBytes }
        await new Promise<void>((resolve) => file.close(() => resolve()))
      }
      await this.heal(located)
      if (attempt === ATTEMPTS_MAX) throw notFound(digest)
    }
  }

  /**
   * Drops a blob whose file turned out to be wrong. A commit or a removal may have come between the index and the disk:
   * one under way is waited for, and only what is still believed is wrong.
   */
  async heal(located: Located): Promise<void> {
    if (this.isCommitting(located.digest)) await this.commits.settled(located.digest)
    else if (this.isAsLocated(located)) await this.#dropSlot(located.slot, located.digest)
  }

  /** Whether nobody has replaced or removed a blob since it was located, or is about to. */
  isAsLocated({ digest, slot, storedBytes, mark }: Located): boolean {
    return (
      this.index.find(digest) === slot &&
      this.index.storedBytesOf(slot) === storedBytes &&
      this.index.extraOf(slot) === mark &&
      !this.isCommitting(digest)
    )
  }

  /** Whether a file is the one the index knows; learns its modification time when the index does not know it yet. */
  accepts(located: Located, stats: Stats): boolean {
    if (stats.size !== located.storedBytes) return false
    const mark = markOf(stats.mtimeMs)
    if (located.mark !== UNKNOWN_MARK) return located.mark === mark
    if (this.isAsLocated(located)) this.index.setExtra(located.slot, mark)
    return true
  }

  /**
   * Lets `place` put the whole file where it belongs, and makes it visible. Commits of one digest run in turn. `bytes` is
   * what the file holds, where that is small and in memory anyhow.
   */
  async commit(digest: Digest, storedBytes: number, place: Place, bytes?: Buffer): Promise<void> {
    while (this.isCommitting(digest)) await this.commits.settled(digest)
    const work = this.#commit(digest, storedBytes, place, bytes).finally(() => this.commits.end(digest))
    this.commits.begin(digest, work)
    await work
    this.evict()
  }

  placing(digest: Digest, storedBytes: number): Placing {
    const isNew = this.#scan === undefined && this.index.find(digest) === ABSENT
    return { name: this.layout.blobName(digest, storedBytes), isNew }
  }

  /** Makes a blob visible whose file is in its place. */
  arrive(digest: Digest, storedBytes: number, mtimeMs: number, bytes: Buffer | undefined): void {
    this.recent.forget(digest)
    if (bytes !== undefined && this.#scan === undefined) this.recent.keepWritten(digest, bytes)
    const replaced = this.index.find(digest)
    if (replaced !== ABSENT) this.#unlinkReplaced(digest, replaced, storedBytes)
    const slot = this.index.insert(digest, storedBytes)
    this.index.setExtra(slot, markOf(mtimeMs))
    this.leases.arrived(digest, slot)
  }

  isCommitting(digest: Digest): boolean {
    return this.commits.has(digest)
  }

  /** Forgets a blob and deletes its files. Absent is fine. */
  async drop(digest: Digest): Promise<void> {
    if (this.#scan !== undefined) await this.#scan.cover(digest)
    while (this.isCommitting(digest)) await this.commits.settled(digest)
    const slot = this.index.find(digest)
    if (slot !== ABSENT) await this.#dropSlot(slot, digest)
  }

  /** Deletes what the limits no longer allow, behind the back of every call. */
  evict(): void {
    // Before the scan is done nobody knows what there is to weigh.
    if (this.#scan !== undefined) return
    while (this.#evictingCount < UNLINKS_MAX) {
      const slot = this.index.victim()
      if (slot === ABSENT) return
      const digest = this.index.digestOf(slot)
      if (this.isCommitting(digest)) {
        this.index.touch(slot, Math.ceil(this.#clock.now() / 1000))
        return
      }
      if (this.index.extraOf(slot) === UNKNOWN_MARK) {
        this.#evictBehind(this.#look(slot, digest))
        return
      }
      this.#evictBehind(this.#dropSlot(slot, digest))
    }
  }

  #evictBehind(work: Promise<void>): void {
    this.#evictingCount++
    void work.finally(() => {
      this.#evictingCount--
      this.evict()
    })
  }

  /**
   * The order of use is that of the checkpoint where nobody has opened a file since the start: one that was written again
   * between the checkpoint and a kill -9 is more recent than that. The next `evict` decides.
   */
  async #look(slot: number, digest: Digest): Promise<void> {
    const storedBytes = this.index.storedBytesOf(slot)
    const located = { digest, slot, storedBytes, mark: UNKNOWN_MARK, path: this.layout.blobPath(digest, storedBytes) }
    const stats = await stat(located.path).catch(() => undefined)
    if (!this.isAsLocated(located)) return
    if (stats === undefined || !this.accepts(located, stats)) await this.#dropSlot(slot, digest)
    else if (secondsOf(stats.mtimeMs) > this.index.accessedOf(slot)) this.index.touch(slot, secondsOf(stats.mtimeMs))
  }

  /** Settles when nothing is being committed or deleted. */
  async idle(): Promise<void> {
    await this.commits.idle()
    while (this.#evictingCount > 0) await this.unlinker.idle()
    await this.unlinker.idle()
  }

  async #dropSlot(slot: number, digest: Digest): Promise<void> {
    const storedBytes = this.index.storedBytesOf(slot)
    const hasTwin = this.index.hasTwin(slot)
    this.index.remove(slot)
    this.recent.forget(digest)
    await Promise.all([
      this.unlinker.unlink(this.layout.blobPath(digest, storedBytes)),
      hasTwin ? this.unlinker.unlink(this.layout.twinPath(digest, storedBytes)) : undefined,
    ])
  }

  async #commit(digest: Digest, storedBytes: number, place: Place, bytes: Buffer | undefined): Promise<void> {
    const path = this.layout.blobPath(digest, storedBytes)
    if (this.unlinker.isPending(path)) await this.unlinker.settled(path)
    this.arrive(digest, storedBytes, await place(this.placing(digest, storedBytes)), bytes)
  }

  #unlinkReplaced(digest: Digest, slot: number, storedBytes: number): void {
    const oldBytes = this.index.storedBytesOf(slot)
    if (this.index.hasTwin(slot)) void this.unlinker.unlink(this.layout.twinPath(digest, oldBytes))
    if (oldBytes !== storedBytes) void this.unlinker.unlink(this.layout.blobPath(digest, oldBytes))
  }

  /** What a checkpoint claims and the scan of its folder did not find is not there. */
  #find(digest: Digest): number {
    const slot = this.#certain(digest)
    if (slot !== ABSENT || this.#scan === undefined) return slot
    const doubtful = this.index.find(digest)
    if (doubtful !== ABSENT) this.index.remove(doubtful)
    return ABSENT
  }

  #certain(digest: Digest): number {
    const slot = this.index.find(digest)
    return slot !== ABSENT && this.#scan !== undefined && this.index.isDoubtful(slot) ? ABSENT : slot
  }
}

/** Of a file that nobody has looked at yet. */
export const UNKNOWN_MARK = 0

/**
 * A modification time as the index keeps it: its milliseconds as a signed word, never UNKNOWN_MARK. Two
 * times 49 days apart look alike, two that a file system can tell apart do not.
 */
export const markOf = (mtimeMs: number): number => Math.round(mtimeMs) | 0 || 1

/** A modification time as a time of use: rounded up, as every last use. */
export const secondsOf = (mtimeMs: number): number => Math.ceil(mtimeMs / 1000)

export const notFound = (digest: Digest): StatusError =>
  new StatusError('NOT_FOUND', `blob ${digest.key} is not in the file store`)
