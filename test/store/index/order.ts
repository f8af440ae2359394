import type { BlobIndex } from '../../../src/store/index/blob-index.js'
import { CHUNK_SLOTS, NEWER, NONE, RECORD_WORDS } from '../../../src/store/index/records.js'

/** The slots of an index, least recently used first, pinned ones last. */
export const slotsOf = (index: BlobIndex): number[] => {
  const { chunks, oldest } = index.image
  const slots: number[] = []
  for (let slot = oldest; slot !== NONE; ) {
    slots.push(slot)
    slot = chunks[Math.floor(slot / CHUNK_SLOTS)]?.[(slot % CHUNK_SLOTS) * RECORD_WORDS + NEWER] ?? NONE
  }
  for (const slot of index.slots()) if (index.isPinned(slot)) slots.push(slot)
  return slots
}
