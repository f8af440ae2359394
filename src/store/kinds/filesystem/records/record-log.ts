import { mkdir, readdir } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { StatusError } from '../../../../base/status-error.js'
import { syncFolder } from '../../../../files/sync-folder.js'
import type { Log } from '../../../../log/log.js'
import type { Digest } from '../../../../reapi/digest.js'
import { type Call, cancelledBy } from '../../../../rpc/call.js'
import { extentOf, locationOf, offsetIn, placeIn, SEGMENT_BYTES_MAX, SEGMENTS_MAX, sequenceAt } from './location.js'
import { PLACE_BYTES, type Place, placeOf } from './place.js'
import {
  type Content,
  CURRENT_FORMAT,
  contentOf,
  draftRecord,
  headBytesOf,
  type RecordHead,
  type RecordSize,
  recordBytes,
  sealRecord,
  sizeOf,
} from './record.js'
import { Segment, segmentNumber } from './segment.js'

/** Maximum size of one write, which is also one sync. */
const BATCH_BYTES = 4 * 1024 * 1024

/** The longest blob that a record can hold. */
export const CONTENT_BYTES_MAX = 1024 * 1024

export interface RecordLogOptions {
  readonly folder: string
  readonly segmentBytes: number
  /** Whether a record must be on disk before `append` resolves. */
  readonly isSynced: boolean
  /** Whether the files must stay as they are; nothing may be appended then. */
  readonly isReadOnly?: boolean
  readonly log: Log
}

/** A record to be written. */
export interface LogEntry extends Omit<RecordHead, 'sequence'> {
  /** For a copy: the number of the original. Absent for a new record, which is newer than all others in the log. */
  readonly sequence?: number
  /** The content, for kinds that have one. Must not change until the entry has settled. */
  readonly bytes?: Buffer
  /** What `draftRecord` has made of the entry, in place of its content. Must not change either. */
  readonly draft?: Buffer
  /** Cancels the entry until its write begins. */
  readonly call?: Pick<Call, 'signal' | 'whyCancelled'>
  /**
   * Called when the record is written, in the same step in which `end` moves past it. So its effects never lag behind
   * `end`. If it throws, the entry fails; the record stays in the log, and the next start may find it.
   */
  onLocated(location: number): void
}

interface Waiting {
  readonly entry: LogEntry
  /** Bytes in the segment. */
  readonly length: number
  readonly waits: Waits
}

/** Who waits for a record. */
export interface Waits {
  /** Called once: without an error when the record is written, else with why it is not in the log and will not be. */
  settle(failure?: { readonly error: unknown }): void
}

/** A position in the log. All records before it are older. */
export interface LogPosition {
  readonly number: number
  readonly offset: number
}

/**
 * An append-only log of what the store holds, in order of arrival. It is written in batches and read at any position.
 * Records that arrive while a batch is written and synced form the next batch, so under load one sync covers hundreds
 * of blobs.
 *
 * The queue has no bound of its own, because every queued record belongs to a call that waits for it.
 */
export class RecordLog {
  readonly #options: RecordLogOptions
  /** Indexed by `extentOf` of the segment number. */
  readonly #segments: (Segment | undefined)[] = []
  readonly #buffer = Buffer.allocUnsafeSlow(BATCH_BYTES)
  #active: Segment | undefined
  #nextNumber = 1
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #isClosed = false
  #appendedBytes = 0
  /** Called for a segment that lost the records after `endBytes`. */
  onCut: ((segment: Segment) => void) | undefined
  /** Called for a segment that is deleted, with its number. */
  onRetire: ((number: number) => void) | undefined

  private constructor(options: RecordLogOptions) {
    this.#options = { ...options, segmentBytes: Math.min(options.segmentBytes, SEGMENT_BYTES_MAX) }
  }

