import { ABSENT, type BlobIndex } from '../../../index/blob-index.js'
import type { BlobKind } from '../../../index/entries.js'
import type { RecordHead } from '../records/record.js'
import type { WalkedRecord } from '../records/walk-records.js'
import { applyTouches } from '../touches.js'

/**
 * Updates an index filled by a checkpoint with the records of the log after that checkpoint. Sequence numbers alone
 * decide, so records may come in any order and more than once.
 *
 * The checkpoint includes every record with a number below `replayedFrom`. Such a record appears here only as a copy
 * that the cleaner made later. Its location is adopted, unless the checkpoint has a newer record of the blob: that was
 * written while the copy waited. A copy of a removal carries nothing new.
 */
export class Replay {
  readonly #index: BlobIndex
  /** A start replays records from this sequence number on, and copies. */
  readonly replayedFrom: number
  /**
   * Slots of the checkpoint whose record is gone or after the checkpoint. Without a replayed record they are removed.
   */
  readonly #stale: Set<number>
  /** Slots of removed blobs, kept until `finish`. */
  readonly #removed = new Set<number>()
  /** By slot: the highest sequence number replayed or compared with; NaN if none. */
  #sequences = new Float64Array(0)
  readonly #touches: Buffer[] = []
  #count = 0
  #copyCount = 0

  constructor(index: BlobIndex, replayedFrom: number, stale: Set<number>) {
    this.#index = index
    this.replayedFrom = replayedFrom
    this.#stale = stale
  }

  get count(): number {
    return this.#count
  }

  /** How many of the records were copies. */
  get copyCount(): number {
    return this.#copyCount
  }

  /** The slot of the checkpoint whose record must be compared with a record before that is applied; ABSENT if none. */
  slotToCompare({ head }: WalkedRecord): number {
    if (head.kind === 'touches' || head.kind === 'removal' || head.sequence >= this.replayedFrom) return ABSENT
    const slot = this.#index.find(head.digest)
    return slot === ABSENT || this.#stale.has(slot) || this.#isCompared(slot) ? ABSENT : slot
  }

  /** Tells the sequence number of the record that the checkpoint has for a slot. */
  compareWith(slot: number, sequence: number): void {
    this.#note(slot, sequence)
  }

  /** Applies a record. Its bytes may change as soon as this returns. */
  apply(record: WalkedRecord): void {
    const { head, location, bytes, isWhole, isCopy } = record
    this.#count++
    if (isCopy) this.#copyCount++
    if (head.kind === 'touches') {
      // Applied at the end, because copies of its blobs may follow.
      if (isWhole) this.#touches.push(Buffer.from(bytes))
      return
    }
    const known = this.#index.find(head.digest)
    const isBlob = head.kind !== 'removal' && isWhole
    if (known !== ABSENT && !this.#isNewer(known, head.sequence, isBlob)) return
    const { kind } = head
    const slot = isBlob && kind !== 'removal' ? this.#hold({ ...head, kind }, known) : this.#remove(head, known)
    if (isBlob) this.#index.setExtra(slot, location)
    this.#note(slot, head.sequence)
  }

  /** Ends the replay. */
  finish(): void {
    for (const slots of [this.#removed, this.#stale]) for (const slot of slots) this.#index.remove(slot)
    for (const bytes of this.#touches) applyTouches(this.#index, bytes)
    if (this.#touches.length > 0 || this.#copyCount > 0) this.#index.sortByAccess()
  }

  #isNewer(slot: number, sequence: number, isBlob: boolean): boolean {
    const known = this.#sequences[slot] as number
    if (!this.#isCompared(slot)) return isBlob || sequence >= this.replayedFrom
    return sequence > known || (sequence === known && isBlob)
  }

  #isCompared(slot: number): boolean {
    return !Number.isNaN(this.#sequences[slot] ?? Number.NaN)
  }

  /** Returns the slot, now the most recently used one unless the record is a copy of the one in the index. */
  #hold({ kind, digest, storedBytes, writtenMs }: RecordHead & { kind: BlobKind }, known: number): number {
    const index = this.#index
    const writtenS = Math.ceil(writtenMs / 1000)
    const isKnown =
      known !== ABSENT &&
      !this.#removed.has(known) &&
      writtenS <= index.accessedOf(known) &&
      index.storedBytesOf(known) === storedBytes &&
      index.kindOf(known) === kind
    const slot = isKnown ? known : index.insert(digest, storedBytes, kind)
    if (!isKnown) index.touch(slot, writtenS)
    else if (digest.isHashOfContent) index.noteHash(slot)
    this.#removed.delete(slot)
    this.#stale.delete(slot)
    return slot
  }

  #remove({ digest }: RecordHead, known: number): number {
    const slot = known === ABSENT ? this.#index.insert(digest, 0, 'bytes') : known
    this.#removed.add(slot)
    this.#stale.delete(slot)
    return slot
  }

  #note(slot: number, sequence: number): void {
    if (slot >= this.#sequences.length) {
      const larger = new Float64Array(2 * slot + 1024).fill(Number.NaN)
      larger.set(this.#sequences)
      this.#sequences = larger
    }
    this.#sequences[slot] = sequence
  }
}
