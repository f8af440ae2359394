import { type Entries, EXECUTABLE, KEPT, PINNED } from './entries.js'
import type { Recency, RecencyImage } from './recency.js'
import { type Records, type RecordsImage, SLOTS_MAX } from './records.js'
import type { SlotTable } from './slot-table.js'

/** The input to rebuild an index: everything but its table. */
export interface IndexImage extends RecordsImage, RecencyImage {}

/** The parts of an empty index. */
interface Parts {
  readonly records: Records
  readonly entries: Entries
  readonly table: SlotTable
  readonly recency: Recency
}

/** Told of each blob: its slot, and the space it takes. */
type OnBlob = (slot: number, bytes: number) => void

/** Returns the number of blobs and the space they take. */
export const restore = (
  { records, entries, table, recency }: Parts,
  image: IndexImage,
  { isOrdered, onBlob }: { readonly isOrdered: boolean; readonly onBlob: OnBlob },
): { readonly count: number; readonly bytes: number } => {
  records.restore(image)
  // An image that took time to write may contain a digest twice: the first counts.
  const again = table.fill(image.slotCount)
  if (isOrdered) recency.restore(image)
  const unordered: number[] = []
  let count = 0
  let bytes = 0
  for (let slot = 0; slot < image.slotCount; slot++) {
    if (records.isFree(slot) || again.has(slot)) {
      records.release(slot)
      continue
    }
    // A pinned or kept blob was in no order of use.
    if (!isOrdered || entries.has(slot, PINNED | KEPT)) unordered.push(slot)
    entries.set(slot, PINNED | KEPT | EXECUTABLE, false)
    const occupied = entries.occupied(slot)
    count++
    bytes += occupied
    onBlob(slot, occupied)
  }
  for (const slot of byAccess(unordered, entries)) recency.append(slot)
  return { count, bytes }
}

/** Blobs unused for longer than this count as equally old. */
const YEAR_S = 2 ** 25

/**
 * Sorts slots from the least recently used to the most recently used. Slots of the same second keep their order. The
 * sort keys are numbers of 53 bits.
 */
export const byAccess = (slots: readonly number[], entries: Entries): Float64Array => {
  const newestS = slots.reduce((newest, slot) => Math.max(newest, entries.accessedOf(slot)), 0)
  const keys = Float64Array.from(slots, (slot, at) => {
    const ageS = Math.min(YEAR_S - 1, newestS - entries.accessedOf(slot))
    return (YEAR_S - 1 - ageS) * SLOTS_MAX + at
  })
  return keys.sort().map((key) => slots[key % SLOTS_MAX] as number)
}
