import { crc32 } from 'node:zlib'
import { StatusError } from '../../../base/status-error.js'

// The stored form of a blob. Numbers are little-endian.
//
//   header   magic "rxl4", version, algorithm, two zero bytes, block size (u32), CRC-32 of the 12 bytes before it (u32)
//   record*  word (u32: payload length, flags), CRC-32 of the payload (u32), payload
//
// Records of an LZ4 blob are blocks. A compressed block starts with its decoded length (u32), as in the format of
// lz4-napi. A block that does not get smaller is stored raw. Every block but the last decodes to exactly the block
// size.
//
// Records of a zstd blob are either compressed blocks of at most the block size, each a frame after its decoded length
// (u32), or raw pieces of frames from a client. Frames can be decoded independently. The payloads in order, without
// record heads and lengths, are the response to `compressed-blobs/zstd`.
//
// A reader can find a block without decoding those before it. For reads from the middle, an INDEX record at the end of
// a larger blob (seek-index.ts) lists the positions of blocks. The last record has the END flag, the length of the blob
// (u64) and the position of its index (u64, 0 for none). A blob without it is truncated. CRCs detect damage before the
// decoder sees the bytes.

export const HEADER_BYTES = 16
export const RECORD_BYTES = 8
export const END_BYTES = RECORD_BYTES + 16
export const LENGTH_PREFIX_BYTES = 4

/** With smaller blocks the records take more than compression saves. */
export const MIN_BLOCK_BYTES = 1024
export const MAX_BLOCK_BYTES = 4 * 1024 * 1024

/** Maximum bytes of a client's frame in one record. */
export const MAX_PIECE_BYTES = 256 * 1024

/**
 * A block of a frame is decoded once it is complete. Up to this much of one may be stored before anything is decoded.
 */
export const UNDECODED_SLACK_BYTES = 512 * 1024

/** Up to this length a blob, plain or stored, is converted in one go: in a fraction of a millisecond. */
export const AT_ONCE_BYTES = 64 * 1024

export const MAX_INDEX_BYTES = 64 * 1024

const MAGIC = 0x346c7872
const VERSION = 2
const RAW = 0x8000_0000
const END = 0x4000_0000
const INDEX = 0x2000_0000
const LENGTH_MASK = 0x1fff_ffff

const ALGORITHMS = { lz4: 1, zstd: 2 } as const

export interface Header {
  readonly algorithm: keyof typeof ALGORITHMS
  readonly blockBytes: number
}

export interface RecordHead {
  readonly kind: 'raw' | 'compressed' | 'index' | 'end'
  readonly payloadBytes: number
  readonly crc: number
}

export interface End {
  readonly sizeBytes: number
  /** Position of the index record; 0 for none. */
  readonly indexAt: number
}

const FLAGS = { raw: RAW, compressed: 0, index: INDEX, end: END } as const

export const encodeHeader = ({ algorithm, blockBytes }: Header): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(MAGIC, 0)
  header.writeUInt8(VERSION, 4)
  header.writeUInt8(ALGORITHMS[algorithm], 5)
  header.writeUInt32LE(blockBytes, 8)
  header.writeUInt32LE(crc32(header.subarray(0, 12)), 12)
  return header
}

export const decodeHeader = (header: Buffer): Header => {
  const isIntact = header.readUInt32LE(12) === crc32(header.subarray(0, 12))
  if (!isIntact || header.readUInt32LE(0) !== MAGIC) throw corrupt('it does not start like a compressed blob')
  const version = header.readUInt8(4)
  const algorithm = header.readUInt8(5)
  const isKnown = version === VERSION && (algorithm === ALGORITHMS.lz4 || algorithm === ALGORITHMS.zstd)
  if (!isKnown) throw corrupt(`it has version ${version} and algorithm ${algorithm}, expected ${VERSION} and 1 or 2`)
  return { algorithm: algorithm === ALGORITHMS.zstd ? 'zstd' : 'lz4', blockBytes: header.readUInt32LE(8) }
}

