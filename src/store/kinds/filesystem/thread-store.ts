import { readdir } from 'node:fs/promises'
import type { Clock } from '../../../base/clock.js'
import { fileFailure } from '../../../base/errno.js'
import { freeBytesOf } from '../../../base/free-bytes.js'
import type { HealthStatus } from '../../../base/health.js'
import { LruCache } from '../../../base/lru-cache.js'
import { BaseStore, PLAIN, type StoreProperties } from '../../../blobs/store.js'
import { BytesInFlight } from '../../../ledger/bytes-in-flight.js'
import { SharedLedgerMemory } from '../../../ledger/totals.js'
import type { Log } from '../../../log/log.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import { type Call, cancelledBy } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import type { Range } from '../../../stream/path.js'
import { IndexReader } from '../../index/index-reader.js'
import { type Claimant, OWNER, WORDS_EACH } from '../../index/promises.js'
import type { Written } from './files/file-writer.js'
import { isGone } from './files/unlinker.js'
import { VerifiedTimes } from './files/verified-times.js'
import { type WriteParts, writeBlob, writeSlotsOf } from './files/write-blob.js'
import { Inspection } from './inspection.js'
import { Layout } from './layout.js'
import { keyFor, type Located, notFound } from './located.js'
import { type Packed, Packs } from './packs/packs.js'
import type { ReadCatalog, RecentRecord, Wrong } from './read-catalog.js'
import { Reads } from './reads.js'
import { extentOf, placeIn } from './records/location.js'
import { PLACE_BYTES } from './records/place.js'
import type { RecordHead } from './records/record.js'
import { bytesOfRecord, type PackedRecord, packedRecord, readRecord } from './records/record-log.js'
import { Segment, segmentNumber } from './records/segment.js'
import type { FileShareData } from './thread-share.js'
import { Shortages } from './upkeep/shortages.js'

/** How a service thread tells the owner what became of blobs. */
export interface ToOwnerOfStore {
  /** Uses wait to be told; `IndexReader.takeUsed` has them. */
  usesWait(): void
  /** The number by which the owner knows a build; undefined if it is not known here yet. */
  numberOf(invocation: string): number | undefined
  claim(slot: number, claimant: Claimant): void
  /** Bytes are copied in the same turn. */
  commit(digest: Digest, written: Written, call: Call): Promise<void>
  damaged(digest: Digest, slot: number, location: number, why: Wrong): Promise<void>
}

export interface ThreadStoreParts {
  readonly owner: ToOwnerOfStore
  readonly clock: Clock
  readonly log: Log
}

/**
 * A file store of the owner, used by a service thread: it looks up the shared index, and reads and writes files itself. Only
 * the owner commits: it moves a file to its place, writes the record, and changes the index.
 */
export class ThreadFileStore extends BaseStore {
  override readonly properties: StoreProperties
  readonly reader: IndexReader
  readonly #catalog: ThreadCatalog
  readonly #reads: Reads
  readonly #writeParts: WriteParts
  readonly #owner: ToOwnerOfStore
  readonly #shortages: Shortages

