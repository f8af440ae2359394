import { NEVER } from '../../../../base/cancellation.js'
import { ABSENT } from '../../../index/blob-index.js'
import { sequenceAt } from '../records/location.js'
import { sizeOf } from '../records/record.js'
import { DEAD_SHARE_MAX } from '../records/room.js'
import type { Segment } from '../records/segment.js'
import { type WalkedRecord, walkRecords } from '../records/walk-records.js'
import { Rounds, type UpkeepParts } from '../rounds.js'

const LOOK_MS = 1000

/** Records that were copied out of a segment. */
interface Copied {
  readonly blobs: number
  readonly removals: number
}
const NOTHING: Copied = { blobs: 0, removals: 0 }

/**
 * Frees disk space of blobs that were evicted or replaced. The cleaner takes the segment with the most dead bytes,
 * copies the needed records to the end of the log, and deletes the segment. Copies keep their sequence number, so that
 * a start can distinguish them from newer records.
 */
export class Cleaner extends Rounds {
  readonly #parts: UpkeepParts
  readonly #replayedFrom: () => number

  /** `replayedFrom` returns the lowest sequence number that a start replays: the checkpoint includes lower ones. */
  constructor(parts: UpkeepParts, replayedFrom: () => number) {
    super(parts, LOOK_MS, 'could not free disk space of the store')
    this.#parts = parts
    this.#replayedFrom = replayedFrom
  }

  protected override async round(): Promise<void> {
    for (let next = this.#next(); next !== undefined && !this.isStopped; next = this.#next()) {
      const end = await this.#parts.catalog.moves.acquire('a turn to move records', NEVER)
      if (!(await this.#empty(next).finally(end))) return
    }
  }

  /** The segment whose cleaning frees the most; undefined if none is worth it now. */
  #next(): Segment | undefined {
    const { records } = this.#parts.catalog
    const full = records.segments
      .filter((segment) => segment !== records.active)
      .map((segment) => ({ segment, deadBytes: this.#deadBytes(segment), bytes: segment.endBytes }))
    const most = full.reduce((best, each) => (each.deadBytes > (best?.deadBytes ?? 0) ? each : best), full[0])
    const empty = full.find(({ segment }) => this.#isDead(segment))
    if (empty !== undefined) return empty.segment
    const sum = (of: 'deadBytes' | 'bytes'): number => full.reduce((total, each) => total + each[of], 0)
    return sum('deadBytes') > DEAD_SHARE_MAX * sum('bytes') ? most?.segment : undefined
  }

  /**
   * Bytes of records that cleaning would drop. Needed removals and touches do not count, because they would be copied.
   */
  #deadBytes(segment: Segment): number {
    const removalBytes = segment.removals.bytesSince(this.#oldestNeeded(segment))
    const touchBytes = segment.touches.bytesSince(this.#replayedFrom())
    return segment.endBytes - segment.firstOffset - segment.liveBytes - removalBytes - touchBytes
  }

  /** Whether nothing in it would be copied, except the records of evicted small blobs (`#isRemovalNeeded`). */
  #isDead(segment: Segment): boolean {
    return this.#deadBytes(segment) === segment.endBytes - segment.firstOffset
  }

  /**
   * A removal with a lower sequence number is obsolete once `except` is deleted. Either the checkpoint includes it, or no
   * other segment has a record that it removed: neither a record to replay nor one that the checkpoint refers to.
   */
  #oldestNeeded(except: Segment): number {
    const other = this.#parts.catalog.records.segments.find((segment) => segment !== except)
    return Math.max(other?.firstSequence ?? Number.POSITIVE_INFINITY, this.#replayedFrom())
  }

  /** False when the segment could not be emptied now. */
  async #empty(segment: Segment): Promise<boolean> {
    const { catalog, log } = this.#parts
    const { records } = catalog
    const oldestNeeded = this.#oldestNeeded(segment)
    // The usual end of a segment, because the oldest blobs are evicted first. To read it cost 4 us for each blob of 1 KiB.
    const isObsolete = this.#isDead(segment) && oldestNeeded >= sequenceAt(segment.number + 1, 0)
    const copied = isObsolete ? NOTHING : await this.#copyNeeded(segment, oldestNeeded)
    if (copied === undefined) return false
    await records.sync()
    await records.retire(segment)
    log.debug('emptied a file of records', { number: segment.number, ...copied })
    return true
  }

  /** Copies to the end of the log what is needed of a segment, and counts it; undefined when some could not be copied. */
  async #copyNeeded(segment: Segment, oldestNeeded: number): Promise<Copied | undefined> {
    const copied = { ...NOTHING }
    let isDone = true
    await walkRecords(segment, 0, async (found) => {
      const copies: Promise<void>[] = []
      for (const record of found) {
        if (!record.isWhole) await this.#dropDamaged(record)
        // Check the index in the same step in which the copy is queued: everything queued later is newer.
        if (record.head.kind === 'touches') {
          if (record.isWhole && record.head.sequence >= this.#replayedFrom()) copies.push(this.#copyAsIs(record))
        } else if (this.#isLive(record)) {
          copied.blobs++
          copies.push(this.#copy(record))
        } else if (this.#isRemovalNeeded(record, oldestNeeded)) {
          copied.removals++
          copies.push(this.#copyRemoval(record))
        }
      }
      for (const { status } of await Promise.allSettled(copies)) isDone &&= status === 'fulfilled'
    })
    return isDone ? copied : undefined
  }

  async #dropDamaged({ head, location }: WalkedRecord): Promise<void> {
    const { catalog, inspection } = this.#parts
    const located = catalog.find(head.digest)
    if (located?.location === location) await inspection.damaged(located)
  }

  #isLive({ head, location, isWhole }: WalkedRecord): boolean {
    const { index } = this.#parts.catalog
    const slot = index.find(head.digest)
    return isWhole && slot !== ABSENT && index.extraOf(slot) === location
  }

  /**
   * Whether a start could restore an older blob of the digest without this record. A removal prevents that, and so does
   * the record of an evicted small blob, because the log has no removal of it. While the index has the digest, its
   * newer record prevents it.
   */
  #isRemovalNeeded({ head }: WalkedRecord, oldestNeeded: number): boolean {
    if (head.kind === 'file' || head.kind === 'packed' || head.sequence < oldestNeeded) return false
    return this.#parts.catalog.index.find(head.digest) === ABSENT
  }

  #copy({ head, bytes, location }: WalkedRecord): Promise<void> {
    const { index, records } = this.#parts.catalog
    const onLocated = (copyLocation: number): void => {
      const slot = index.find(head.digest)
      if (slot === ABSENT || index.extraOf(slot) !== location) return
      records.release(location, sizeOf(head))
      records.need(copyLocation, sizeOf(head))
      index.setExtra(slot, copyLocation)
    }
    return records.append({ ...head, bytes, onLocated })
  }

  #copyAsIs({ head, bytes }: WalkedRecord): Promise<void> {
    return this.#parts.catalog.records.append({ ...head, bytes, onLocated: () => {} })
  }

  #copyRemoval({ head: { digest, writtenMs, sequence } }: WalkedRecord): Promise<void> {
    const removal = { kind: 'removal', digest, storedBytes: 0, checksum: 0, writtenMs, sequence } as const
    return this.#parts.catalog.records.append({ ...removal, onLocated: () => {} })
  }
}
