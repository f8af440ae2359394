import { silentLog } from '../../../log/log.js'
import { openReadOnly } from './open-read-only.js'

export interface ListedBlob {
  /** `HASH-SIZE`. */
  readonly key: string
  /** What it takes; less than its size in a store that compresses. */
  readonly storedBytes: number
  /** When it was last used, to the second. */
  readonly usedMs: number
}

/** The largest blobs of a store that is not running, the largest first. */
export const largestBlobs = async (contentPath: string, count: number): Promise<ListedBlob[]> => {
  const { index, records } = await openReadOnly(contentPath, silentLog)
  try {
    const slots = Uint32Array.from(index.slots())
    slots.sort((a, b) => index.storedBytesOf(b) - index.storedBytesOf(a))
    return Array.from(slots.subarray(0, count), (slot) => ({
      key: index.digestOf(slot).key,
      storedBytes: index.storedBytesOf(slot),
      usedMs: index.accessedOf(slot) * 1000,
    }))
  } finally {
    await records.close()
  }
}