  constructor(data: FileShareData, parts: ThreadStoreParts) {
    super()
    const { retentionMs, maxBlobBytes } = data
    this.properties = { ...PLAIN, detectsDamage: true, extendsLifetimes: true, retentionMs, maxBlobBytes }
    this.reader = new IndexReader(data.index)
    this.reader.onUsed = () => parts.owner.usesWait()
    this.#catalog = new ThreadCatalog(data, this.reader, parts)
    this.#reads = new Reads(this.#catalog, new Inspection(this.#catalog, parts.log), data.settings.bufferBytes)
    this.#owner = parts.owner
    this.#shortages = new Shortages(data.path, parts)
    const { isSynced } = data
    const { maxWrites, smallBytes, blockBytes, inFlightCounters } = data.settings
    const inFlight = new BytesInFlight({
      maxBlobBytes,
      freeBytes: () => freeBytesOf(data.tempPath),
      shared: inFlightCounters && new SharedLedgerMemory(1, inFlightCounters),
    })
    void inFlight.look()
    this.#writeParts = {
      ...{ writeSlots: writeSlotsOf(maxWrites), smallBytes, inFlight, isSynced },
      nextTempPath: () => this.#catalog.layout.nextTempPath(),
      fits: (storedBytes) => Math.ceil(storedBytes / blockBytes) * blockBytes <= maxBlobBytes,
    }
  }

  async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.#catalog.missing(digests, call)
  }

  override lacks(digest: Digest): boolean {
    return this.reader.find(digest) === undefined
  }

  get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.#reads.get(digest, range, call)
  }

  async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const cancelled = cancelledBy(call)
    if (cancelled !== undefined) {
      blob.discard()
      throw cancelled
    }
    const key = keyFor(digest, blob)
    const form = await blob.take()
    let isWritten = false
    try {
      await writeBlob(digest, form, call, this.#writeParts, (written) => {
        isWritten = true
        return this.#owner.commit(key, written, call)
      })
    } catch (thrown) {
      // The owner says what it could not do.
      if (isWritten) throw thrown
      const error = fileFailure(thrown, `could not write blob ${digest.key}`)
      this.#shortages.met(digest, error)
      throw error
    }
  }

  /** A wrapper found what it read damaged. */
  async remove(digest: Digest): Promise<void> {
    await this.#catalog.drop(digest)
  }

  async health(): Promise<HealthStatus> {
    return { state: 'Ok', message: 'the owner of the store knows' }
  }

  /** The owner has deleted this file of records. */
  retired(number: number): void {
    this.#catalog.retired(number)
  }

  async close(): Promise<void> {
    await this.#catalog.close()
  }
}

