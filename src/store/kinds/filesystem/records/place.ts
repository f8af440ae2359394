import { crc32 } from 'node:zlib'

/** Where a blob lies in a file with others. */
export interface Place {
  /** Names the file; below 2^48, and never used for another file. */
  readonly pack: number
  /** Of its first byte. */
  readonly offset: number
}

const OFFSET_AT = 6
const CHECKSUM_AT = 12
export const PLACE_BYTES = 16

export const encodePlace = ({ pack, offset }: Place): Buffer => {
  const bytes = Buffer.allocUnsafe(PLACE_BYTES)
  bytes.writeUIntLE(pack, 0, 6)
  bytes.writeUIntLE(offset, OFFSET_AT, 6)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CHECKSUM_AT)), CHECKSUM_AT)
  return bytes
}

/** Undefined when it is damaged. */
export const placeOf = (bytes: Buffer): Place | undefined => {
  if (bytes.length < PLACE_BYTES || crc32(bytes.subarray(0, CHECKSUM_AT)) !== bytes.readUInt32LE(CHECKSUM_AT))
    return undefined
  return { pack: bytes.readUIntLE(0, 6), offset: bytes.readUIntLE(OFFSET_AT, 6) }
}
