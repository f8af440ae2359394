import { type Duplex, Readable } from 'node:stream'
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createDeflateRaw,
  createInflateRaw,
  deflateRawSync,
} from 'node:zlib'
import type { Compressor, CompressorName } from '../../reapi/compressor.js'
import type { BlobFeed } from '../blob/feed.js'
import { collect } from '../collect.js'
import { STAGE_BYTES } from '../path.js'
import { ZlibDecode } from './zlib-decode.js'
import { ZstdCompress, ZstdDecompress, zstdCompress, zstdDecompress } from './zstd.js'
import { zstdDecodedFeed } from './zstd-feed.js'

/** Bound for a decompressor: zstd and Brotli have a window, limited to 8 MiB for zstd. Compressors need less. */
export const WINDOW_BYTES = 9 << 20
export const COMPRESSOR_BYTES = 2 << 20

/** One of REAPI's compressors. Decoders fail with INVALID_ARGUMENT, because their input comes from clients. */
export interface Compression {
  /** `sizeBytes` is the length of the content, if known. Formats that support it write it into the output. */
  compress(sizeBytes?: number): Duplex
  /**
   * Reads ahead of its reader only by a bounded number of decoded bytes, whatever the compression ratio. If a format announces the
   * length of its content, more than `maxBytes` are refused before anything is decoded.
   */
  decompress(maxBytes?: number): Duplex
  compressBytes(bytes: Uint8Array): Buffer
  /** Limit for synchronous compression on the event loop; larger content needs the stage. */
  readonly atOnceBytes: number
  /**
   * Decodes bytes in memory to exactly `sizeBytes`, which the caller has bounded. Undefined on failure: the
   * stage then reports the fault. Absent if it would not be faster than the stage.
   */
  decompressBytes?(bytes: Uint8Array, sizeBytes: number): Buffer | undefined
  /**
   * Like `decompress`, for lent bytes; the decoded bytes are lent too. Absent if it would not be faster than
   * the stage.
   */
  decompressFeed?(feed: BlobFeed, maxBytes?: number): BlobFeed
}

// Measured on a binary. Deflate: level 1 is 106 MB/s to 38 %, level 6 is 36 MB/s to 34 %. Brotli: quality 1
// is 158 MB/s to 35 %, quality 5 is 32 MB/s to 26 %. Node's defaults (6 and 11) would be slower than any
// network.
const deflate = { level: 1, chunkSize: 128 * 1024 }
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 }, chunkSize: 128 * 1024 }
// The zlib stages use the thread pool, which pays off above a tenth of a millisecond.
const ZLIB_AT_ONCE_BYTES = 8 * 1024
const out = { chunkSize: 128 * 1024, highWaterMark: STAGE_BYTES }

const compressions: Readonly<Record<CompressorName, Compression>> = {
  ZSTD: {
    compress: (sizeBytes) => new ZstdCompress(sizeBytes),
    decompress: (maxBytes) => new ZstdDecompress(maxBytes),
    compressBytes: zstdCompress,
    atOnceBytes: STAGE_BYTES,
    decompressBytes: zstdDecompress,
    decompressFeed: zstdDecodedFeed,
  },
  // Raw DEFLATE (RFC 1951) without a zlib or gzip header, as in REAPI.
  DEFLATE: {
    compress: () => createDeflateRaw(deflate),
    decompress: () => new ZlibDecode('raw deflate', createInflateRaw(out)),
    compressBytes: (bytes) => deflateRawSync(bytes, deflate),
    atOnceBytes: ZLIB_AT_ONCE_BYTES,
  },
  BROTLI: {
    compress: () => createBrotliCompress(brotli),
    decompress: () => new ZlibDecode('brotli', createBrotliDecompress(out)),
    compressBytes: (bytes) => brotliCompressSync(bytes, brotli),
    atOnceBytes: ZLIB_AT_ONCE_BYTES,
  },
}

export const compressionOf = (compressor: Pick<Compressor, 'name'>): Compression => compressions[compressor.name]

/**
 * Compresses bytes in memory: small ones synchronously, larger ones with the stage, off the event loop or in
 * slices.
 */
export const compressed = async (
  bytes: Buffer,
  compressor: Pick<Compressor, 'name'>,
  { signal }: { readonly signal: AbortSignal },
): Promise<Buffer> => {
  const { atOnceBytes, compressBytes, compress } = compressionOf(compressor)
  if (bytes.length <= atOnceBytes) return compressBytes(bytes)
  const source = Readable.from(piecesOf(bytes), { objectMode: false, highWaterMark: STAGE_BYTES })
  return collect([source, compress(bytes.length)], { maxBytes: Number.POSITIVE_INFINITY, signal })
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += STAGE_BYTES) yield bytes.subarray(at, at + STAGE_BYTES)
}
