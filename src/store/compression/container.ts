import { crc32 } from 'node:zlib'
import { StatusError } from '../../base/status-error.js'

// The stored form of a blob. Numbers are little-endian.
//
//   header   magic "rxl4", version, algorithm, two zero bytes, block size (u32), CRC-32 of the 12 bytes before it (u32)
//   record*  word (u32: payload length, flags), CRC-32 of the payload (u32), payload
//
// Every block but the last decodes to exactly the block size, so a reader knows the position of a block without decoding
// what precedes it. The payload of a compressed block starts with its decoded length (u32), as lz4-napi writes and wants
// it; a block that does not get smaller is kept raw. The last record has the END flag and the blob's length (u64):
// without it the blob is torn. CRCs find damage before the decoder sees it.

export const HEADER_BYTES = 16
export const RECORD_BYTES = 8
export const END_BYTES = RECORD_BYTES + 8
export const LENGTH_PREFIX_BYTES = 4

/** Below this the records weigh more than compression saves. */
export const MIN_BLOCK_BYTES = 1024
export const MAX_BLOCK_BYTES = 4 * 1024 * 1024

/**
 * After so many bytes a stage lets the event loop turn. Between a source and a sink that never wait it would not, and only
 * there the buffers of lz4-napi are given back: 1 GiB grew the process by 1,050 MiB, with the turns by less than 100.
 */
export const BURST_BYTES = 1024 * 1024

const MAGIC = 0x346c7872
const VERSION = 1
const LZ4 = 1
const RAW = 0x8000_0000
const END = 0x4000_0000
const LENGTH_MASK = 0x3fff_ffff

export interface RecordHead {
  readonly kind: 'raw' | 'compressed' | 'end'
  readonly payloadBytes: number
  readonly crc: number
}

export const encodeHeader = (blockBytes: number): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(MAGIC, 0)
  header.writeUInt8(VERSION, 4)
  header.writeUInt8(LZ4, 5)
  header.writeUInt32LE(blockBytes, 8)
  header.writeUInt32LE(crc32(header.subarray(0, 12)), 12)
  return header
}

/** Answers the block size. */
export const decodeHeader = (header: Buffer): number => {
  const isIntact = header.readUInt32LE(12) === crc32(header.subarray(0, 12))
  if (!isIntact || header.readUInt32LE(0) !== MAGIC) throw corrupt('it does not start like a compressed blob')
  if (header.readUInt8(4) !== VERSION || header.readUInt8(5) !== LZ4) {
    throw corrupt(`it has version ${header.readUInt8(4)} and algorithm ${header.readUInt8(5)}, expected 1 and 1`)
  }
  return header.readUInt32LE(8)
}

export const encodeRecordHead = (kind: RecordHead['kind'], payload: Buffer): Buffer => {
  const head = Buffer.allocUnsafe(RECORD_BYTES)
  const flag = kind === 'raw' ? RAW : kind === 'end' ? END : 0
  head.writeUInt32LE((payload.length | flag) >>> 0, 0)
  head.writeUInt32LE(crc32(payload), 4)
  return head
}

/** Rejects a length that no block of `blockBytes` has, so that a hostile one is never waited for. */
export const decodeRecordHead = (head: Buffer, blockBytes: number): RecordHead => {
  const word = head.readUInt32LE(0)
  const payloadBytes = word & LENGTH_MASK
  const kind = (word & END) !== 0 ? 'end' : (word & RAW) !== 0 ? 'raw' : 'compressed'
  const isPossible = kind === 'end' ? payloadBytes === 8 : payloadBytes > 0 && payloadBytes <= blockBytes
  if (!isPossible) throw corrupt(`a block claims ${payloadBytes} stored bytes, expected 1 to ${blockBytes}`)
  return { kind, payloadBytes, crc: head.readUInt32LE(4) }
}

export const encodeEnd = (sizeBytes: number): Buffer => {
  const payload = Buffer.alloc(8)
  payload.writeBigUInt64LE(BigInt(sizeBytes))
  return Buffer.concat([encodeRecordHead('end', payload), payload])
}

/** At most how many stored bytes hold the first `sizeBytes` of a blob, whatever block size it was written with. */
export const storedBound = (sizeBytes: number): number =>
  HEADER_BYTES + sizeBytes + MAX_BLOCK_BYTES + (Math.ceil(sizeBytes / MIN_BLOCK_BYTES) + 2) * RECORD_BYTES + END_BYTES

export const checkCrc = (head: RecordHead, payload: Buffer): void => {
  if (crc32(payload) !== head.crc) throw corrupt('a block differs from what was written')
}

export const corrupt = (what: string): StatusError =>
  new StatusError('DATA_LOSS', `a compressed blob is damaged: ${what}`)
