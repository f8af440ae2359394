import { randomInt } from 'node:crypto'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { StoreUsage } from '../../blobs/meter.js'
import type { EvictionPolicy } from '../../config/config.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { BatchLookup } from './batch-lookup.js'
import { type BlobKind, type Charge, DOOMED, Entries, EXECUTABLE, HASH, INLINE } from './entries.js'
import { EvictionOrder } from './eviction-order.js'
import { Evictions } from './evictions.js'
import { type IndexShare, ownMemory, type SharedIndexMemory } from './memory.js'
import { Probe } from './probe.js'
import { type Claim, type Claimant, type PromiseOptions, Promises } from './promises.js'
import { EXTRA, NONE, Records } from './records.js'
import { byAccess, type IndexImage, restore } from './restore.js'
import { SlotTable } from './slot-table.js'

export interface BlobIndexOptions {
  /** When blobs must be evicted, least recently used first. */
  readonly policy: EvictionPolicy
  readonly clock: Clock
  /** The space of a blob is rounded up to a multiple of this. */
  readonly blockSizeBytes?: number
  /** The space that an inline blob is charged; by default its length. */
  readonly inlineCharge?: Charge
  /** The space that a blob is charged which lies in a file beside others; by default its length. */
  readonly packedCharge?: Charge
  /** For how long blobs are kept; absent for an index of blobs that others keep. */
  readonly promises?: PromiseOptions | undefined
  /** Set if other threads read the index. */
  readonly shared?: SharedIndexMemory | undefined
}

/** A promise that was broken, because there was no room. */
export interface BrokenPromise {
  /** How long the blob had been unused. */
  readonly idleS: number
  /** The build that used it last, if that is known. */
  readonly invocation: string | undefined
}

/** Uses are reported once per period of 2^4 seconds. */
const USE_SHIFT = 4

const itsLength: Charge = (storedBytes) => storedBytes

/** No such blob. */
export const ABSENT = -1

/**
 * Which blobs a store holds, their lengths and their order of use. It needs no object per blob: about 80 bytes each
 * (bench/index.ts), no allocation per lookup, no pause when it grows.
 *
 * A blob has a slot: a small dense integer that it keeps until it is removed. Slots are reused, so an owner keeps its
 * own data in `array[slot]`. The index only names what must be evicted (`victim`); the owner frees it and calls
 * `remove`.
 */
export class BlobIndex {
  readonly #policy: EvictionPolicy
  readonly #clock: Clock
  readonly #shared: SharedIndexMemory | undefined
  readonly #records: Records
  readonly #entries: Entries
  readonly #table: SlotTable
  readonly #order: EvictionOrder
  readonly #promises: Promises | undefined
  readonly #probe = new Probe()
  readonly #lookup: BatchLookup
  /**
   * Called when a blob is used, at most once in 16 seconds, for an owner that persists uses. Not called for uploads.
   */
  onUse: ((slot: number) => void) | undefined
  /** Called when a promised blob is evicted. */
  onBroken: ((broken: BrokenPromise) => void) | undefined
  #count = 0
  #bytes = 0
  #isDraining = false
  #changeCount = 0
  #evictedCount = 0
  readonly #evictions = new Evictions()
  #lastEvictedIdleMs: number | undefined

  constructor(options: BlobIndexOptions) {
    this.#policy = options.policy
    this.#clock = options.clock
    const memory = options.shared ?? ownMemory
    this.#shared = options.shared
    this.#records = new Records(memory)
    this.#table = new SlotTable(this.#records, randomInt(2 ** 31), memory)
    this.#lookup = new BatchLookup(this.#table)
    const { blockSizeBytes = 1, inlineCharge = itsLength, packedCharge = itsLength } = options
    this.#entries = new Entries(this.#records, blockSizeBytes, inlineCharge, packedCharge)
    this.#promises = options.promises && new Promises(options.promises, options.policy, memory)
    this.#order = new EvictionOrder(this.#records, this.#entries, this.#promises)
  }

  get count(): number {
    return this.#count
  }

