import type { Duplex } from 'node:stream'
import type { CompressorName } from '../../reapi/compressor.js'
import { compressionOf } from '../compression/compression.js'
import { STAGE_BYTES } from '../path.js'
import type { PendingCheck } from '../verify.js'
import type { BlobFeed } from './feed.js'
import type { BlobFile } from './file.js'

/** How the bytes of a blob are encoded on their way; IDENTITY is the blob itself. */
export type Encoding = 'IDENTITY' | CompressorName

/** What a store or a service puts in the way of a blob. Made once; a stream of it is made for each blob that passes. */
export interface BlobStage {
  /** `check` is given to a stage that says `doesCheck`. */
  stream(check: PendingCheck | undefined): Duplex

  /** The same for bytes at hand. Undefined when that is for the stream; rejects with what is wrong with them. */
  bytes?(bytes: Buffer): Buffer | undefined | Promise<Buffer>

  /** The same for bytes that are only lent. Undefined when that is for the stream. */
  feed?(feed: BlobFeed): BlobFeed | undefined

  /** The same for an open file, which is read in its order. Undefined when that is for the stream. */
  file?(file: BlobFile): BlobFile | undefined

  /** It compares the blob with its digest on the way, at no cost of its own: nobody has to do so in front of it. */
  readonly doesCheck?: boolean

  /** What takes its place where the blob is wanted in another encoding; undefined where it can only give this one. */
  as?(encoding: Encoding): readonly BlobStage[] | undefined
}

/** From the blob itself to an encoding. Undone where the blob is wanted plain after all. */
export const encode = (to: CompressorName): BlobStage => {
  const { compress, compressBytes, atOnceBytes } = compressionOf({ name: to })
  return {
    stream: () => compress(),
    bytes: (bytes) => (bytes.length <= atOnceBytes ? compressBytes(bytes) : undefined),
    as: (encoding) => (encoding === 'IDENTITY' ? [] : undefined),
  }
}

/** From an encoding to the blob itself, of `sizeBytes` where that is known. Undone where it is wanted as it came. */
export const decode = (from: CompressorName, sizeBytes: number | undefined): BlobStage => {
  const { decompress, decompressBytes, decompressFeed } = compressionOf({ name: from })
  // What a path may hold of it anyhow.
  const isSmall = sizeBytes !== undefined && sizeBytes > 0 && sizeBytes <= STAGE_BYTES
  return {
    stream: decompress,
    bytes: (bytes) => (isSmall ? decompressBytes?.(bytes, sizeBytes) : undefined),
    feed: (feed) => decompressFeed?.(feed),
    as: (encoding) => (encoding === from ? [] : undefined),
  }
}
