import { ABSENT } from '../../index/blob-index.js'
import { DEAD_SHARE_MAX } from '../records/room.js'
import type { Segment } from '../records/segment.js'
import { type WalkedRecord, walkRecords } from '../records/walk-records.js'
import { Rounds, type UpkeepParts } from '../rounds.js'

const LOOK_MS = 1000

/**
 * Gives back the room of blobs that were evicted or replaced: what is needed of the segment that is needed least is written
 * again at the end of the log, then the segment goes as a whole.
 */
export class Cleaner extends Rounds {
  readonly #parts: UpkeepParts
  readonly #mayReplay: (segmentNumber: number) => boolean

  /** `mayReplay` says whether a start may still come upon the removals of a segment. */
  constructor(parts: UpkeepParts, mayReplay: (segmentNumber: number) => boolean) {
    super(parts, LOOK_MS, 'could not give back room of the store')
    this.#parts = parts
    this.#mayReplay = mayReplay
  }

  protected override async round(): Promise<void> {
    for (let next = this.#next(); next !== undefined && !this.isStopped; next = this.#next()) {
      if (!(await this.#empty(next))) return
    }
  }

  /** The segment whose cleaning brings most, when that is due. */
  #next(): Segment | undefined {
    const { records } = this.#parts.shelf
    const full = records.segments.filter((segment) => segment !== records.active)
    const empty = full.find(({ liveBytes }) => liveBytes === 0)
    if (empty !== undefined) return empty
    const sum = (of: (segment: Segment) => number): number => full.reduce((total, segment) => total + of(segment), 0)
    if (sum(({ deadBytes }) => deadBytes) <= DEAD_SHARE_MAX * sum(({ endBytes }) => endBytes)) return undefined
    return full.reduce((most, segment) => (segment.deadBytes > most.deadBytes ? segment : most))
  }

  /** False when it could not be done now. */
  async #empty(segment: Segment): Promise<boolean> {
    const { records } = this.#parts.shelf
    let isDone = true
    await walkRecords(segment, 0, async (found) => {
      const copies: Promise<void>[] = []
      for (const record of found) if (await this.#isNeeded(segment, record)) copies.push(this.#copy(record))
      for (const { status } of await Promise.allSettled(copies)) isDone &&= status === 'fulfilled'
    })
    if (!isDone) return false
    await records.sync()
    await records.retire(segment)
    return true
  }

  async #isNeeded({ number }: Segment, { head, location, isWhole }: WalkedRecord): Promise<boolean> {
    const { index, commits } = this.#parts.shelf
    if (head.kind === 'removal') return this.#mayReplay(number)
    // A copy behind a record that is being written now would be taken for the newer one.
    while (commits.has(head.digest)) await commits.settled(head.digest)
    const slot = index.find(head.digest)
    if (slot === ABSENT || index.extraOf(slot) !== location) return false
    if (!isWhole) await this.#parts.inspection.damaged(this.#parts.shelf.at(slot))
    return isWhole
  }

  #copy({ head, bytes, location, length }: WalkedRecord): Promise<void> {
    const { index, records } = this.#parts.shelf
    const { kind, digest } = head
    const placed = (copyLocation: number): void => {
      const slot = index.find(digest)
      if (kind === 'removal' || slot === ABSENT || index.extraOf(slot) !== location) return
      records.account(location, -length)
      records.account(copyLocation, length)
      index.setExtra(slot, copyLocation)
    }
    return records.append({ ...head, bytes, placed })
  }
}
