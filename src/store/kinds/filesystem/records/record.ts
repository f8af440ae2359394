import { crc32 } from 'node:zlib'
import { Digest } from '../../../../reapi/digest.js'
import { type DigestFunction, functionsByValue } from '../../../../reapi/digest-function.js'
import type { BlobKind } from '../../../index/entries.js'
import { PLACE_BYTES, placeOf } from './place.js'

/** Records are aligned to this, so that 32 bits can hold a location. */
export const UNIT_BYTES = 64

/**
 * `bytes` contains a blob. `file` gives the checksum of a blob kept as a file, `packed` that of one kept in a file with
 * others, and its place there. `removal` ends the validity of earlier records of the digest. `touches` lists which blobs
 * were used, and when (`touches.ts`); its digest has no meaning.
 */
export type RecordKind = BlobKind | 'removal' | 'touches'

/** Length of what a record has after its head. */
const bodyBytesOf = ({ kind, storedBytes }: Pick<RecordHead, 'kind' | 'storedBytes'>): number => {
  if (kind === 'packed') return PLACE_BYTES
  return kind === 'bytes' || kind === 'touches' ? storedBytes : 0
}

export interface RecordHead {
  readonly kind: RecordKind
  /** A key, if the hash is not known to be that of the content. */
  readonly digest: Digest
  /**
   * Length of the stored bytes. Below a store that encodes, it differs from the size in the digest. 0 for a removal.
   */
  readonly storedBytes: number
  /** Milliseconds since the epoch, a whole number. */
  readonly writtenMs: number
  /** CRC-32 of the stored bytes. */
  readonly checksum: number
  /** Of two records for one digest, the higher number is newer, wherever they are. Copies keep their number. */
  readonly sequence: number
}

/** What whoever drafts a record knows of it. */
export type DraftedHead = Omit<RecordHead, 'writtenMs' | 'sequence'>

/** The values that determine the length of a record. */
export interface RecordSize {
  readonly kind: RecordKind
  readonly hashBytes: number
  readonly storedBytes: number
}

/**
 * The record layout of a segment. Format 1 has no sequence numbers and is only read. There the position serves as the
 * sequence number, also for a copy.
 */
export type RecordFormat = 1 | 2

export const CURRENT_FORMAT: RecordFormat = 2

/** How to read the records of a segment. */
export interface RecordReading {
  /** The secret at the beginning of each record. */
  readonly stamp: Buffer
  readonly format: RecordFormat
}

const kinds: readonly RecordKind[] = ['bytes', 'file', 'removal', 'touches', 'packed']

/** The stamp of the segment, then the checksum of the rest of the head. */
export const STAMP_BYTES = 8
const HEAD_CHECKSUM_AT = 8
const CHECKSUM_AT = 12
const KIND_AT = 16
const FUNCTION_AT = 20
const SIZE_AT = 24
const STORED_AT = 32
/**
 * The time, plus a half if the key is the hash of the content (`Digest.isHashOfContent`). Records of earlier versions never have it, and
 * these versions read such a time as it is.
 */
const WRITTEN_AT = 40
const HASH_MARK = 0.5
const markOf = ({ isHashOfContent }: Digest): number => (isHashOfContent ? HASH_MARK : 0)
const SEQUENCE_AT = 48
const hashAt = (format: RecordFormat): number => (format === 1 ? 48 : 56)
export const HEAD_BYTES_MAX = hashAt(CURRENT_FORMAT) + 64

export const headBytesOf = (digest: Digest, format: RecordFormat): number => hashAt(format) + hashBytesOf(digest)

const hashBytesOf = ({ function: { hexLength } }: Digest): number => hexLength / 2

export const sizeOf = ({
  kind,
  digest,
  storedBytes,
}: Pick<RecordHead, 'kind' | 'digest' | 'storedBytes'>): RecordSize => ({
  kind,
  hashBytes: hashBytesOf(digest),
  storedBytes,
})

/** The bytes that a record takes in a segment. */
export const recordBytes = (
  { kind, hashBytes, storedBytes }: RecordSize,
  format: RecordFormat = CURRENT_FORMAT,
): number => {
  const bytes = hashAt(format) + hashBytes + bodyBytesOf({ kind, storedBytes })
  return Math.ceil(bytes / UNIT_BYTES) * UNIT_BYTES
}

/**
 * Writes a record of the current format at `at`, with its bytes if it has any. The padding up to the next unit is
 * zeroed. Returns the length. The record is none until `sealRecord` has completed it.
 */
