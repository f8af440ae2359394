import type { Digest } from '../../reapi/digest.js'
import type { Blob } from '../../stream/blob/blob.js'
import { isWhole, type Range } from '../../stream/path.js'

/**
 * A blob as another machine gave it: of bytes that are not those of the digest nobody gets the whole, and `repair` takes them
 * away there. A part of a blob, and what is under a mere key, cannot be checked.
 */
export const checkedOnReturn = (blob: Blob, digest: Digest, range: Range, repair?: () => Promise<void>): Blob => {
  if (!digest.describesContent || !isWhole(range, digest.sizeBytes)) return blob
  return blob.checkedAs(digest, { fault: 'backend', ...(repair && { repair }) })
}
