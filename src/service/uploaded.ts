import type { CompressorName } from '../reapi/compressor.js'
import { Blob } from '../stream/blob/blob.js'
import type { BlobFeed } from '../stream/blob/feed.js'
import type { Encoding } from '../stream/blob/stage.js'
import { STAGE_BYTES } from '../stream/path.js'
import type { Windows } from './windows.js'

export interface Sent {
  /** Undefined for plain bytes. */
  readonly compressor: { readonly name: CompressorName } | undefined
  /** Of the content; undefined if the client did not say it. */
  readonly sizeBytes: number | undefined
  /** The most that the content may have; `sizeBytes` by default. */
  readonly maxBytes?: number
  /** Held until the blob is stored. Not needed if `isDecodedAtOnce`. */
  readonly windows: Windows | undefined
}

/** Whether bytes in memory are decoded in one step, without a window. */
export const isDecodedAtOnce = ({ compressor, sizeBytes }: Omit<Sent, 'windows'>): boolean =>
  compressor === undefined || (sizeBytes !== undefined && sizeBytes <= STAGE_BYTES)

/**
 * The blob of an upload, decompressed if necessary: the only place where bytes of a client get a decompressor. `bytes` is a
 * single message, or a feed of the data of many.
 */
export const uploaded = (bytes: Buffer | BlobFeed, sent: Sent): Blob => {
  const { compressor, sizeBytes, maxBytes, windows } = sent
  const isAtOnce = Buffer.isBuffer(bytes) ? isDecodedAtOnce(sent) : compressor === undefined
  if (!isAtOnce && windows === undefined) throw new Error('a decompressor without memory reserved for it')
  const encoding: Encoding = compressor?.name ?? 'IDENTITY'
  if (Buffer.isBuffer(bytes)) return Blob.ofBytes(bytes, { encoding }).as('IDENTITY', sizeBytes, maxBytes)
  const facts = encoding === 'IDENTITY' && sizeBytes !== undefined ? { encoding, sizeBytes } : { encoding }
  return Blob.ofFeed(bytes, facts).as('IDENTITY', sizeBytes, maxBytes)
}
