import { StatusError } from '../base/status-error.js'

/**
 * The header of a file of bazel-remote. It has the form of a zstd frame that decoders skip: magic number and length
 * (4 bytes each), then the length of the content (8), the compression (1), the length of a chunk (4), and the number of
 * offsets (8), which follow (8 each). All numbers are little-endian. The frames of the chunks come next.
 */
export interface CasblobHeader {
  /** Of the whole header: where the content begins. */
  readonly headerBytes: number
  readonly contentBytes: number
  readonly encoding: 'IDENTITY' | 'ZSTD'
}

/** Length of the header up to the offsets. */
export const FIXED_BYTES = 29

const MAGIC = 0x184d2a50
const ENCODINGS = ['IDENTITY', 'ZSTD'] as const

/** Throws DATA_LOSS if `bytes`, the first of a file, are no such header. */
export const parseCasblob = (bytes: Buffer): CasblobHeader => {
  if (bytes.length < FIXED_BYTES || bytes.readUInt32LE(0) !== MAGIC) throw damaged('the header of the file is damaged')
  const encoding = ENCODINGS[bytes.readUInt8(16)]
  if (encoding === undefined) throw damaged(`the compression ${bytes.readUInt8(16)} of the file is not known`)
  const headerBytes = 8 + bytes.readUInt32LE(4)
  const offsets = Number(bytes.readBigInt64LE(21))
  if (headerBytes !== FIXED_BYTES + 8 * offsets) throw damaged('the header of the file has an unexpected length')
  return { headerBytes, contentBytes: Number(bytes.readBigInt64LE(8)), encoding }
}

const damaged = (message: string): StatusError => new StatusError('DATA_LOSS', message)