/** The head of a record whose payload is the concatenation of `parts`. */
export const encodeRecordHead = (kind: RecordHead['kind'], ...parts: readonly Buffer[]): Buffer => {
  const head = Buffer.allocUnsafe(RECORD_BYTES)
  let payloadBytes = 0
  let crc = 0
  for (const part of parts) {
    payloadBytes += part.length
    crc = crc32(part, crc)
  }
  head.writeUInt32LE((payloadBytes | FLAGS[kind]) >>> 0, 0)
  head.writeUInt32LE(crc, 4)
  return head
}

/** The head at a position. Rejects an impossible length, so that a forged one is never waited for. */
export const decodeRecordHead = (bytes: Buffer, header: Header, at = 0): RecordHead => {
  const word = bytes.readUInt32LE(at)
  const payloadBytes = word & LENGTH_MASK
  const kind = (word & END) !== 0 ? 'end' : (word & INDEX) !== 0 ? 'index' : (word & RAW) !== 0 ? 'raw' : 'compressed'
  const maxBytes = maxPayloadBytes(kind, header)
  const isPossible = payloadBytes > 0 && payloadBytes <= maxBytes && (kind !== 'end' || payloadBytes === maxBytes)
  if (!isPossible) throw corrupt(`a record claims ${payloadBytes} stored bytes, expected 1 to ${maxBytes}`)
  return { kind, payloadBytes, crc: bytes.readUInt32LE(at + 4) }
}

const maxPayloadBytes = (kind: RecordHead['kind'], { algorithm, blockBytes }: Header): number => {
  if (kind === 'end') return END_BYTES - RECORD_BYTES
  if (kind === 'index') return MAX_INDEX_BYTES
  if (algorithm === 'lz4') return blockBytes
  return kind === 'raw' ? MAX_PIECE_BYTES : LENGTH_PREFIX_BYTES + maxFrameBytes(blockBytes)
}

/** Maximum length of a frame of this many incompressible bytes: a few bytes per 128 KiB, plus header and trailer. */
const maxFrameBytes = (blockBytes: number): number => blockBytes + (blockBytes >> 7) + MAX_FRAME_OVERHEAD_BYTES

const MAX_FRAME_OVERHEAD_BYTES = 1024

export const encodeEnd = ({ sizeBytes, indexAt }: End): Buffer => {
  const payload = Buffer.alloc(END_BYTES - RECORD_BYTES)
  payload.writeBigUInt64LE(BigInt(sizeBytes), 0)
  payload.writeBigUInt64LE(BigInt(indexAt), 8)
  return Buffer.concat([encodeRecordHead('end', payload), payload])
}

export const decodeEnd = (payload: Buffer): End => ({
  sizeBytes: Number(payload.readBigUInt64LE(0)),
  indexAt: Number(payload.readBigUInt64LE(8)),
})

/**
 * Maximum number of stored bytes that hold `sizeBytes` of a blob from a record on, for any block size. Frames of
 * clients may be longer than their content (upload-encoder.ts gives the limit).
 */
export const storedBound = (sizeBytes: number): number =>
  HEADER_BYTES +
  2 * sizeBytes +
  UNDECODED_SLACK_BYTES +
  maxFrameBytes(MAX_BLOCK_BYTES) +
  Math.ceil(sizeBytes / MIN_BLOCK_BYTES) * (RECORD_BYTES + LENGTH_PREFIX_BYTES + 32) +
  MAX_INDEX_BYTES +
  END_BYTES

export const checkCrc = (head: RecordHead, payload: Buffer): void => {
  if (crc32(payload) !== head.crc) throw corrupt('a record differs from the one written')
}

export const corrupt = (what: string, cause?: unknown): StatusError =>
  new StatusError('DATA_LOSS', `a compressed blob is damaged: ${what}`, { cause })
