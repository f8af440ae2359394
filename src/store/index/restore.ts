import { setImmediate } from 'node:timers/promises'
import { type Entries, PINNED, TWIN, wordCountOf } from './entries.js'
import type { IndexImage } from './image.js'
import { ascending } from './order.js'
import { Probe } from './probe.js'
import type { Recency } from './recency.js'
import { CHUNK_SLOTS, NONE, type Records, SIZE_HIGH } from './records.js'
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
export const restoreWhole = async (parts: Parts, image: IndexImage): Promise<Restored> => {
  const { records, entries, table, recency } = parts
  records.restore(image)
  table.restore(image)
  recency.restore(image)
  let count = 0
  let bytes = 0
  for (let slot = 0; slot < image.slotCount; slot++) {
    if (slot % CHUNK_SLOTS === 0) await setImmediate()
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
export const restoreRecords = async (parts: Parts, image: IndexImage): Promise<Restored> => {
  const { records, entries, table, recency } = parts
  records.restore({ ...image, free: NONE })
  table.reserve(image.slotCount)
  const kept = new Uint32Array(image.slotCount)
  const probe = new Probe()
  let count = 0
  let bytes = 0
  for (let slot = 0; slot < image.slotCount; slot++) {
    if (slot % CHUNK_SLOTS === 0) await setImmediate()
    if (!readmit(parts, slot, probe)) continue
    entries.set(slot, PINNED, false)
    entries.set(slot, TWIN, false)
    kept[count++] = slot
    bytes += entries.occupied(slot)
  }
  const accessed = new Uint32Array(count)
  for (let at = 0; at < count; at++) accessed[at] = entries.accessedOf(kept[at] as number)
  const order = await ascending(accessed)
  for (let at = 0; at < count; at++) {
    recency.append(kept[order[at] as number] as number)
    if (at % CHUNK_SLOTS === 0) await setImmediate()
  }
  return { count, bytes }
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
