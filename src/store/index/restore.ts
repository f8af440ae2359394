import { type Entries, PINNED, TWIN, wordCountOf } from './entries.js'
import { Probe } from './probe.js'
import type { Recency, RecencyImage } from './recency.js'
import { NONE, type Records, type RecordsImage, SIZE_HIGH, SLOTS_MAX } from './records.js'
import type { SlotTable } from './slot-table.js'

/** What an index is made from again: all but its table. */
export interface IndexImage extends RecordsImage, RecencyImage {}

/** The parts of an empty index. */
interface Parts {
  readonly records: Records
  readonly entries: Entries
  readonly table: SlotTable
  readonly recency: Recency
}

/** Answers how many blobs there are, and what they occupy. */
export const restore = (
  { records, entries, table, recency }: Parts,
  image: IndexImage,
  isOrdered: boolean,
): { readonly count: number; readonly bytes: number } => {
  records.restore(image)
  table.reserve(image.slotCount)
  if (isOrdered) recency.restore(image)
  const probe = new Probe()
  const unordered: number[] = []
  let count = 0
  let bytes = 0
  for (let slot = 0; slot < image.slotCount; slot++) {
    if (!isBlob(records, table, slot, probe)) {
      records.release(slot)
      continue
    }
    table.insert(slot)
    // What was pinned is in no order.
    if (!isOrdered || entries.has(slot, PINNED)) unordered.push(slot)
    entries.set(slot, PINNED | TWIN, false)
    count++
    bytes += entries.occupied(slot)
  }
  for (const slot of byAccess(unordered, entries)) recency.append(slot)
  return { count, bytes }
}

/** Whether a record is that of a blob, and the first of its digest: there may be two in an image that took its time. */
const isBlob = (records: Records, table: SlotTable, slot: number, probe: Probe): boolean => {
  if (records.isFree(slot)) return false
  records.read(slot, probe, wordCountOf(records.get(slot, SIZE_HIGH)))
  return table.find(probe) === NONE
}

/** What was not used for longer counts as equally old. */
const YEAR_S = 2 ** 25

/**
 * Slots from the one that was used least recently to the one used last; those of one second in the order given. Sorted as
 * numbers of 53 bits.
 */
export const byAccess = (slots: readonly number[], entries: Entries): Float64Array => {
  const newestS = slots.reduce((newest, slot) => Math.max(newest, entries.accessedOf(slot)), 0)
  const keys = Float64Array.from(slots, (slot, at) => {
    const ageS = Math.min(YEAR_S - 1, newestS - entries.accessedOf(slot))
    return (YEAR_S - 1 - ageS) * SLOTS_MAX + at
  })
  return keys.sort().map((key) => slots[key % SLOTS_MAX] as number)
}
