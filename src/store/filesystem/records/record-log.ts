import { mkdir, readdir } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { cancellation } from '../../../base/call.js'
import type { Log } from '../../../base/log.js'
import { StatusError } from '../../../base/status-error.js'
import type { Digest } from '../../../reapi/digest.js'
import { syncFolder } from '../files/folder-syncs.js'
import { extentOf, locationOf, offsetIn, placeIn, SEGMENT_BYTES_MAX, SEGMENTS_MAX, sequenceAt } from './location.js'
import {
  type Content,
  CURRENT_FORMAT,
  contentOf,
  encodeRecord,
  headBytesOf,
  type RecordHead,
  type RecordSize,
  recordBytes,
  sizeOf,
} from './record.js'
import { Segment, segmentNumber } from './segment.js'

/** Most that is written, and synced, at a time. */
const BATCH_BYTES = 4 * 1024 * 1024

/** The longest blob that a record can hold. */
export const CONTENT_BYTES_MAX = 1024 * 1024

export interface RecordLogOptions {
  readonly folder: string
  readonly segmentBytes: number
  /** Whether a record is on the disk before it counts as written. */
  readonly isSynced: boolean
  readonly log: Log
}

/** A record to be written. */
export interface LogEntry extends Omit<RecordHead, 'sequence'> {
  /** Of a copy that of its original. Without it the record is newer than all that are in the log. */
  readonly sequence?: number
  /** Of a record of that kind; they stay as they are until `append` has settled. */
  readonly bytes?: Buffer
  /** Heeded until the writing begins. */
  readonly signal?: AbortSignal
  /** It is written. Called in the step in which `end` moves behind it: what this changes is never behind `end`. */
  placed(location: number): void
}

interface Waiting {
  readonly entry: LogEntry
  /** What it takes of the segment. */
  readonly length: number
  resolve(): void
  reject(error: unknown): void
}

/** A place in the log: everything in front of it is older. */
export interface LogPosition {
  readonly number: number
  readonly offset: number
}

/**
 * What the store holds, in the order in which it came: appended to, in batches, and read from anywhere. Whatever arrives
 * while a batch is being written and synced is the next batch, so that under load one sync stands for hundreds of blobs.
 *
 * There is no bound on what waits, because what waits is in the memory of a call that waits.
 */
export class RecordLog {
  readonly #options: RecordLogOptions
  /** By `extentOf` their numbers. */
  readonly #segments: (Segment | undefined)[] = []
  readonly #buffer = Buffer.allocUnsafeSlow(BATCH_BYTES)
  #active: Segment | undefined
  #nextNumber = 1
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #isClosed = false
  #appendedBytes = 0
  /** Called for a segment that lost the records behind `endBytes`. */
  onCut: ((segment: Segment) => void) | undefined

  private constructor(options: RecordLogOptions) {
    this.#options = { ...options, segmentBytes: Math.min(options.segmentBytes, SEGMENT_BYTES_MAX) }
  }

  /** With the segments of an earlier run. A segment whose header and first record are damaged is left out, with a warning. */
  static async open(options: RecordLogOptions): Promise<RecordLog> {
    const { folder, log } = options
    const records = new RecordLog(options)
    await mkdir(folder, { recursive: true })
    const numbers = (await readdir(folder)).map(segmentNumber).filter((number) => number !== undefined)
    for (const number of numbers.sort((a, b) => a - b)) {
      records.#nextNumber = number + 1
      const segment = await Segment.open(folder, number)
      if (segment === undefined) log.warn('a file of records is damaged: its blobs are lost', { folder, number })
      else records.#segments[extentOf(number)] = segment
      if (segment?.wasMended) log.warn('the header of a file of records was damaged: written again', { folder, number })
    }
    return records
  }

  /** The oldest first. */
  get segments(): readonly Segment[] {
    return this.#segments.filter((segment) => segment !== undefined).sort((a, b) => a.number - b.number)
  }

  segmentAt(location: number): Segment | undefined {
    return this.#segments[placeIn(location)]
  }

  get active(): Segment | undefined {
    return this.#active
  }

  get segmentBytes(): number {
    return this.#options.segmentBytes
  }

  /**
   * Goes on behind the last record of an earlier run; bytes that lie there are no record. A segment of an older format gets no
   * more records.
   */
  async resume(segment: Segment, endBytes: number): Promise<void> {
    if (segment.format !== CURRENT_FORMAT) return
    segment.endBytes = endBytes
    await segment.cut()
    this.#active = segment
  }

  /** Whoever reads the log from here on finds every record that is not known yet. */
  get end(): LogPosition {
    return { number: this.#active?.number ?? this.#nextNumber, offset: this.#active?.endBytes ?? 0 }
  }

  /** How much was appended since the start. */
  get appendedBytes(): number {
    return this.#appendedBytes
  }

  /** Resolves once the record is written; rejects when it is not, and never was. */
  append(entry: LogEntry): Promise<void> {
    if (this.#isClosed) return Promise.reject(new StatusError('UNAVAILABLE', 'the store is closed'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, length: recordBytes(sizeOf(entry)), resolve, reject })
      // After the current turn, in which whoever writes many blobs hands over all of them.
      this.#writing ??= setImmediate().then(() => this.#write())
    })
  }