  /** Space that all blobs take: lengths rounded up to blocks, executable copies included. */
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
      promised: this.#promised,
    }
  }

  get #promised(): StoreUsage['promised'] {
    const promises = this.#promises
    if (promises === undefined) return undefined
    const nowS = this.#clock.now() / 1000
    promises.sweep(nowS)
    const { retentionS, brokenCount, heldBytes } = promises
    return { retentionMs: retentionS * 1000, promisedBytes: promises.promisedBytes(nowS), heldBytes, brokenCount }
  }

  /** How long a blob is kept at least after its last use; 0 without promises, infinite without eviction. */
  get retentionMs(): number {
    if (this.#promises === undefined) return 0
    const { max_bytes: maxBytes, max_count: maxCount, max_seconds: maxSeconds } = this.#policy
    if (maxBytes === 0 && maxCount === 0 && maxSeconds === 0) return Number.POSITIVE_INFINITY
    return this.#promises.retentionS * 1000
  }

  /** Grows with every change, uses included. An image is still current while this has not changed. */
  get changeCount(): number {
    return this.#changeCount
  }

  /** The slot of a blob, or ABSENT. No side effects. */
  find(digest: Digest): number {
    this.#probe.load(digest)
    const slot = this.#table.find(this.#probe)
    return slot === NONE ? ABSENT : slot
  }

  /** `Store.sizeOf`. */
  sizeOf(digest: Digest): number | undefined {
    this.#probe.load(digest)
    const sizes = this.#table.withHash(this.#probe).map((slot) => this.#entries.sizeOf(slot))
    return sizes.length === 0 ? undefined : Math.max(...sizes)
  }

  /** `find` that counts as a use. Ignores `max_seconds`: its owner asks for victims by the clock. */
  use(digest: Digest, claimant?: Claimant): number {
    const slot = this.find(digest)
    if (slot !== ABSENT) this.touchFor(slot, claimant)
    return slot
  }

  /**
   * Returns the absent digests in the order given. Present blobs count as used, and are kept as the call claims: in the
   * same turn as the lookup, so that no eviction fits between.
   */
  missing(batch: DigestBatch, claimant?: Claimant): DigestBatch {
    const absent: number[] = []
    // Reading the clock once saves 50 ns per digest.
    const accessedS = this.#accessedNow()
    const claim = claimant && this.#promises?.claimOf(claimant, accessedS)
    this.#lookup.each(batch, (position, slot) => {
      if (slot === NONE) {
        absent.push(position)
        return
      }
      this.touch(slot, accessedS)
      if (claim !== undefined) this.#hold(slot, claim, accessedS)
    })
    return batch.select(absent)
  }

  /** Records a use by a call, which may keep the blob for longer than the minimum retention. */
  touchFor(slot: number, claimant: Claimant | undefined): void {
    const accessedS = this.#accessedNow()
    this.touch(slot, accessedS)
    const claim = claimant && this.#promises?.claimOf(claimant, accessedS)
    if (claim !== undefined) this.#hold(slot, claim, accessedS)
  }

  /** Keeps a blob that a call has uploaded. */
  holdFor(digest: Digest, claimant: Claimant): void {
    const claim = this.#promises?.claimOf(claimant, this.#accessedNow())
    const slot = claim === undefined ? ABSENT : this.find(digest)
    if (claim !== undefined && slot !== ABSENT) this.#hold(slot, claim, this.#accessedNow())
  }

  /**
   * After a start nobody knows which builds are alive. What was used in the last seconds is held for as long again, the
   * newest first and as much as one build may hold. More would leave no room for what is evicted before it.
   */
  holdRecent(forS: number): void {
    const promises = this.#promises
    if (promises === undefined || this.#policy.max_bytes === 0) return
    const nowS = this.#accessedNow()
    const claim = { number: 0, untilMinute: Math.ceil((nowS + forS) / 60) }
    let bytes = 0
    for (const slot of this.#order.recency.newestFirst()) {
      bytes += this.#entries.occupied(slot)
      if (this.accessedOf(slot) < nowS - forS || bytes > promises.oneBuildBytes) return
      this.#hold(slot, claim, nowS)
    }
  }

  #hold(slot: number, claim: Claim, nowS: number): void {
    const promises = this.#promises
    if (promises === undefined || promises.isHeldBy(slot, claim)) return
    promises.hold(slot, this.#entries.storedBytesOf(slot), claim, nowS)
  }

  /** `missing` without counting a use. */
  absent(batch: DigestBatch): DigestBatch {
    const absent: number[] = []
    this.#lookup.each(batch, (position, slot) => {
      if (slot === NONE) absent.push(position)
    })
    return batch.select(absent)
  }

  /** Records a use at `accessedS`, in whole seconds since the epoch; now by default. */
  touch(slot: number, accessedS = this.#accessedNow()): void {
    this.#changeCount++
    this.#setAccessed(slot, accessedS)
    this.#order.used(slot)
  }

  #setAccessed(slot: number, accessedS: number): void {
    const before = this.#entries.setAccessed(slot, accessedS)
    if (before >>> USE_SHIFT === accessedS >>> USE_SHIFT) return
    this.#promises?.used(before, accessedS, this.#entries.occupied(slot))
    this.onUse?.(slot)
  }

  /** Sorts the order of use by the times of use, in seconds. Blobs of the same second keep their order. */
  sortByAccess(): void {
    const { recency } = this.#order
    const slots = [...recency.slots()]
    recency.clear()
    for (const slot of byAccess(slots, this.#entries)) recency.append(slot)
  }

  /** The slot of a blob whose hash begins with these words, or ABSENT. */
  findByWords(words: readonly [number, number, number]): number {
    const slot = this.#table.findByWords(words)
    return slot === NONE ? ABSENT : slot
  }

  /** Eight hex digits of the hash of a blob as a signed number; word 0 is the first. */
  hashWordOf(slot: number, word: number): number {
    return this.#records.hashWord(slot, word)
  }

  /**
   * Adds a blob, or updates the length of a present one, and makes it the most recently used. Its executable copy is forgotten.
   * `extra` is a signed 32-bit number for the owner.
   */
  insert(digest: Digest, storedBytes: number, kind: BlobKind = 'file', extra = 0): number {
    this.#probe.load(digest)
    const partition = this.#table.partitionOfProbe(this.#probe)
    this.#shared?.begin(partition)
    try {
      return this.#insert(storedBytes, kind, { extra, isHash: digest.isHashOfContent })
    } finally {
      this.#shared?.end(partition)
    }
  }

  #insert(storedBytes: number, kind: BlobKind, own: Parameters<Entries['begin']>[3]): number {
    const present = this.#table.find(this.#probe)
    const slot = present === NONE ? this.#records.allocate(this.#probe) : present
    if (present === NONE) {
      this.#addToTable(slot)
      this.#order.recency.append(slot)
      this.#count++
    } else {
      this.#order.takeBack(slot)
      this.#unpromise(slot)
      this.#bytes -= this.#entries.occupied(slot)
    }
    this.#entries.begin(slot, storedBytes, kind, own)
    this.#bytes += this.#entries.occupied(slot)
    const accessedS = this.#accessedNow()
    // The owner persists each upload anyway, so this use is not reported.
    this.#entries.setAccessed(slot, accessedS)
    this.#promises?.grew(accessedS, this.#entries.occupied(slot))
    this.touch(slot, accessedS)
    return slot
  }

  /** There may be no memory for a larger table. */
  #addToTable(slot: number): void {
    try {
      this.#table.insert(slot)
    } catch (error) {
      this.#records.release(slot)
      throw error
    }
  }

  /** The slots of all blobs. Blobs added or removed during the iteration may or may not be included. */
  *slots(): Generator<number> {
    for (let slot = 0; slot < this.#records.slotCount; slot++) if (!this.#records.isFree(slot)) yield slot
  }

  /** All slots in use are below this number. */
  get slotCount(): number {
    return this.#records.slotCount
  }

  remove(slot: number): void {
    this.#changeCount++
    this.#bytes -= this.#entries.occupied(slot)
    this.#count--
    this.#order.remove(slot)
    this.#unpromise(slot)
    const partition = this.#table.partitionOf(slot)
    this.#shared?.begin(partition)
    if (!this.#entries.has(slot, DOOMED)) this.#table.remove(slot)
    this.#records.release(slot)
    this.#shared?.end(partition)
  }

  /**
   * Begins the eviction of a victim: from here on no thread finds it. False if another thread has used it since the owner last
   * looked; then it stays, and is the most recently used. Call `remove` in the same turn.
   */
  evict(slot: number): boolean {
    const shared = this.#shared
    if (shared === undefined) return true
    const partition = this.#table.partitionOf(slot)
    shared.begin(partition)
    const usedS = this.#records.usedElsewhere(slot)
    const isUsed = usedS > this.accessedOf(slot)
    if (!isUsed) {
      this.#table.remove(slot)
      this.#entries.set(slot, DOOMED, true)
    }
    shared.end(partition)
    if (isUsed) this.touch(slot, usedS)
    return !isUsed
  }

  /** Other threads have used these slots, which may be free or have other blobs by now. */
  usedElsewhere(slots: Int32Array): void {
    for (const slot of slots) {
      const usedS = this.#records.usedElsewhere(slot)
      if (!this.#records.isFree(slot) && usedS > this.accessedOf(slot)) this.touch(slot, usedS)
    }
  }

  /** Keeps blobs that a call of another thread has used or uploaded. */
  holdSlots(slots: Int32Array | readonly number[], claimant: Claimant): void {
    if (claimant.invocation === undefined && claimant.keepForMs === undefined) return
    const nowS = this.#accessedNow()
    const claim = this.#promises?.claimOf(claimant, nowS)
    if (claim === undefined) return
    for (const slot of slots) if (!this.#records.isFree(slot)) this.#hold(slot, claim, nowS)
  }

  /** What another thread needs to read the index. Throws if it is not shared. */
  share(): IndexShare {
    if (this.#shared === undefined) throw new Error('the index was not made for several threads')
    return this.#shared.share(this.#table.seed)
  }

  /** The blob that must be evicted next by the policy, or ABSENT when none must or may. */
  victim(): number {
    const { max_seconds: maxSeconds } = this.#policy
    const victim = this.#order.victim({ lacksRoom: this.#lacksRoom(), maxSeconds, nowS: this.#clock.now() / 1000 })
    return victim === NONE ? ABSENT : victim
  }

  /** Throws RESOURCE_EXHAUSTED if an upload would need room that is promised, and promises are not broken. */
  checkRoomFor(digest: Digest, sizeBytes: number): void {
    const promises = this.#promises
    if (promises?.whenFull !== 'refuse') return
    const nowS = this.#clock.now() / 1000
    const { max_bytes: maxBytes, max_count: maxCount } = this.#policy
    const isFull = (maxBytes > 0 && this.#bytes + sizeBytes > maxBytes) || (maxCount > 0 && this.#count >= maxCount)
    if (!(isFull && !this.#order.hasFree(nowS)) && !promises.isFullFor(sizeBytes, nowS)) return
    if (this.find(digest) !== ABSENT) return
    const promised = Math.round(promises.promisedBytes(nowS))
    const reason = `no room for ${sizeBytes} bytes of blob ${digest}: ${promised} bytes of ${maxBytes} are promised to clients`
    const advice = 'raise max_bytes, lower retention, or set when_full to break'
    throw new StatusError(
      'RESOURCE_EXHAUSTED',
      `${reason} for ${promises.retentionS} s after their last use: ${advice}`,
    )
  }

  /** `Store.evictedMs`. */
  evictedMs(digest: Digest): number | undefined {
    const timeS = this.#evictions.timeOf(digest)
    return timeS === undefined ? undefined : timeS * 1000
  }

  /** Notes an eviction, for the metrics and `evictedMs`. The owner calls it before it frees the blob. */
  noteEviction(slot: number): void {
    this.#evictedCount++
    const nowMs = this.#clock.now()
    const records = this.#records
    this.#evictions.add(records.get(slot, 0), records.get(slot, 1), records.get(slot, 2), Math.floor(nowMs / 1000))
    this.#lastEvictedIdleMs = Math.max(0, nowMs - this.accessedOf(slot) * 1000)
    const promises = this.#promises
    if (promises === undefined) return
    if (!this.#order.isPromised(slot, nowMs / 1000)) return
    promises.brokenCount++
    this.onBroken?.({ idleS: this.#lastEvictedIdleMs / 1000, invocation: promises.holderOf(slot) })
  }

  #lacksRoom(): boolean {
    const { max_bytes: maxBytes, evict_bytes: evictBytes, max_count: maxCount } = this.#policy
    if (maxBytes > 0) {
      if (this.#bytes > maxBytes) this.#isDraining = true
      else if (this.#bytes <= maxBytes - evictBytes) this.#isDraining = false
    }
    return this.#isDraining || (maxCount > 0 && this.#count > maxCount)
  }

  #unpromise(slot: number): void {
    this.#promises?.forget(slot, this.#entries.storedBytesOf(slot))
    this.#promises?.grew(this.accessedOf(slot), -this.#entries.occupied(slot))
  }

  /** Length of the largest blob that fits when it is alone. */
  get maxBlobBytes(): number {
    const { max_bytes: maxBytes } = this.#policy
    return maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes
  }

  /** Whether a blob of this length fits when it is alone. */
  fits(storedBytes: number): boolean {
    const { max_bytes: maxBytes } = this.#policy
    return maxBytes === 0 || this.#entries.rounded(storedBytes) <= maxBytes
  }

  kindOf(slot: number): BlobKind {
    return this.#entries.kindOf(slot)
  }

  isInline(slot: number): boolean {
    return this.#entries.has(slot, INLINE)
  }

  isPinned(slot: number): boolean {
    return this.#order.isPinned(slot)
  }

  /** Protects a blob from eviction. A flag, not a count: callers with several pins count themselves. */
  pin(slot: number): void {
    this.#order.pin(slot)
  }

  /** Ends a pin. Counts as a use. */
  unpin(slot: number): void {
    if (this.#order.unpin(slot)) this.#setAccessed(slot, this.#accessedNow())
  }

  /** Whether a second file of the same length exists, which doubles the space. */
  hasExecutable(slot: number): boolean {
    return this.#entries.has(slot, EXECUTABLE)
  }

  setExecutable(slot: number, hasExecutable: boolean): void {
    const beforeBytes = this.#entries.occupied(slot)
    this.#entries.set(slot, EXECUTABLE, hasExecutable)
    const bytes = this.#entries.occupied(slot) - beforeBytes
    this.#bytes += bytes
    this.#promises?.grew(this.accessedOf(slot), bytes)
  }

  /** Whether the key is known to be the hash of the content. */
  isHash(slot: number): boolean {
    return this.#entries.has(slot, HASH)
  }

  /** Notes that the key of a blob is the hash of its content. */
  noteHash(slot: number): void {
    if (this.isHash(slot)) return
    this.#changeCount++
    this.#entries.set(slot, HASH, true)
  }

  storedBytesOf(slot: number): number {
    return this.#entries.storedBytesOf(slot)
  }

  accessedOf(slot: number): number {
    return this.#entries.accessedOf(slot)
  }

  /** A signed 32-bit number for the owner; 0 for a new blob. */
  extraOf(slot: number): number {
    return this.#records.get(slot, EXTRA)
  }

  setExtra(slot: number, extra: number): void {
    this.#changeCount++
    // One word, so a reader has it from before or after, which are both right.
    this.#records.set(slot, EXTRA, extra)
  }

  hashBytesOf(slot: number): number {
    return this.#entries.hashBytesOf(slot)
  }

  digestOf(slot: number): Digest {
    return this.#entries.digestOf(slot)
  }

  /** The input of `restore`, for a checkpoint. */
  get image(): IndexImage {
    const { oldest, newest } = this.#order.recency
    return { ...this.#records.image, oldest, newest }
  }

  /**
   * Fills an empty index from an image. In an image taken while the index changed (not `isOrdered`), the order of use
   * is exact to the second only. Restored entries have no pins and no executable copies.
   */
  restore(image: IndexImage, isOrdered: boolean): void {
    const parts = { records: this.#records, entries: this.#entries, table: this.#table, recency: this.#order.recency }
    const onBlob = (slot: number, occupied: number): void => this.#promises?.grew(this.accessedOf(slot), occupied)
    const { count, bytes } = restore(parts, image, { isOrdered, onBlob })
    this.#count = count
    this.#bytes = bytes
  }

  /** Rounded up, so that nothing expires early. */
  #accessedNow(): number {
    return Math.ceil(this.#clock.now() / 1000)
  }
}
