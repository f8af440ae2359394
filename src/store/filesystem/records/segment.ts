import { randomBytes } from 'node:crypto'
import { fstatSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { readAt } from '../files/open-file.js'
import { isGone } from '../files/unlinker.js'
import { sequenceAt } from './location.js'
import {
  CURRENT_FORMAT,
  contentOf,
  HEAD_BYTES_MAX,
  type RecordFormat,
  type RecordHead,
  type RecordReading,
  STAMP_BYTES,
  UNIT_BYTES,
} from './record.js'

const FORMATS: readonly RecordFormat[] = [1, 2]
const NUMBER_AT = 24
const STAMP_AT = 32
const CHECKSUM_AT = STAMP_AT + STAMP_BYTES
const HEADER_BYTES = UNIT_BYTES

/** Records of a segment that hold no blob. */
class Notes {
  #bytes = 0
  #newest = 0

  add(sequence: number, bytes: number): void {
    this.#bytes += bytes
    this.#newest = Math.max(this.#newest, sequence)
  }

  /** What they take, if any of them has this sequence number or a higher one. */
  bytesSince(sequence: number): number {
    return this.#newest >= sequence ? this.#bytes : 0
  }
}

/** One file of records. What was written to it never changes; it goes as a whole, once nothing in it is needed. */
export class Segment implements RecordReading {
  /** Grows by one from segment to segment, and never comes twice. */
  readonly number: number
  readonly path: string
  readonly stamp: Buffer
  readonly format: RecordFormat
  /** Behind the last record. */
  endBytes: number
  /** What its records take that the index still needs. */
  liveBytes = 0
  /** Its removals and touches, as far as they were written or replayed in this run: a start replays no others. */
  readonly removals = new Notes()
  readonly touches = new Notes()
  readonly #file: FileHandle
  #wasMended = false
  #readCount = 0
  #isRetired = false

  private constructor(
    number: number,
    path: string,
    { stamp, format }: RecordReading,
    file: FileHandle,
    endBytes: number,
  ) {
    this.number = number
    this.path = path
    this.stamp = stamp
    this.format = format
    this.endBytes = endBytes
    this.#file = file
  }

  static async create(folder: string, number: number): Promise<Segment> {
    const path = pathOf(folder, number)
    const stamp = randomBytes(STAMP_BYTES)
    const file = await open(path, 'wx+', 0o600)
    try {
      await file.write(headerOf(number, { stamp, format: CURRENT_FORMAT }), 0, HEADER_BYTES, 0)
    } catch (error) {
      await file.close()
      await unlink(path)
      throw error
    }
    return new Segment(number, path, { stamp, format: CURRENT_FORMAT }, file, HEADER_BYTES)
  }

  /**
   * Undefined when the file is none of ours. A damaged header is written again if the first record is whole: that is always a
   * record of the store, so its stamp is that of the segment. Where both are damaged no record can be believed.
   */
  static async open(folder: string, number: number): Promise<Segment | undefined> {
    const path = pathOf(folder, number)
    const file = await open(path, 'r+')
    try {
      const begin = Buffer.alloc(HEADER_BYTES + HEAD_BYTES_MAX)
      await file.read(begin, 0, begin.length, 0)
      const header = begin.subarray(0, HEADER_BYTES)
      const stamp = header.subarray(STAMP_AT, CHECKSUM_AT)
      const format = FORMATS.find((each) => headerOf(number, { stamp, format: each }).equals(header))
      const reading = format === undefined ? readingOf(begin) : { stamp, format }
      if (reading !== undefined) {
        const segment = new Segment(number, path, reading, file, (await file.stat()).size)
        if (format === undefined) await segment.#mend()
        return segment
      }
    } catch (error) {
      await file.close()
      throw error
    }
    await file.close()
    return undefined
  }

  /** Whether its header was damaged, and written again. */
  get wasMended(): boolean {
    return this.#wasMended
  }

  async #mend(): Promise<void> {
    await this.write(headerOf(this.number, this), 0)
    this.#wasMended = true
  }

  /** How long the file is; 0 when somebody deleted it. Never waits for the disk. */
  get fileBytes(): number {
    const { size, nlink } = fstatSync(this.#file.fd)
    return nlink === 0 ? 0 : size
  }

  /** All of its records that were no copies when they were written have this number or a higher one. */
  get firstSequence(): number {
    return sequenceAt(this.number, 0)
  }

  /** A record was written or replayed. */
  note({ kind, sequence }: Pick<RecordHead, 'kind' | 'sequence'>, bytes: number): void {
    if (kind === 'removal') this.removals.add(sequence, bytes)
    else if (kind === 'touches') this.touches.add(sequence, bytes)
  }

  get firstOffset(): number {
    return HEADER_BYTES
  }

  async write(bytes: Buffer, offset: number): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, written, bytes.length - written, offset + written)
      written += bytesWritten
    }
  }

  /** Takes back what was written behind `endBytes`. */
  async cut(): Promise<void> {
    await this.#file.truncate(this.endBytes)
  }

  async sync(): Promise<void> {
    await this.#file.datasync()
  }

  /** What there is from `offset` on, at most `length` bytes: less only at the end of the file. */
  async read(into: Buffer, offset: number): Promise<number> {
    this.#readCount++
    try {
      let filled = 0
      while (filled < into.length) {
        const bytesRead = await readAt(this.#file.fd, into.subarray(filled), offset + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return filled
    } finally {
      this.#readCount--
      if (this.#isRetired && this.#readCount === 0) await this.#file.close()
    }
  }

  /** Deletes the file. Reads under way finish with what they came for. */
  async retire(): Promise<void> {
    await unlink(this.path).catch((error: unknown) => {
      if (!isGone(error)) throw error
    })
    await this.close()
  }

  async close(): Promise<void> {
    this.#isRetired = true
    if (this.#readCount === 0) await this.#file.close()
  }
}

export const segmentName = (number: number): string => number.toString(16).padStart(10, '0')

/** The number of a segment's file, undefined of another name. */
export const segmentNumber = (name: string): number | undefined => {
  const number = /^[0-9a-f]{10}$/.test(name) ? Number.parseInt(name, 16) : 0
  return number > 0 ? number : undefined
}

const pathOf = (folder: string, number: number): string => `${folder}/${segmentName(number)}`

/** Says how to read a segment by its first record; undefined where that is damaged, or there is none. */
const readingOf = (begin: Buffer): RecordReading | undefined => {
  const stamp = begin.subarray(HEADER_BYTES, HEADER_BYTES + STAMP_BYTES)
  const format = FORMATS.find((each) => contentOf(begin, HEADER_BYTES, { stamp, format: each }) !== undefined)
  return format && { stamp, format }
}

const headerOf = (number: number, { stamp, format }: RecordReading): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(`remexec records ${format}`, 0, 'latin1')
  header.writeDoubleLE(number, NUMBER_AT)
  stamp.copy(header, STAMP_AT)
  header.writeUInt32LE(crc32(header.subarray(0, CHECKSUM_AT)), CHECKSUM_AT)
  return header
}