  /**
   * Opens the segments of an earlier run. Skips, with a warning, a segment whose header and first record are both
   * damaged.
   */
  static async open(options: RecordLogOptions): Promise<RecordLog> {
    const { folder, log, isReadOnly = false } = options
    const records = new RecordLog(options)
    if (!isReadOnly) await mkdir(folder, { recursive: true })
    const numbers = (await readdir(folder)).map(segmentNumber).filter((number) => number !== undefined)
    for (const number of numbers.sort((a, b) => a - b)) {
      records.#nextNumber = number + 1
      const segment = await Segment.open(folder, number, isReadOnly)
      if (segment === undefined) log.warn('a file of records is damaged: its blobs are lost', { folder, number })
      else records.#segments[extentOf(number)] = segment
      if (segment?.wasMended) log.warn('the header of a file of records was damaged: written again', { folder, number })
    }
    return records
  }

  /** Oldest first. */
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
   * Continues after the last record of an earlier run; any bytes after it are not records. A segment of an older format
   * gets no more records.
   */
  async resume(segment: Segment, endBytes: number): Promise<void> {
    if (segment.format !== CURRENT_FORMAT) return
    if (this.#options.isReadOnly) return
    segment.endBytes = endBytes
    await segment.cut()
    this.#active = segment
  }

  /** The current end of the log. A reader that starts here misses no later record. */
  get end(): LogPosition {
    return { number: this.#active?.number ?? this.#nextNumber, offset: this.#active?.endBytes ?? 0 }
  }

  /** Bytes appended since the start. */
  get appendedBytes(): number {
    return this.#appendedBytes
  }

  /** Resolves once the record is written. Rejects when it is not in the log and will not be, or when `onLocated` throws. */
  append(entry: LogEntry): Promise<void> {
    return new Promise((resolve, reject) =>
      this.push(entry, { settle: (failure) => (failure === undefined ? resolve() : reject(failure.error)) }),
    )
  }

  /** `append` without a promise, for many entries at once. May settle before it returns. */
  push(entry: LogEntry, waits: Waits): void {
    if (this.#isClosed) {
      waits.settle({ error: new StatusError('UNAVAILABLE', 'the store is closed') })
      return
    }
    this.#waiting.push({ entry, length: recordBytes(sizeOf(entry)), waits })
    // Starts after the current turn, so that a caller with many blobs can append all of them first.
    this.#writing ??= setImmediate().then(() => this.#write())
  }

  /** Reads the bytes of a record; undefined when it is missing or damaged. */
  async read(location: number, digest: Digest, storedBytes: number): Promise<Buffer | undefined> {
    return bytesOfRecord(await this.#read(location, digest, storedBytes), storedBytes)
  }

  /** Reads the head of a record; undefined when it is missing or damaged. */
  async readHead(location: number, digest: Digest): Promise<RecordHead | undefined> {
    return (await this.#read(location, digest, 0))?.head
  }

  /** Reads the record of a packed blob; undefined when it is missing or damaged. */
  async readPacked(location: number, digest: Digest): Promise<PackedRecord | undefined> {
    return packedRecord(await this.#read(location, digest, PLACE_BYTES))
  }

  /** Notes that the index needs the record at `location`. */
  need(location: number, size: RecordSize): void {
    const segment = this.segmentAt(location)
    if (segment !== undefined) segment.liveBytes += recordBytes(size, segment.format)
  }

  /** Notes that the index no longer needs the record at `location`. */
  release(location: number, size: RecordSize): void {
    const segment = this.segmentAt(location)
    if (segment !== undefined) segment.liveBytes -= recordBytes(size, segment.format)
  }

  /** Syncs everything before `end` to disk. */
  async sync(): Promise<void> {
    if (!this.#options.isSynced) await this.#active?.sync()
  }

  /** Deletes a segment that has no needed records. */
  async retire(segment: Segment): Promise<void> {
    this.onRetire?.(segment.number)
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

  #read(location: number, digest: Digest, contentBytes: number): Promise<Content | undefined> {
    return readRecord(this.segmentAt(location), location, digest, contentBytes)
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const [first] = this.#waiting
      try {
        const segment = await this.#segmentFor((first as Waiting).length)
        await this.#writeBatch(segment, this.#take(segment))
      } catch (error) {
        // No segment can be created, so reject all waiting entries.
        for (const { waits } of this.#waiting.splice(0)) waits.settle({ error })
      }
    }
    this.#writing = undefined
  }

  /** Takes waiting entries up to the size of a batch and the room in the segment. Cancelled entries are rejected. */
  #take(segment: Segment): Waiting[] {
    const batch: Waiting[] = []
    const roomBytes = Math.min(BATCH_BYTES, this.segmentBytes - segment.endBytes)
    let count = 0
    let bytes = 0
    for (const waiting of this.#waiting) {
      const { entry, length, waits } = waiting
      const cancelled = entry.call && cancelledBy(entry.call)
      if (cancelled !== undefined) {
        waits.settle({ error: cancelled })
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
      const { digest, writtenMs, bytes, draft } = entry
      const sequence = sequenceOf(entry, segment, segment.endBytes + length)
      const recordLength =
        draft === undefined ? draftRecord(this.#buffer, length, entry, bytes) : draft.copy(this.#buffer, length)
      sealRecord(this.#buffer, length, segment.stamp, { digest, writtenMs, sequence })
      length += recordLength
    }
    try {
      await segment.write(this.#buffer.subarray(0, length), segment.endBytes)
      if (this.#options.isSynced) await segment.sync()
    } catch (error) {
      // If this fails, the next batch overwrites the bytes.
      await segment.cut().catch(() => {})
      for (const { waits } of batch) waits.settle({ error })
      return
    }
    for (const { entry, length, waits } of batch) {
      const offset = segment.endBytes
      segment.endBytes += length
      this.#appendedBytes += length
      segment.note({ kind: entry.kind, sequence: sequenceOf(entry, segment, offset) }, length)
      try {
        entry.onLocated(locationOf(segment.number, offset))
      } catch (error) {
        // The records behind it are written too.
        waits.settle({ error })
        continue
      }
      waits.settle()
    }
  }

  /** The active segment, or a new one when it is full. */
  async #segmentFor(length: number): Promise<Segment> {
    this.#expectWhole()
    const active = this.#active
    if (active !== undefined && active.endBytes + length <= this.segmentBytes) return active
    // A checkpoint relies on every record before the active segment, even after a power loss.
    await this.sync()
    this.#active = await this.#create()
    return this.#active
  }

  /**
   * Abandons the active segment if its file was truncated or deleted: a start would find no record after the damage.
   */
  #expectWhole(): void {
    const active = this.#active
    if (active === undefined) return
    const { number, fileBytes } = active
    if (fileBytes >= active.endBytes) return
    this.#options.log.error('another process truncated or deleted a file of records', { number, fileBytes })
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

/** A record with its first `contentBytes`; undefined when it is missing or damaged. */
export const readRecord = async (
  segment: Segment | undefined,
  location: number,
  digest: Digest,
  contentBytes: number,
): Promise<Content | undefined> => {
  if (segment === undefined) return undefined
  const length = headBytesOf(digest, segment.format) + contentBytes
  const buffer = Buffer.allocUnsafeSlow(length)
  if ((await segment.read(buffer, offsetIn(location))) < length) return undefined
  const content = contentOf(buffer, 0, segment)
  return content?.head.digest.key === digest.key && content.head.digest.function === digest.function
    ? content
    : undefined
}

/** The record of a blob that lies in a file with others. */
export interface PackedRecord {
  readonly head: RecordHead
  readonly place: Place
}

/** Undefined if the record is another one or not whole. */
export const packedRecord = (content: Content | undefined): PackedRecord | undefined => {
  const place = content?.head.kind === 'packed' ? placeOf(content.bytes) : undefined
  return content && place && { head: content.head, place }
}

/** The bytes of a small blob; undefined if the record is another one or not whole. */
export const bytesOfRecord = (content: Content | undefined, storedBytes: number): Buffer | undefined => {
  const isWhole = content?.head.kind === 'bytes' && content.head.storedBytes === storedBytes && content.isWhole
  return isWhole ? content.bytes : undefined
}