  /** The bytes of a record; undefined when they are not there or damaged. */
  async read(location: number, digest: Digest, storedBytes: number): Promise<Buffer | undefined> {
    const content = await this.#read(location, digest, storedBytes)
    const isWhole = content?.head.kind === 'bytes' && content.head.storedBytes === storedBytes && content.isWhole
    return isWhole ? content.bytes : undefined
  }

  /** What a record says; undefined when it is not there or damaged. */
  async readHead(location: number, digest: Digest): Promise<RecordHead | undefined> {
    return (await this.#read(location, digest, 0))?.head
  }

  /** The index needs the record at `location`. */
  need(location: number, size: RecordSize): void {
    const segment = this.segmentAt(location)
    if (segment !== undefined) segment.liveBytes += recordBytes(size, segment.format)
  }

  /** The index needs the record at `location` no longer. */
  release(location: number, size: RecordSize): void {
    const segment = this.segmentAt(location)
    if (segment !== undefined) segment.liveBytes -= recordBytes(size, segment.format)
  }

  /** Brings everything in front of `end` onto the disk. */
  async sync(): Promise<void> {
    if (!this.#options.isSynced) await this.#active?.sync()
  }

  /** Deletes a segment in which nothing is needed. */
  async retire(segment: Segment): Promise<void> {
    this.#segments[extentOf(segment.number)] = undefined
    await segment.retire()
  }

  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.idle()
    await this.sync()
    for (const segment of this.segments) await segment.close()
  }

  async #read(location: number, digest: Digest, contentBytes: number): Promise<Content | undefined> {
    const segment = this.segmentAt(location)
    if (segment === undefined) return undefined
    const length = headBytesOf(digest, segment.format) + contentBytes
    const buffer = Buffer.allocUnsafeSlow(length)
    if ((await segment.read(buffer, offsetIn(location))) < length) return undefined
    const content = contentOf(buffer, 0, segment)
    return content?.head.digest.key === digest.key && content.head.digest.function === digest.function
      ? content
      : undefined
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const [first] = this.#waiting
      try {
        const segment = await this.#segmentFor((first as Waiting).length)
        await this.#writeBatch(segment, this.#take(segment))
      } catch (error) {
        // No segment can be had, for this one or for those behind it.
        for (const { reject } of this.#waiting.splice(0)) reject(error)
      }
    }
    this.#writing = undefined
  }

  /** As much of what waits as one batch and the segment take; nothing of what is given up. */
  #take(segment: Segment): Waiting[] {
    const batch: Waiting[] = []
    const roomBytes = Math.min(BATCH_BYTES, this.segmentBytes - segment.endBytes)
    let count = 0
    let bytes = 0
    for (const waiting of this.#waiting) {
      const { entry, length, reject } = waiting
      if (entry.signal?.aborted) {
        reject(cancellation(entry.signal))
      } else {
        bytes += length
        if (bytes > roomBytes && batch.length > 0) break
        batch.push(waiting)
      }
      count++
    }
    this.#waiting = this.#waiting.slice(count)
    return batch
  }

  async #writeBatch(segment: Segment, batch: readonly Waiting[]): Promise<void> {
    let length = 0
    for (const { entry } of batch) {
      const sequence = sequenceOf(entry, segment, segment.endBytes + length)
      length += encodeRecord(this.#buffer, length, segment.stamp, entry, sequence, entry.bytes)
    }
    try {
      await segment.write(this.#buffer.subarray(0, length), segment.endBytes)
      if (this.#options.isSynced) await segment.sync()
    } catch (error) {
      // What stays there is overwritten by the next batch.
      await segment.cut().catch(() => {})
      for (const { reject } of batch) reject(error)
      return
    }
    for (const { entry, length, resolve } of batch) {
      const offset = segment.endBytes
      segment.endBytes += length
      this.#appendedBytes += length
      segment.note({ kind: entry.kind, sequence: sequenceOf(entry, segment, offset) }, length)
      entry.placed(locationOf(segment.number, offset))
      resolve()
    }
  }

  /** The active segment, or a new one when that is full. */
  async #segmentFor(length: number): Promise<Segment> {
    this.#expectWhole()
    const active = this.#active
    if (active !== undefined && active.endBytes + length <= this.segmentBytes) return active
    // A checkpoint believes every record in front of the active segment, whatever happens to the power.
    await this.sync()
    this.#active = await this.#create()
    return this.#active
  }

  /** Gives up the active segment if somebody cut or deleted its file: a start would find no record behind the damage. */
  #expectWhole(): void {
    const active = this.#active
    if (active === undefined) return
    const { number, fileBytes } = active
    if (fileBytes >= active.endBytes) return
    this.#options.log.error('a file of records was cut or deleted behind the back of the store', { number, fileBytes })
    active.endBytes = Math.max(active.firstOffset, fileBytes)
    this.#active = undefined
    this.onCut?.(active)
  }

  async #create(): Promise<Segment> {
    let number = this.#nextNumber
    while (this.#segments[extentOf(number)] !== undefined) {
      if (++number === this.#nextNumber + SEGMENTS_MAX) {
        const text = `the store has ${SEGMENTS_MAX} files of records, which is the most there can be`
        throw new StatusError('RESOURCE_EXHAUSTED', text)
      }
    }
    const segment = await Segment.create(this.#options.folder, number)
    await syncFolder(this.#options.folder)
    this.#segments[extentOf(number)] = segment
    this.#nextNumber = number + 1
    return segment
  }
}

const sequenceOf = ({ sequence }: LogEntry, { number }: Segment, offset: number): number =>
  sequence ?? sequenceAt(number, offset)
