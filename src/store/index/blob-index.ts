import { randomInt } from 'node:crypto'
import type { Clock } from '../../base/clock.js'
import type { EvictionPolicy } from '../../config/config.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import type { StoreUsage } from '../meter.js'
import { BatchLookup } from './batch-lookup.js'
import { Entries, INLINE, type InlineCharge, PINNED, TWIN } from './entries.js'
import { Probe } from './probe.js'
import { Recency } from './recency.js'
import { EXTRA, NONE, Records } from './records.js'
import { byAccess, type IndexImage, restore } from './restore.js'
import { SlotTable } from './slot-table.js'

export interface BlobIndexOptions {
  /** When blobs must go, least recently used first. */
  readonly policy: EvictionPolicy
  readonly clock: Clock
  /** What a blob occupies is rounded up to a multiple of this. */
  readonly blockSizeBytes?: number
  /** What an inline blob occupies instead; its length unless given. */
  readonly inlineCharge?: InlineCharge
}

/** Uses are reported for periods of 2^4 seconds. */
const USE_SHIFT = 4

/** No such blob. */
export const ABSENT = -1

/**
 * Which blobs a store holds, how long they are and in which order they were used, without an object per blob: about 80
 * bytes each (bench/index.ts), no allocation per lookup, no pause when it grows.
 *
 * A blob is a slot: a small dense integer that stays its own until it is removed and is reused afterwards, so an owner
 * hangs what it keeps on `array[slot]`. The index only says what must go (`victim`); the owner frees it and calls `remove`.
 */
export class BlobIndex {
  readonly #policy: EvictionPolicy
  readonly #clock: Clock
  readonly #records = new Records()
  readonly #entries: Entries
  readonly #table = new SlotTable(this.#records, randomInt(2 ** 31))
  readonly #recency = new Recency(this.#records)
  readonly #pinned = new Set<number>()
  readonly #probe = new Probe()
  readonly #lookup = new BatchLookup(this.#table)
  /** Called for a blob that is used, once in 16 seconds at most: for an owner that remembers it. Not for uploads. */
  onUse: ((slot: number) => void) | undefined
  #count = 0
  #bytes = 0
  #isDraining = false
  #changeCount = 0
  #evictedCount = 0
  #lastEvictedIdleMs: number | undefined

  constructor(options: BlobIndexOptions) {
    this.#policy = options.policy
    this.#clock = options.clock
    const { blockSizeBytes = 1, inlineCharge = (storedBytes) => storedBytes } = options
    this.#entries = new Entries(this.#records, blockSizeBytes, inlineCharge)
  }

  get count(): number {
    return this.#count
  }

  /** What the blobs occupy: lengths rounded up to blocks, twins included. */
  get bytes(): number {
    return this.#bytes
  }

  get usage(): Omit<StoreUsage, 'evictFailureCount'> {
    return {
      entryCount: this.#count,
      sizeBytes: this.#bytes,
      maxBytes: this.#policy.max_bytes > 0 ? this.#policy.max_bytes : undefined,
      evictedCount: this.#evictedCount,
      lastEvictedIdleMs: this.#lastEvictedIdleMs,
    }
  }

  /** Grows with every change, uses included: whoever kept an image need not keep another of the same count. */
  get changeCount(): number {
    return this.#changeCount
  }

  /** The slot of a blob, or ABSENT. Changes nothing. */
  find(digest: Digest): number {
    this.#probe.load(digest)
    const slot = this.#table.find(this.#probe)
    return slot === NONE ? ABSENT : slot
  }

