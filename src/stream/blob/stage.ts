import type { Duplex } from 'node:stream'
import type { CompressorName } from '../../reapi/compressor.js'
import { COMPRESSOR_BYTES, compressionOf, WINDOW_BYTES } from '../compression/compression.js'
import { STAGE_BYTES } from '../path.js'
import type { PendingCheck } from '../verify.js'
import type { BlobFeed } from './feed.js'
import type { BlobFile } from './file.js'

/** Encoding of a blob in transit; IDENTITY is the plain content. */
export type Encoding = 'IDENTITY' | CompressorName

/** A conversion that a store or service applies to blobs. Created once; `stream` is called for each blob. */
export interface BlobStage {
  /** `check` is passed only to stages with `doesCheck`. */
  stream(check: PendingCheck | undefined): Duplex

  /** Converts bytes in memory. Undefined if only `stream` can do it; throws or rejects if the bytes are invalid. */
  bytes?(bytes: Buffer, check?: PendingCheck): Buffer | undefined | Promise<Buffer>

  /** Converts lent bytes. Undefined if only `stream` can do it. */
  feed?(feed: BlobFeed): BlobFeed | undefined

  /** Converts an open file that is read in order. Undefined if only `stream` can do it. */
  file?(file: BlobFile): BlobFile | undefined

  /** The stage checks the blob against its digest without extra cost, so no check is put before it. */
  readonly doesCheck?: boolean

  /** Memory that the stream holds from its first byte to its end, for a window. The door that lets a client set the pace reserves it. */
  readonly windowBytes: number

  /** The stages that replace this one if another encoding is wanted; undefined if there are none. */
  as?(encoding: Encoding): readonly BlobStage[] | undefined
}

/** Encodes plain content. If the blob is wanted plain after all, the stage is removed. */
export const encode = (to: CompressorName): BlobStage => {
  const { compress, compressBytes, atOnceBytes } = compressionOf({ name: to })
  return {
    stream: () => compress(),
    bytes: (bytes) => (bytes.length <= atOnceBytes ? compressBytes(bytes) : undefined),
    windowBytes: COMPRESSOR_BYTES,
    as: (encoding) => (encoding === 'IDENTITY' ? [] : undefined),
  }
}

/**
 * Decodes to plain content of `sizeBytes`, if known. What announces more than `maxBytes` is refused before it is decoded. If the blob is
 * wanted as it came, the stage is removed.
 */
export const decode = (from: CompressorName, sizeBytes: number | undefined, maxBytes = sizeBytes): BlobStage => {
  const { decompress, decompressBytes, decompressFeed } = compressionOf({ name: from })
  // The same bound as for what a stream holds.
  const isSmall = sizeBytes !== undefined && sizeBytes > 0 && sizeBytes <= STAGE_BYTES
  return {
    stream: () => decompress(maxBytes),
    bytes: (bytes) => (isSmall ? decompressBytes?.(bytes, sizeBytes) : undefined),
    feed: (feed) => decompressFeed?.(feed, maxBytes),
    windowBytes: Math.min(WINDOW_BYTES, maxBytes ?? WINDOW_BYTES),
    as: (encoding) => (encoding === from ? [] : undefined),
  }
}