class ThreadCatalog implements ReadCatalog {
  readonly records = {
    read: async (location: number, digest: Digest, storedBytes: number): Promise<Buffer | undefined> =>
      bytesOfRecord(await this.#record(location, digest, storedBytes), storedBytes),
    readPacked: async (location: number, digest: Digest): Promise<PackedRecord | undefined> =>
      packedRecord(await this.#record(location, digest, PLACE_BYTES)),
    readHead: async (location: number, digest: Digest): Promise<RecordHead | undefined> =>
      (await this.#record(location, digest, 0))?.head,
  }
  readonly verifiedTimes = new VerifiedTimes()
  readonly recent: LruCache<RecentRecord>
  readonly #reader: IndexReader
  readonly layout: Layout
  readonly packs: Packs
  readonly #owner: ToOwnerOfStore
  readonly #clock: Clock
  /** Open files of records, by the place of their number. */
  readonly #segments = new Map<number, Promise<Segment | undefined>>()
  /** Where the record of each verified file was, by slot. */
  #verified = new Int32Array(0)
  readonly #keepsLonger: number

  constructor(data: FileShareData, reader: IndexReader, { owner, clock }: ThreadStoreParts) {
    this.recent = new LruCache(data.settings.recentBytes)
    this.#reader = reader
    this.layout = new Layout(data.contentPath, data.tempPath, data.writer)
    this.packs = new Packs({ layout: this.layout })
    this.#owner = owner
    this.#clock = clock
    this.#keepsLonger = data.retentionMs
  }

  missing(digests: DigestBatch, call: Call): DigestBatch {
    const claimant = this.#claimantOf(call)
    return this.#reader.missing(digests, this.#nowS(), claimant && ((slot) => this.#claim(slot, claimant)))
  }

  locate(digest: Digest, claimant?: Claimant): Located {
    const found = this.#reader.find(digest, this.#nowS())
    if (found === undefined) throw notFound(digest)
    const { slot, storedBytes, kind, extra: location, isHash } = found
    const claiming = claimant && this.#claimantOf(claimant)
    if (claiming !== undefined) this.#claim(slot, claiming)
    // What was verified was another blob.
    if (kind === 'file' && this.#verified[slot] !== location) {
      this.verifiedTimes.clear(slot)
      if (slot >= this.#verified.length) this.#verified = grown(this.#verified, 2 * slot + 1024)
      this.#verified[slot] = location
    }
    const path = kind === 'file' ? this.layout.blobPath(digest, storedBytes) : ''
    return { digest, slot, storedBytes, location, kind, path, isHash }
  }

  isThere({ digest, slot, location }: Located): boolean {
    const found = this.#reader.find(digest)
    return found?.slot === slot && found.extra === location
  }

  isAsLocated(located: Located): boolean {
    return this.isThere(located)
  }

  async placeOf({ location, digest }: Located): Promise<Packed | undefined> {
    const record = await this.records.readPacked(location, digest)
    return record && { pack: this.packs.pack(record.place.pack), offset: record.place.offset }
  }

  /** Only the owner keeps in mind which are. */
  isVerified(): boolean {
    return false
  }

  verified(): void {}

  /** Only the owner changes the index. Its scrub finds out too. */
  noteHash(): void {}

  /** Only the owner knows. It looks before it drops anything. */
  isCommitting(): boolean {
    return false
  }

  async drop(digest: Digest): Promise<void> {
    const found = this.#reader.find(digest)
    if (found !== undefined) await this.#owner.damaged(digest, found.slot, found.extra, 'gone')
  }

  async dropDamaged({ digest, slot, location }: Located, why: Wrong): Promise<void> {
    await this.#owner.damaged(digest, slot, location, why)
  }

  retired(number: number): void {
    this.#forget(extentOf(number))
  }

  async close(): Promise<void> {
    const segments = await Promise.all(this.#segments.values())
    await Promise.all(segments.map((segment) => segment?.close()))
    await this.packs.close()
  }

  #nowS(): number {
    return Math.ceil(this.#clock.now() / 1000)
  }

  /** Undefined if the call claims no more than the retention of the store. */
  #claimantOf({ invocation, keepForMs = 0 }: Claimant): Claimant | undefined {
    if (invocation === undefined && keepForMs <= this.#keepsLonger) return undefined
    return { invocation, keepForMs }
  }

  #claim(slot: number, claimant: Claimant): void {
    const { invocation, keepForMs = 0 } = claimant
    if (keepForMs <= this.#keepsLonger && invocation !== undefined) {
      const number = this.#owner.numberOf(invocation.id)
      if (number !== undefined && this.#reader.claimWord(slot, WORDS_EACH, OWNER) === number) return
    }
    this.#owner.claim(slot, claimant)
  }

  async #record(location: number, digest: Digest, contentBytes: number) {
    const place = placeIn(location)
    const known = this.#segments.get(place)
    const content = await readRecord(await (known ?? this.#open(place)), location, digest, contentBytes)
    if (content !== undefined || known === undefined) return content
    // Its place may belong to a later file by now, which another read may have opened meanwhile.
    if (this.#segments.get(place) === known) this.#forget(place)
    return readRecord(await (this.#segments.get(place) ?? this.#open(place)), location, digest, contentBytes)
  }

  #forget(place: number): void {
    const opening = this.#segments.get(place)
    this.#segments.delete(place)
    opening?.then((segment) => segment?.close()).catch(() => {})
  }

  #open(place: number): Promise<Segment | undefined> {
    const opening = openAt(this.layout.recordsPath, place)
    this.#segments.set(place, opening)
    opening.catch(() => this.#segments.delete(place))
    return opening
  }
}

const grown = (numbers: Int32Array, length: number): Int32Array<ArrayBuffer> => {
  const longer = new Int32Array(length)
  longer.set(numbers)
  return longer
}

/** Files of records that exist at the same time have different places. */
const openAt = async (folder: string, place: number): Promise<Segment | undefined> => {
  const numbers = (await readdir(folder)).map(segmentNumber)
  const number = numbers.find((each) => each !== undefined && extentOf(each) === place)
  if (number === undefined) return undefined
  return Segment.open(folder, number, true).catch((error: unknown) => {
    // The owner has deleted it meanwhile.
    if (isGone(error)) return undefined
    throw error
  })
}