  /** `find` that counts as a use. Nothing expires here: an owner with `max_seconds` asks for victims by the clock. */
  use(digest: Digest): number {
    const slot = this.find(digest)
    if (slot !== ABSENT) this.touch(slot, this.#accessedNow())
    return slot
  }

  /** The digests that are absent, in the order asked; what is present counts as used. */
  missing(batch: DigestBatch): DigestBatch {
    const absent: number[] = []
    // Asking the clock once saves 50 ns a digest.
    const accessedS = this.#accessedNow()
    this.#lookup.each(batch, (position, slot) => {
      if (slot === NONE) absent.push(position)
      else this.touch(slot, accessedS)
    })
    return batch.select(absent)
  }

  /** `missing` that counts as no use. */
  absent(batch: DigestBatch): DigestBatch {
    const absent: number[] = []
    this.#lookup.each(batch, (position, slot) => {
      if (slot === NONE) absent.push(position)
    })
    return batch.select(absent)
  }

  /** Counts as a use at `accessedS`, in whole seconds since the epoch. */
  touch(slot: number, accessedS: number): void {
    this.#changeCount++
    this.#setAccessed(slot, accessedS)
    if (!this.isPinned(slot)) this.#recency.moveToEnd(slot)
  }

  #setAccessed(slot: number, accessedS: number): void {
    const before = this.#entries.setAccessed(slot, accessedS)
    if (before >>> USE_SHIFT !== accessedS >>> USE_SHIFT) this.onUse?.(slot)
  }

  /** Brings the order of use in line with the times of use, to the second; within one the order stays. */
  sortByAccess(): void {
    const slots = [...this.#recency.slots()]
    this.#recency.clear()
    for (const slot of byAccess(slots, this.#entries)) this.#recency.append(slot)
  }

  /** The slot of a blob whose hash begins with these words, or ABSENT. */
  findByWords(words: readonly [number, number, number]): number {
    const slot = this.#table.findByWords(words)
    return slot === NONE ? ABSENT : slot
  }

  /** Eight hex digits of the hash of a blob as a signed number, the first ones at 0. */
  hashWordOf(slot: number, word: number): number {
    return this.#records.hashWord(slot, word)
  }

  /**
   * Adds a blob, or gives a present one its new length; either way it is the most recently used. Its twin is forgotten.
   * `isInline` of one that its owner keeps among others, in no file of its own.
   */
  insert(digest: Digest, storedBytes: number, isInline = false): number {
    this.#probe.load(digest)
    const present = this.#table.find(this.#probe)
    const slot = present === NONE ? this.#records.allocate(this.#probe) : present
    if (present === NONE) {
      this.#table.insert(slot)
      this.#recency.append(slot)
      this.#count++
    } else {
      this.#bytes -= this.#entries.occupied(slot)
    }
    this.#entries.begin(slot, storedBytes, isInline)
    this.#bytes += this.#entries.occupied(slot)
    // The owner keeps a record of each upload: that is no use to be reported.
    this.#entries.setAccessed(slot, this.#accessedNow())
    this.touch(slot, this.#accessedNow())
    return slot
  }

  /** Every slot that stands for a blob; of those that come and go meanwhile some. */
  *slots(): Generator<number> {
    for (let slot = 0; slot < this.#records.slotCount; slot++) if (!this.#records.isFree(slot)) yield slot
  }

  /** Slots that stand for a blob, or did: all there are lie below. */
  get slotCount(): number {
    return this.#records.slotCount
  }

  remove(slot: number): void {
    this.#changeCount++
    this.#bytes -= this.#entries.occupied(slot)
    this.#count--
    if (!this.#pinned.delete(slot)) this.#recency.unlink(slot)
    this.#table.remove(slot)
    this.#records.release(slot)
  }

  /** The blob that must go next by the policy, or ABSENT when all is well or everything left is pinned. O(1). */
  victim(): number {
    const { max_bytes: maxBytes, evict_bytes: evictBytes, max_count: maxCount, max_seconds: maxSeconds } = this.#policy
    if (maxBytes > 0) {
      if (this.#bytes > maxBytes) this.#isDraining = true
      else if (this.#bytes <= maxBytes - evictBytes) this.#isDraining = false
    }
    const oldest = this.#recency.oldest
    if (oldest === NONE) return ABSENT
    if (this.#isDraining || (maxCount > 0 && this.#count > maxCount)) return oldest
    const isExpired = maxSeconds > 0 && this.#clock.now() / 1000 - this.accessedOf(oldest) >= maxSeconds
    return isExpired ? oldest : ABSENT
  }

  /** The owner is about to free a victim: counted, for who watches. */
  noteEviction(slot: number): void {
    this.#evictedCount++
    this.#lastEvictedIdleMs = Math.max(0, this.#clock.now() - this.accessedOf(slot) * 1000)
  }

  /** Length of the largest blob that may stay when it is alone. */
  get maxBlobBytes(): number {
    const { max_bytes: maxBytes } = this.#policy
    return maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes
  }

  /** Whether a blob of this length may stay when it is alone. */
  fits(storedBytes: number): boolean {
    const { max_bytes: maxBytes } = this.#policy
    return maxBytes === 0 || this.#entries.rounded(storedBytes) <= maxBytes
  }

  isInline(slot: number): boolean {
    return this.#entries.has(slot, INLINE)
  }

  isPinned(slot: number): boolean {
    return this.#entries.has(slot, PINNED)
  }

  /** Keeps a blob from becoming a victim. A flag: who pins for several counts himself. */
  pin(slot: number): void {
    if (this.isPinned(slot)) return
    this.#recency.unlink(slot)
    this.#pinned.add(slot)
    this.#entries.set(slot, PINNED, true)
  }

  /** Ends a pin, which counts as a use. */
  unpin(slot: number): void {
    if (!this.#pinned.delete(slot)) return
    this.#entries.set(slot, PINNED, false)
    this.#setAccessed(slot, this.#accessedNow())
    this.#recency.append(slot)
  }

  /** Whether the blob is kept twice (a second file of the same length), which doubles what it occupies. */
  hasTwin(slot: number): boolean {
    return this.#entries.has(slot, TWIN)
  }

  setTwin(slot: number, hasTwin: boolean): void {
    this.#bytes -= this.#entries.occupied(slot)
    this.#entries.set(slot, TWIN, hasTwin)
    this.#bytes += this.#entries.occupied(slot)
  }

  storedBytesOf(slot: number): number {
    return this.#entries.storedBytesOf(slot)
  }

  accessedOf(slot: number): number {
    return this.#entries.accessedOf(slot)
  }

  /** A signed 32-bit number of the owner's; 0 for a new blob. */
  extraOf(slot: number): number {
    return this.#records.get(slot, EXTRA)
  }

  setExtra(slot: number, extra: number): void {
    this.#changeCount++
    this.#records.set(slot, EXTRA, extra)
  }

  hashBytesOf(slot: number): number {
    return this.#entries.hashBytesOf(slot)
  }

  digestOf(slot: number): Digest {
    return this.#entries.digestOf(slot)
  }

  /** What `restore` takes, for a checkpoint. */
  get image(): IndexImage {
    const { oldest, newest } = this.#recency
    return { ...this.#records.image, oldest, newest }
  }

  /**
   * Fills an empty index with the image of another. Of one that was taken while the other changed (not `isOrdered`) the order
   * of use is known to the second. Nobody has pins or twins.
   */
  restore(image: IndexImage, isOrdered: boolean): void {
    const parts = { records: this.#records, entries: this.#entries, table: this.#table, recency: this.#recency }
    const { count, bytes } = restore(parts, image, isOrdered)
    this.#count = count
    this.#bytes = bytes
  }

  /** Rounded up, so that nothing expires early. */
  #accessedNow(): number {
    return Math.ceil(this.#clock.now() / 1000)
  }
}
