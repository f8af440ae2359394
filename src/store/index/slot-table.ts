import { type IndexMemory, ownMemory, PARTITIONS } from './memory.js'
import type { Probe } from './probe.js'
import { NONE, type Records } from './records.js'

export const PARTITION_SHIFT = 24
const ENTRIES_MIN = 16

/**
 * Finds the slot of a digest: open addressing with linear probing, two words per entry (slot + 1, hash code). The
 * stored code avoids reading the records of neighbours, and growing is one pass over a flat array.
 *
 * 256 partitions grow independently, so that no insertion waits for the whole table. At 1,000,000 blobs one doubling
 * moves about 4,000 entries.
 */
export class SlotTable {
  readonly #records: Records
  readonly seed: number
  readonly #memory: IndexMemory
  #partitions: Int32Array[]
  readonly #counts = new Int32Array(PARTITIONS)

  /** `seed` prevents clients that choose their keys (action cache) from making them collide. */
  constructor(records: Records, seed: number, memory: IndexMemory = ownMemory) {
    this.#records = records
    this.seed = seed
    this.#memory = memory
    this.#partitions = this.#empty(ENTRIES_MIN)
  }

  #empty(entries: number): Int32Array[] {
    return Array.from({ length: PARTITIONS }, (_, partition) => this.#memory.words('table', partition, entries * 2))
  }

  /** The partition of a slot whose record is filled. */
  partitionOf(slot: number): number {
    return this.#codeOf(slot) >>> PARTITION_SHIFT
  }

  /** The partition of a digest. */
  partitionOfProbe({ words, first }: Probe): number {
    return this.codeOf(words[first] as number, words[first + 1] as number) >>> PARTITION_SHIFT
  }

  find(probe: Probe): number {
    const { words, first } = probe
    return this.findCode(probe, this.codeOf(words[first] as number, words[first + 1] as number))
  }