export const draftRecord = (into: Buffer, at: number, head: DraftedHead, bytes: Buffer | undefined): number => {
  const { kind, digest, storedBytes, checksum } = head
  const headEnd = at + headBytesOf(digest, CURRENT_FORMAT)
  into.writeUInt32LE(checksum, at + CHECKSUM_AT)
  into.writeUInt32LE(kinds.indexOf(kind), at + KIND_AT)
  into.writeUInt32LE(digest.function.value, at + FUNCTION_AT)
  into.writeDoubleLE(digest.sizeBytes, at + SIZE_AT)
  into.writeDoubleLE(storedBytes, at + STORED_AT)
  into.writeDoubleLE(markOf(digest), at + WRITTEN_AT)
  into.write(digest.hash, at + hashAt(CURRENT_FORMAT), 'hex')
  const length = recordBytes(sizeOf(head))
  const end = bytes === undefined ? headEnd : headEnd + bytes.copy(into, headEnd)
  into.fill(0, end, at + length)
  return length
}

/** Completes the draft at `at` as a record of the segment with this stamp. */
export const sealRecord = (
  into: Buffer,
  at: number,
  stamp: Buffer,
  { digest, writtenMs, sequence }: Pick<RecordHead, 'digest' | 'writtenMs' | 'sequence'>,
): void => {
  stamp.copy(into, at)
  into.writeDoubleLE(Math.floor(writtenMs) + markOf(digest), at + WRITTEN_AT)
  into.writeDoubleLE(sequence, at + SEQUENCE_AT)
  const headEnd = at + headBytesOf(digest, CURRENT_FORMAT)
  into.writeUInt32LE(crc32(into.subarray(at + CHECKSUM_AT, headEnd)), at + HEAD_CHECKSUM_AT)
}

/** The end of the head at `at`; undefined if there is none. */
const headEndAt = (from: Buffer, at: number, format: RecordFormat): number | undefined => {
  const hashBegin = at + hashAt(format)
  if (from.length < hashBegin || kinds[from.readUInt32LE(at + KIND_AT)] === undefined) return undefined
  const digestFunction = functionsByValue.get(from.readUInt32LE(at + FUNCTION_AT))
  if (digestFunction === undefined) return undefined
  const headEnd = hashBegin + digestFunction.hexLength / 2
  return from.length < headEnd ? undefined : headEnd
}

/**
 * Reads a head; undefined where there is none or it is damaged. The stamp is a secret of the segment, so a client
 * cannot upload bytes that pass for a record. In format 1 the sequence number is 0.
 */
const decodeHead = (from: Buffer, at: number, { stamp, format }: RecordReading): RecordHead | undefined => {
  const headEnd = headEndAt(from, at, format)
  if (headEnd === undefined || from.compare(stamp, 0, STAMP_BYTES, at, at + STAMP_BYTES) !== 0) return undefined
  if (crc32(from.subarray(at + CHECKSUM_AT, headEnd)) !== from.readUInt32LE(at + HEAD_CHECKSUM_AT)) return undefined
  return new DecodedHead(from, at, format)
}

/** A class, because copying fields from one object to another costs more than reading them. */
class DecodedHead implements RecordHead {
  readonly kind: RecordKind
  readonly digest: Digest
  readonly storedBytes: number
  readonly writtenMs: number
  readonly checksum: number
  readonly sequence: number

  constructor(from: Buffer, at: number, format: RecordFormat) {
    const digestFunction = functionsByValue.get(from.readUInt32LE(at + FUNCTION_AT)) as DigestFunction
    this.kind = kinds[from.readUInt32LE(at + KIND_AT)] as RecordKind
    const written = from.readDoubleLE(at + WRITTEN_AT)
    this.writtenMs = Math.floor(written)
    this.digest = Digest.ofHashBytes(from, at + hashAt(format), digestFunction, {
      sizeBytes: from.readDoubleLE(at + SIZE_AT),
      describesContent: written - this.writtenMs === HASH_MARK,
    })
    this.storedBytes = from.readDoubleLE(at + STORED_AT)
    this.checksum = from.readUInt32LE(at + CHECKSUM_AT)
    this.sequence = format === 1 ? 0 : from.readDoubleLE(at + SEQUENCE_AT)
  }
}

/** The head of a draft. Throws where there is none. */
export const draftedHead = (from: Buffer, at: number): DraftedHead => {
  if (headEndAt(from, at, CURRENT_FORMAT) === undefined) throw new Error('a draft of a record is cut short')
  return new DecodedHead(from, at, CURRENT_FORMAT)
}

/** A record with its bytes. */
export interface Content {
  readonly head: RecordHead
  /** What follows the head, as far as `from` has it: the blob, its place, or nothing. */
  readonly bytes: Buffer
  /** Whether it matches its checksum. */
  readonly isWhole: boolean
}

const isWhole = ({ kind, checksum }: RecordHead, bytes: Buffer): boolean => {
  if (kind === 'packed') return placeOf(bytes) !== undefined
  return kind === 'file' || kind === 'removal' || crc32(bytes) === checksum
}

export const contentOf = (from: Buffer, at: number, reading: RecordReading): Content | undefined => {
  const head = decodeHead(from, at, reading)
  if (head === undefined) return undefined
  const begin = at + headBytesOf(head.digest, reading.format)
  const bytes = from.subarray(begin, begin + bodyBytesOf(head))
  return { head, bytes, isWhole: isWhole(head, bytes) }
}
