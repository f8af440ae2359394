import { promisify } from 'node:util'
import { crc32, deflateRaw, inflateRaw, inflateRawSync } from 'node:zlib'
import { StatusError } from '../../base/status-error.js'
import { decodeRecords, type EventRecord, encodeRecords } from './record.js'

const MAGIC = 0x31425852
export const HEADER_BYTES = 48
/** Events repeat the same words, so the fastest level already makes them five times smaller. */
const LEVEL = 1

/** It is unpacked in less time than another thread takes to begin. */
const SMALL_BYTES = 16 * 1024

const FINISHED = 1

/** What is known of a log after a block: the last number of each stream, so that a log is resumed without its events. */
export interface LogState {
  readonly lastTool: number
  readonly lastInvocation: number
  readonly lastBuild: number
  /** Before compression, without events that were not kept. */
  readonly eventBytes: number
  /** The tool has sent its last event. */
  readonly isFinished: boolean
}

export const NO_STATE: LogState = { lastTool: 0, lastInvocation: 0, lastBuild: 0, eventBytes: 0, isFinished: false }

/** The head of a block of compressed records. */
export interface BlockHead {
  readonly packedBytes: number
  readonly plainBytes: number
  readonly checksum: number
  readonly state: LogState
}

/** A block: its head and its compressed records. Rejects if they cannot be compressed. */
export const encodeBlock = async (records: readonly EventRecord[], state: LogState): Promise<Buffer> => {
  const plain = encodeRecords(records)
  const packed = await promisify(deflateRaw)(plain, { level: LEVEL })
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUInt32LE(MAGIC, 0)
  head.writeUInt32LE(packed.length, 4)
  head.writeUInt32LE(plain.length, 8)
  head.writeUInt32LE(crc32(packed), 12)
  head.writeDoubleLE(state.lastTool, 16)
  head.writeUInt32LE(state.lastInvocation, 24)
  head.writeUInt32LE(state.lastBuild, 28)
  head.writeDoubleLE(state.eventBytes, 32)
  head.writeUInt32LE(state.isFinished ? FINISHED : 0, 40)
  head.writeUInt32LE(crc32(head.subarray(0, 44)), 44)
  return Buffer.concat([head, packed])
}

/** Undefined if the bytes are no head of a block: the log was cut off here. */
export const decodeHead = (bytes: Buffer): BlockHead | undefined => {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32LE(0) !== MAGIC) return undefined
  if (bytes.readUInt32LE(44) !== crc32(bytes.subarray(0, 44))) return undefined
  return {
    packedBytes: bytes.readUInt32LE(4),
    plainBytes: bytes.readUInt32LE(8),
    checksum: bytes.readUInt32LE(12),
    state: {
      lastTool: bytes.readDoubleLE(16),
      lastInvocation: bytes.readUInt32LE(24),
      lastBuild: bytes.readUInt32LE(28),
      eventBytes: bytes.readDoubleLE(32),
      isFinished: (bytes.readUInt32LE(40) & FINISHED) !== 0,
    },
  }
}

export const isWhole = ({ packedBytes, checksum }: BlockHead, packed: Buffer): boolean =>
  packed.length === packedBytes && crc32(packed) === checksum

/** The records of a block. Throws DATA_LOSS if they are damaged. */
export const decodeBlock = async (
  head: BlockHead,
  packed: Buffer,
): Promise<Generator<EventRecord, void, undefined>> => {
  if (!isWhole(head, packed)) throw new StatusError('DATA_LOSS', 'a block of the build events is damaged')
  const bound = { maxOutputLength: Math.max(1, head.plainBytes) }
  if (head.plainBytes <= SMALL_BYTES) return decodeRecords(inflateRawSync(packed, bound))
  return decodeRecords(await promisify(inflateRaw)(packed, bound))
}
