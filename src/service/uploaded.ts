import type { Compressor } from '../reapi/compressor.js'
import type { Digest } from '../reapi/digest.js'
import { Blob } from '../stream/blob/blob.js'
import type { BlobFeed } from '../stream/blob/feed.js'
import type { Encoding } from '../stream/blob/stage.js'

/** The blob of an upload, decompressed if necessary. `sent` is a single message, or a feed of the data of many. */
export const uploaded = (sent: Buffer | BlobFeed, digest: Digest, compressor: Compressor | undefined): Blob => {
  const encoding: Encoding = compressor?.name ?? 'IDENTITY'
  const { sizeBytes } = digest
  if (Buffer.isBuffer(sent)) return Blob.ofBytes(sent, { encoding }).as('IDENTITY', sizeBytes)
  const facts = encoding === 'IDENTITY' ? { encoding, sizeBytes } : { encoding }
  return Blob.ofFeed(sent, facts).as('IDENTITY', sizeBytes)
}
