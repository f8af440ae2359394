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

/** Counts records of a segment that hold no blob. */
class Notes {
  #bytes = 0
  #newest = 0

  add(sequence: number, bytes: number): void {
    this.#bytes += bytes
    this.#newest = Math.max(this.#newest, sequence)
  }

  /** Their bytes, if any of them has this sequence number or a higher one; else 0. */
  bytesSince(sequence: number): number {
    return this.#newest >= sequence ? this.#bytes : 0
  }
}

/** One file of records. Written bytes never change. The file is deleted as a whole once no record in it is needed. */
export class Segment implements RecordReading {
  /** Grows by one per segment and is never reused. */
  readonly number: number
  readonly path: string
  readonly stamp: Buffer
  readonly format: RecordFormat
  /** Offset after the last record. */
  endBytes: number
  /** Bytes of records that the index still needs. */
  liveBytes = 0
  /** Removals and touches written or replayed in this run. A start replays no others. */
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
   * Opens a segment; undefined when the file is not a segment. A damaged header is rewritten if the first record is
   * intact. The store always writes that record itself, so its stamp is that of the segment. If both are damaged, no
   * record can be trusted. With `isReadOnly` nothing is rewritten.
   */
  static async open(folder: string, number: number, isReadOnly = false): Promise<Segment | undefined> {
    const path = pathOf(folder, number)
    const file = await open(path, isReadOnly ? 'r' : 'r+')
    try {
      const begin = Buffer.alloc(HEADER_BYTES + HEAD_BYTES_MAX)
      await file.read(begin, 0, begin.length, 0)
      const header = begin.subarray(0, HEADER_BYTES)
      const stamp = header.subarray(STAMP_AT, CHECKSUM_AT)
      const format = FORMATS.find((each) => headerOf(number, { stamp, format: each }).equals(header))
      const reading = format === undefined ? readingOf(begin) : { stamp, format }
      if (reading !== undefined) {
        const segment = new Segment(number, path, reading, file, (await file.stat()).size)
        if (format === undefined && !isReadOnly) await segment.#mend()
        return segment
      }
    } catch (error) {
      await file.close()
      throw error
    }
    await file.close()
    return undefined
  }

  /** Whether the header was damaged and rewritten. */
  get wasMended(): boolean {
    return this.#wasMended
  }

  async #mend(): Promise<void> {
    await this.write(headerOf(this.number, this), 0)
    this.#wasMended = true
  }

  /** The length of the file; 0 when it was deleted. Synchronous, does not wait for the disk. */
  get fileBytes(): number {
    const { size, nlink } = fstatSync(this.#file.fd)
    return nlink === 0 ? 0 : size
  }

  /** No record in the segment has a lower number, except copies. */
  get firstSequence(): number {
    return sequenceAt(this.number, 0)
  }

  /** Counts a record that was written or replayed. */
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

  /** Truncates the file to `endBytes`. */
  async cut(): Promise<void> {
    await this.#file.truncate(this.endBytes)
  }

  async sync(): Promise<void> {
    await this.#file.datasync()
  }

  /** Reads up to `length` bytes from `offset`: fewer only at the end of the file. */
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

  /** Deletes the file. Reads in flight still complete. */
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

/** The segment number in a file name; undefined for other names. */
export const segmentNumber = (name: string): number | undefined => {
  const number = /^[0-9a-f]{10}$/.test(name) ? Number.parseInt(name, 16) : 0
  return number > 0 ? number : undefined
}

const pathOf = (folder: string, number: number): string => `${folder}/${segmentName(number)}`

/** Finds out how to read a segment from its first record; undefined when that is damaged or missing. */
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
