import type { Digest } from '../../reapi/digest.js'
import type { Blob } from '../../stream/blob/blob.js'
import { isWhole, type Range } from '../../stream/path.js'

/**
 * Verifies a blob from another machine: the read fails before the last byte if the content does not match the digest,
 * and `repair` removes the blob there. Partial reads and blobs under keys cannot be verified.
 */
export const checkedOnReturn = (blob: Blob, digest: Digest, range: Range, repair?: () => Promise<void>): Blob => {
  if (!digest.describesContent || !isWhole(range, digest.sizeBytes)) return blob
  return blob.verify(digest, { fault: 'backend', ...(repair && { repair }) })
}
