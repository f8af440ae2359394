import { crc32 } from 'node:zlib'
import { StatusError } from '../../base/status-error.js'

// The stored form of a blob. Numbers are little-endian.
//
//   header   magic "rxl4", version, algorithm, two zero bytes, block size (u32), CRC-32 of the 12 bytes before it (u32)
//   record*  word (u32: payload length, flags), CRC-32 of the payload (u32), payload
//
// Records of a blob in LZ4 are blocks: compressed ones start with their decoded length (u32), as lz4-napi writes and wants
// it, one that does not get smaller is kept raw, and every one but the last decodes to exactly the block size. Records of a
// blob in zstd are compressed blocks of at most the block size, each a frame behind its decoded length (u32), or raw
// pieces of frames as a client made them. Frames need nothing else to be decoded: without heads and lengths, the payloads
// one after the other are what `compressed-blobs/zstd` is to answer.
//
// A reader knows the position of a block without decoding what precedes it, and an INDEX record at the end of a larger
// blob (seek-index.ts) says where blocks are, for those who read from the middle. The last record has the END flag, the
// blob's length (u64) and where its index is (u64, 0 for none): without it the blob is torn. CRCs find damage before the
// decoder sees it.

export const HEADER_BYTES = 16
export const RECORD_BYTES = 8
export const END_BYTES = RECORD_BYTES + 16
export const LENGTH_PREFIX_BYTES = 4

/** Below this the records weigh more than compression saves. */
export const MIN_BLOCK_BYTES = 1024
export const MAX_BLOCK_BYTES = 4 * 1024 * 1024

/** Most bytes of a client's frame in one record. */
export const MAX_PIECE_BYTES = 256 * 1024

/** A block of a frame decodes once it is whole: so much of one may be kept and nothing of it be decoded. */
export const UNDECODED_SLACK_BYTES = 512 * 1024

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
  /** Where its record begins; 0 for none. */
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

/** The head of a record whose payload is `parts` one after the other. */
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

/** Rejects a length that no record of such a blob has, so that a hostile one is never waited for. */
export const decodeRecordHead = (head: Buffer, header: Header): RecordHead => {
  const word = head.readUInt32LE(0)
  const payloadBytes = word & LENGTH_MASK
  const kind = (word & END) !== 0 ? 'end' : (word & INDEX) !== 0 ? 'index' : (word & RAW) !== 0 ? 'raw' : 'compressed'
  const maxBytes = maxPayloadBytes(kind, header)
  const isPossible = payloadBytes > 0 && payloadBytes <= maxBytes && (kind !== 'end' || payloadBytes === maxBytes)
  if (!isPossible) throw corrupt(`a record claims ${payloadBytes} stored bytes, expected 1 to ${maxBytes}`)
  return { kind, payloadBytes, crc: head.readUInt32LE(4) }
}

const maxPayloadBytes = (kind: RecordHead['kind'], { algorithm, blockBytes }: Header): number => {
  if (kind === 'end') return END_BYTES - RECORD_BYTES
  if (kind === 'index') return MAX_INDEX_BYTES
  if (algorithm === 'lz4') return blockBytes
  return kind === 'raw' ? MAX_PIECE_BYTES : LENGTH_PREFIX_BYTES + maxFrameBytes(blockBytes)
}

/** At most how long a frame of so many bytes is that do not get smaller: a few bytes for each 128 KiB, and its ends. */
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
 * At most how many stored bytes hold `sizeBytes` of a blob from a record on, whatever block size it was written with. A
 * client's frames may be longer than their content (upload-encoder.ts says by how much).
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
  if (crc32(payload) !== head.crc) throw corrupt('a record differs from what was written')
}

export const corrupt = (what: string, cause?: unknown): StatusError =>
  new StatusError('DATA_LOSS', `a compressed blob is damaged: ${what}`, { cause })
