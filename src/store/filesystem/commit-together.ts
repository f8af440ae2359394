import { boundedMap } from '../../base/bounded-map.js'
import type { Digest } from '../../reapi/digest.js'
import type { Shelf } from './shelf.js'
import type { SmallWrite, Written } from './small-writes.js'

/** Puts small files in their places: answers their modification times, or why they are not there, and never rejects. */
type PlaceAll = (files: readonly SmallWrite[]) => Promise<readonly Written[]>

/** A blob that is in memory as a whole. */
export interface BlobBytes {
  readonly digest: Digest
  readonly bytes: Buffer
}

/** How many of those that have to wait for another commit do so at a time. */
const LATER_LANES = 16

/**
 * As `Shelf.commit`, for small blobs whose files are put in place together: they become visible in one step. Answers why
 * each of them failed, if it did. A digest that is under way already, or comes twice, has its turn afterwards.
 */
export const commitTogether = async (
  shelf: Shelf,
  blobs: readonly BlobBytes[],
  placeAll: PlaceAll,
): Promise<readonly (Error | undefined)[]> => {
  const failures = new Array<Error | undefined>(blobs.length)
  const later: number[] = []
  const now: number[] = []
  const files: SmallWrite[] = []
  let end = (): void => {}
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  for (const [index, { digest, bytes }] of blobs.entries()) {
    const placing = shelf.placing(digest, bytes.length)
    if (shelf.commits.has(digest) || shelf.unlinker.isPending(shelf.layout.pathOf(placing.name))) {
      later.push(index)
    } else {
      shelf.commits.begin(digest, over)
      now.push(index)
      files.push({ name: placing.name, isNew: placing.isNew, bytes })
    }
  }
  const written = await placeAll(files)
  for (const [place, index] of now.entries()) {
    const { digest, bytes } = blobs[index] as BlobBytes
    const outcome = written[place]
    if (typeof outcome === 'number') shelf.arrive(digest, bytes.length, outcome, bytes)
    else failures[index] = outcome
    shelf.commits.end(digest)
  }
  end()
  shelf.evict()
  await boundedMap(later, LATER_LANES, async (index) => {
    failures[index] = await commitAlone(shelf, blobs[index] as BlobBytes, placeAll)
  })
  return failures
}

const commitAlone = async (
  shelf: Shelf,
  { digest, bytes }: BlobBytes,
  placeAll: PlaceAll,
): Promise<Error | undefined> => {
  try {
    const place = async ({ name, isNew }: Pick<SmallWrite, 'name' | 'isNew'>): Promise<number> => {
      const [written] = await placeAll([{ name, isNew, bytes }])
      if (typeof written === 'number') return written
      throw written
    }
    await shelf.commit(digest, bytes.length, place, bytes)
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
