import { type Entries, PINNED, TWIN, wordCountOf } from './entries.js'
import type { IndexImage } from './image.js'
import { Probe } from './probe.js'
import type { Recency } from './recency.js'
import { NONE, type Records, SIZE_HIGH, SLOTS_MAX } from './records.js'
import type { SlotTable } from './slot-table.js'

/** The parts of an empty index. */
interface Parts {
  readonly records: Records
  readonly entries: Entries
  readonly table: SlotTable
  readonly recency: Recency
}

interface Restored {
  readonly count: number
  readonly bytes: number
}

/** Takes over an image as it is. */
export const restoreWhole = (parts: Parts, image: IndexImage): Restored => {
  const { records, entries, table, recency } = parts
  records.restore(image)
  table.restore(image)
  recency.restore(image)
  let count = 0
  let bytes = 0
  for (let slot = 0; slot < image.slotCount; slot++) {
    if (records.isFree(slot)) continue
    entries.set(slot, TWIN, false)
    count++
    bytes += entries.occupied(slot)
    // Nobody who pinned it lives.
    if (!entries.has(slot, PINNED)) continue
    entries.set(slot, PINNED, false)
    recency.append(slot)
  }
  return { count, bytes }
}

/** Takes over the records only: the table is made anew, the order of use is known to the second. */
export const restoreRecords = (parts: Parts, image: IndexImage): Restored => {
  const { records, entries, table, recency } = parts
  records.restore({ ...image, free: NONE })
  table.reserve(image.slotCount)
  const probe = new Probe()
  const kept = new Float64Array(image.slotCount)
  let count = 0
  let bytes = 0
  for (let slot = 0; slot < image.slotCount; slot++) {
    if (!readmit(parts, slot, probe)) continue
    entries.set(slot, PINNED, false)
    entries.set(slot, TWIN, false)
    kept[count++] = slot
    bytes += entries.occupied(slot)
  }
  for (const slot of byAccess(kept.subarray(0, count), entries)) recency.append(slot)
  return { count, bytes }
}

/** What was not used for longer counts as equally old. */
const YEAR_S = 2 ** 25

/** Slots from the one that was used least recently to the one used last; sorted in place, as numbers of 53 bits. */
const byAccess = (slots: Float64Array, entries: Entries): Float64Array => {
  const newestS = slots.reduce((newest, slot) => Math.max(newest, entries.accessedOf(slot)), 0)
  for (const [at, slot] of slots.entries()) {
    const ageS = Math.min(YEAR_S - 1, newestS - entries.accessedOf(slot))
    slots[at] = (YEAR_S - 1 - ageS) * SLOTS_MAX + slot
  }
  return slots.sort().map((key) => key % SLOTS_MAX)
}

/** Whether a record of an image that is not whole is a blob, and the first of that digest. */
const readmit = ({ records, table }: Parts, slot: number, probe: Probe): boolean => {
  if (!records.isFree(slot)) {
    records.read(slot, probe, wordCountOf(records.get(slot, SIZE_HIGH)))
    if (table.find(probe) === NONE) {
      table.insert(slot)
      return true
    }
  }
  records.release(slot)
  return false
}
