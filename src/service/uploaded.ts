import type { Compressor } from '../reapi/compressor.js'
import type { Digest } from '../reapi/digest.js'
import { Blob } from '../stream/blob/blob.js'
import type { BlobFeed } from '../stream/blob/feed.js'
import type { Encoding } from '../stream/blob/stage.js'

/** A blob as a client sends it, compressed or not: its message, or what comes in many of them. */
export const uploaded = (sent: Buffer | BlobFeed, digest: Digest, compressor: Compressor | undefined): Blob => {
  const encoding: Encoding = compressor?.name ?? 'IDENTITY'
  const { sizeBytes } = digest
  if (Buffer.isBuffer(sent)) return Blob.ofBytes(sent, { encoding }).as('IDENTITY', sizeBytes)
  const facts = encoding === 'IDENTITY' ? { encoding, sizeBytes } : { encoding }
  return Blob.ofFeed(sent, facts).as('IDENTITY', sizeBytes)
}
