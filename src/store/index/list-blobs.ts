import { compareListed, type ListBlobs, type ListedBlob, type ListQuestion } from '../../blobs/listing.js'
import { TimeSlices } from '../../work/time-slices.js'
import type { BlobIndex } from './blob-index.js'

const SLICE_MS = 5
/** Slots between two looks at the clock. */
const STRIDE = 1024

/** One for all indexes, so that several walks do not make a turn longer. */
const slices = new TimeSlices(SLICE_MS)

/** Lists the blobs of an index by a walk over it, a few milliseconds a turn. Holds twice as many blobs as the page has. */
export const listerOf =
  (index: BlobIndex, store: string): ListBlobs =>
  async (question) => {
    const { order, limit, after } = question
    const compare = (a: ListedBlob, b: ListedBlob): number => compareListed(order, a, b)
    let best: ListedBlob[] = []
    let last: ListedBlob | undefined
    let walked = 0
    for (const slot of index.slots()) {
      if (++walked % STRIDE === 0) {
        const pause = slices.step()
        if (pause !== undefined) await pause
      }
      const blob = blobIn(index, slot, store, question, last)
      if (blob === undefined || (after !== undefined && compare(blob, after) <= 0)) continue
      best.push(blob)
      if (best.length < 2 * limit) continue
      best = best.sort(compare).slice(0, limit)
      last = best.at(-1)
    }
    return best.sort(compare).slice(0, limit)
  }

/** Undefined if the blob is not wanted, or comes after `last`. Only the others cost the text of a key. */
const blobIn = (
  index: BlobIndex,
  slot: number,
  store: string,
  { order, minBytes, maxBytes, usedFromMs, usedToMs, wantsKind, hashPrefix }: ListQuestion,
  last: ListedBlob | undefined,
): ListedBlob | undefined => {
  const storedBytes = index.storedBytesOf(slot)
  const usedMs = index.accessedOf(slot) * 1000
  if (storedBytes < minBytes || storedBytes > maxBytes || usedMs < usedFromMs || usedMs > usedToMs) return undefined
  if (last !== undefined && isBehind(order, storedBytes, usedMs, last)) return undefined
  const digest = index.digestOf(slot)
  if (!wantsKind(digest.function.name) || !digest.hash.startsWith(hashPrefix)) return undefined
  return { key: digest.key, store, storedBytes, usedMs }
}

const isBehind = (order: ListQuestion['order'], storedBytes: number, usedMs: number, last: ListedBlob): boolean => {
  if (order === 'largest') return storedBytes < last.storedBytes
  return order === 'oldest' ? usedMs > last.usedMs : usedMs < last.usedMs
}