  /** `find` with the code of the probe's first two words. */
  findCode(probe: Probe, code: number): number {
    const entries = this.#partitions[code >>> PARTITION_SHIFT] as Int32Array
    const mask = entries.length - 1
    for (let at = (code << 1) & mask; ; at = (at + 2) & mask) {
      const slotPlusOne = entries[at] as number
      if (slotPlusOne === 0) return NONE
      if (entries[at + 1] === code && this.#records.matches(slotPlusOne - 1, probe)) return slotPlusOne - 1
    }
  }

  /** The slots with the hash of the probe: as many as there are sizes. */
  withHash(probe: Probe): readonly number[] {
    const { words, first } = probe
    const code = this.codeOf(words[first] as number, words[first + 1] as number)
    const entries = this.#partitions[code >>> PARTITION_SHIFT] as Int32Array
    const mask = entries.length - 1
    const found: number[] = []
    for (let at = (code << 1) & mask; entries[at] !== 0; at = (at + 2) & mask) {
      const slot = (entries[at] as number) - 1
      if (entries[at + 1] === code && this.#records.hasHash(slot, probe)) found.push(slot)
    }
    return found
  }

  /** The slot of a blob whose hash begins with these words, or NONE. */
  findByWords([first, second, third]: readonly [number, number, number]): number {
    const code = this.codeOf(first, second)
    const entries = this.#partitions[code >>> PARTITION_SHIFT] as Int32Array
    const mask = entries.length - 1
    for (let at = (code << 1) & mask; entries[at] !== 0; at = (at + 2) & mask) {
      const slot = (entries[at] as number) - 1
      const records = this.#records
      if (records.get(slot, 0) === first && records.get(slot, 1) === second && records.get(slot, 2) === third)
        return slot
    }
    return NONE
  }

  /** Inserts a slot whose record is filled. It must not be in the table yet. */
  insert(slot: number): void {
    const code = this.#codeOf(slot)
    put(this.#grownFor(code), slot + 1, code)
  }

  /**
   * Fills an empty table with the first `slotCount` records that are in use. Returns the slots whose digest a lower slot
   * has, which are left out. One partition after the other, because a partition fits into the cache of a processor: with a
   * million blobs 170 ms, and 360 in the order of slots.
   */
  fill(slotCount: number): Set<number> {
    this.#reserve(slotCount)
    const again = new Set<number>()
    const sorted = this.#byPartition(slotCount)
    for (let at = 0; at < sorted.length; at += 2) {
      const [slot, code] = [sorted[at] as number, sorted[at + 1] as number]
      if (this.#has(slot, code)) again.add(slot)
      else put(this.#grownFor(code), slot + 1, code)
    }
    return again
  }

  /** Slot and code of each record in use, by partition, lower slots first. */
  #byPartition(slotCount: number): Int32Array {
    const ends = new Int32Array(PARTITIONS + 1)
    for (let slot = 0; slot < slotCount; slot++) {
      if (this.#records.isFree(slot)) continue
      const after = (this.#codeOf(slot) >>> PARTITION_SHIFT) + 1
      ends[after] = (ends[after] as number) + 2
    }
    for (let partition = 1; partition <= PARTITIONS; partition++)
      ends[partition] = (ends[partition] as number) + (ends[partition - 1] as number)
    const sorted = new Int32Array(ends[PARTITIONS] as number)
    for (let slot = 0; slot < slotCount; slot++) {
      if (this.#records.isFree(slot)) continue
      const code = this.#codeOf(slot)
      const partition = code >>> PARTITION_SHIFT
      const at = ends[partition] as number
      sorted[at] = slot
      sorted[at + 1] = code
      ends[partition] = at + 2
    }
    return sorted
  }

  /** Whether the digest of a slot is in the table. */
  #has(slot: number, code: number): boolean {
    const entries = this.#partitions[code >>> PARTITION_SHIFT] as Int32Array
    const mask = entries.length - 1
    for (let at = (code << 1) & mask; entries[at] !== 0; at = (at + 2) & mask)
      if (entries[at + 1] === code && this.#records.areSame((entries[at] as number) - 1, slot)) return true
    return false
  }

  /** The partition of a code, with room for one more entry, which is counted. */
  #grownFor(code: number): Int32Array {
    const partition = code >>> PARTITION_SHIFT
    const count = (this.#counts[partition] as number) + 1
    let entries = this.#partitions[partition] as Int32Array
    if (count * 8 > entries.length * 3) {
      entries = doubled(entries, this.#memory.words('table', partition, entries.length * 2))
      this.#partitions[partition] = entries
    }
    this.#counts[partition] = count
    return entries
  }

  /** Closes the gap by moving later entries of the run forward. There are no tombstones, so lookups stay short. */
  remove(slot: number): void {
    const code = this.#codeOf(slot)
    const partition = code >>> PARTITION_SHIFT
    const entries = this.#partitions[partition] as Int32Array
    const mask = entries.length - 1
    let gap = (code << 1) & mask
    while (entries[gap] !== slot + 1) gap = (gap + 2) & mask
    for (let at = (gap + 2) & mask; entries[at] !== 0; at = (at + 2) & mask) {
      const home = ((entries[at + 1] as number) << 1) & mask
      if (((at - home) & mask) < ((at - gap) & mask)) continue
      entries[gap] = entries[at] as number
      entries[gap + 1] = entries[at + 1] as number
      gap = at
    }
    entries[gap] = 0
    this.#counts[partition] = (this.#counts[partition] as number) - 1
  }

  /** Sizes an empty table for `count` insertions, so that it does not grow step by step. */
  #reserve(count: number): void {
    let entries = ENTRIES_MIN
    while (entries * 3 < (count / PARTITIONS) * 4) entries *= 2
    this.#partitions = this.#empty(entries)
  }

  /** The slot at the first place where `findCode` looks, or NONE. The entry may belong to another digest. */
  guess(code: number): number {
    const entries = this.#partitions[code >>> PARTITION_SHIFT] as Int32Array
    return (entries[(code << 1) & (entries.length - 1)] as number) - 1
  }

  #codeOf(slot: number): number {
    return this.codeOf(this.#records.get(slot, 0), this.#records.get(slot, 1))
  }

  /** The hash code of a digest, from the first two words of its hash. */
  codeOf(first: number, second: number): number {
    return codeOf(first, second, this.seed)
  }
}

export const codeOf = (first: number, second: number, seed: number): number => {
  let code = Math.imul(first ^ seed, 0x9e37_79b1)
  code = Math.imul(code ^ (code >>> 15) ^ second, 0x85eb_ca77)
  return code ^ (code >>> 13)
}

const put = (entries: Int32Array, slotPlusOne: number, code: number): void => {
  const mask = entries.length - 1
  let at = (code << 1) & mask
  while (entries[at] !== 0) at = (at + 2) & mask
  entries[at] = slotPlusOne
  entries[at + 1] = code
}

const doubled = (entries: Int32Array, larger: Int32Array): Int32Array => {
  for (let at = 0; at < entries.length; at += 2) {
    if (entries[at] !== 0) put(larger, entries[at] as number, entries[at + 1] as number)
  }
  return larger
}
