import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { HealthStatus } from '../../src/base/health.js'
import { StatusError } from '../../src/base/status-error.js'
import {
  type BlobEntry,
  type BlobFiles,
  type Outcomes,
  outcomeOf,
  PLAIN,
  type Removal,
  type Store,
  type StoreProperties,
} from '../../src/blobs/store.js'
import { Digest } from '../../src/reapi/digest.js'
import type { DigestBatch } from '../../src/reapi/digest-batch.js'
import { type Call, cancellation } from '../../src/rpc/call.js'
import { Blob } from '../../src/stream/blob/blob.js'
import type { BlobFile } from '../../src/stream/blob/file.js'
import type { BlobForm } from '../../src/stream/blob/form.js'
import { pour } from '../../src/stream/blob/pour.js'
import { compressed } from '../../src/stream/compression/compression.js'
import { extentOf, isWhole, type Range, STAGE_BYTES } from '../../src/stream/path.js'
import { unlessAborted } from '../../src/work/deadline.js'

export type Operation = 'findMissing' | 'get' | 'put' | 'putAll' | 'remove' | 'health'

export interface DoubleOptions {
  /** The form of blobs that it serves. Bytes only up to the size of a stage, as no store holds whole blobs in memory. */
  readonly serves?: 'bytes' | 'file' | 'streams'
  /** How it reads uploads. */
  readonly takes?: 'whole' | 'poured' | 'streams'
  /** Whether served blobs know their length. */
  readonly knowsSizes?: boolean
  /** It rejects bytes that do not match the digest, as another server does. Otherwise nobody may send it such bytes. */
  readonly checksUploads?: boolean
  /** False for the CAS of another server, which has no keys and removes nothing. */
  readonly hasKeys?: boolean
  readonly properties?: Partial<StoreProperties>
  readonly files?: BlobFiles
  /** The identity that every call must carry: its metadata, instance name, log, `held`, `giveWay` and its promises. */
  readonly caller?: Call
  /** Operations that a wrapper may do in the background, without the identity of a caller. */
  readonly background?: readonly Operation[]
}

/** Odd, so that no chunk ends where a block of a wrapper does. */
const CHUNK_BYTES = 50_021

interface Kept {
  readonly bytes: Buffer
  /** In the encoding that the store announces. */
  readonly encoded: Buffer | undefined
}

interface Watched {
  readonly bytes: Buffer
  readonly checksum: number
  readonly what: string
}

/**
 * A store in memory that keeps the contract (src/blobs/store.ts) to the letter, and notes a fault when its
 * caller does not. Forms, lengths, encodings and properties are parameters, so that a wrapper meets everything that a
 * store may do, and nothing that the store does not announce. `end` returns the faults, and what was left open.
 */
export class ContractDouble implements Store {
  readonly files: BlobFiles | undefined
  readonly properties: StoreProperties
  /** How often each operation was called. */
  readonly calls: Record<Operation, number> = { findMissing: 0, get: 0, put: 0, putAll: 0, remove: 0, health: 0 }
  /** The reasons of all removals. */
  readonly removals: Removal[] = []
  /** Digests found by `findMissing`, so often as each was found. */
  readonly found: string[] = []
  /** What it says of evicted blobs. */
  readonly evicted = new Map<string, number>()
  /** An operation that gets no answer until its call is aborted. */
  hangs: Operation | undefined
  /** Errors of operations. That of `putAll` is the outcome of each refused blob. */
  refuses: Partial<Record<Operation, StatusError>> = {}
  /** The blobs for which `refuses` holds. */
  isRefused: (digest: Digest) => boolean = () => true
  /** Reads fail with this error after so many bytes. */
  breaks: { readonly afterBytes: number; readonly error: StatusError } | undefined
  status: HealthStatus = { state: 'Ok', message: 'the double works' }
  readonly #options: DoubleOptions
  readonly #blobs = new Map<string, Kept>()
  /** Whether a digest was used as one that describes its content. */
  readonly #uses = new Map<string, boolean>()
  readonly #faults: string[] = []
  /** Streams and files that it has handed out, and what each is. */
  readonly #open = new Map<object, string>()
  /** Bytes that must stay as they are for ever. */
  readonly #immutable: Watched[] = []
  #isClosed = false

  constructor(options: DoubleOptions = {}) {
    this.#options = options
    this.files = options.files
    this.properties = { ...PLAIN, ...options.properties }
  }

  async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    await this.#enter('findMissing', call)
    const indexes = Array.from({ length: digests.count }, (_, index) => index)
    const missing = indexes.filter((index) => {
      const digest = digests.at(index)
      this.#use(digest)
      if (!this.#blobs.has(digest.key)) return true
      this.found.push(digest.key)
      return false
    })
    return digests.select(missing)
  }

  async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    await this.#enter('get', call, digest)
    this.#use(digest)
    if (!(Number.isInteger(range.offset) && range.limit >= 0)) {
      this.#fault(`get: ${range.limit} bytes from ${range.offset} is no range`)
    }
    const kept = this.#blobs.get(digest.key)
    if (kept === undefined) throw new StatusError('NOT_FOUND', `blob ${digest.key} is not in the double`)
    const { bytes, encoded } = kept
    const { offset, end } = extentOf(range, bytes.length, digest.key)
    if (encoded === undefined || range.wantedAs !== 'ZSTD' || !isWhole(range, bytes.length))
      return this.#served(bytes.subarray(offset, end), { offset }, digest)
    return this.#served(encoded, { encoding: 'ZSTD' }, digest).as('IDENTITY', bytes.length)
  }

  /** By its index, as stores in memory. */
  lacks({ key }: Digest): boolean {
    return !this.#blobs.has(key)
  }

  async sizeOf(named: Digest): Promise<number | undefined> {
    if (!this.properties.findsByHash) return undefined
    const found = [...this.#blobs.keys()].map((key) => Digest.ofKey(key))
    return found.find((digest) => digest?.hash === named.hash && digest.function === named.function)?.sizeBytes
  }

  async evictedMs(digest: Digest): Promise<number | undefined> {
    return this.evicted.get(digest.key)
  }

  async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    await this.#orDiscard([blob], this.#enter('put', call, digest))
    await this.#keep(digest, blob, call)
  }

  async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const failure = await outcomeOf(this.#enter('putAll', call))
    const refusal = this.refuses.putAll
    return Promise.all(
      entries.map(async ({ digest, blob }) => {
        const outcome = failure ?? (this.isRefused(digest) ? refusal : undefined)
        if (outcome === undefined) return outcomeOf(this.#keep(digest, blob, call))
        blob.discard()
        return outcome
      }),
    )
  }

  async remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    await this.#enter('remove', call, digest)
    if (this.#options.hasKeys === false) throw new StatusError('UNIMPLEMENTED', 'another server removes nothing')
    this.removals.push(why)
    this.#blobs.delete(digest.key)
  }

  async health(call: Call): Promise<HealthStatus> {
    await this.#enter('health', call)
    return this.status
  }

  has({ key }: Digest): boolean {
    return this.#blobs.has(key)
  }

  /** Loses all blobs. */
  /** The keys of what it has. */
  get keys(): Iterable<string> {
    return this.#blobs.keys()
  }

  forget(): void {
    this.#blobs.clear()
  }

  /** From now on each call is a fault. Returns all faults, once streams and files had time to close. */
  async end(): Promise<readonly string[]> {
    // biome-ignore lint/plugin: what is not closed by then is the fault that is told
    for (let turn = 0; turn < TURNS_TO_CLOSE && this.#open.size > 0; turn++) await setImmediate()
    this.#isClosed = true
    for (let turn = 0; turn < TURNS_AFTER_CLOSE; turn++) await setImmediate()
    for (const what of new Set(this.#open.values())) this.#note(`${what} was neither read to its end nor destroyed`)
    for (const { bytes, checksum, what } of this.#immutable)
      if (crc32(bytes) !== checksum) this.#note(`${what} were changed afterwards`)
    return this.#faults
  }

  #note(fault: string): void {
    if (!this.#faults.includes(fault)) this.#faults.push(fault)
  }

  #fault(fault: string): never {
    this.#note(fault)
    throw new Error(`against the contract of stores: ${fault}`)
  }

  /** Answers never come within the turn of the call, as those of a backend. */
  async #enter(operation: Operation, call: Call, digest?: Digest): Promise<void> {
    this.calls[operation] += 1
    if (this.#isClosed) this.#fault(`${operation} after close`)
    if (!(call?.signal instanceof AbortSignal)) this.#fault(`${operation}: the call has no signal`)
    this.#checkCaller(operation, call)
    await setImmediate()
    if (this.hangs === operation) await unlessAborted(new Promise<never>(() => {}), call.signal)
    if (call.signal.aborted) throw cancellation(call.signal)
    const refusal = this.refuses[operation]
    const isRefused = digest === undefined || this.isRefused(digest)
    if (refusal !== undefined && isRefused && operation !== 'putAll') throw refusal
  }

  #checkCaller(operation: Operation, call: Call): void {
    const { caller, background = [] } = this.#options
    if (caller === undefined) return
    const isBackground = background.includes(operation) && call.metadata === undefined && call.held === undefined
    if (isBackground) return
    for (const name of ['metadata', 'held', 'giveWay', 'instanceName', 'log', 'invocation'] as const) {
      if (call[name] !== caller[name]) this.#fault(`${operation}: the call lost its ${name}`)
    }
    if ((call.keepForMs ?? 0) < (caller.keepForMs ?? 0)) this.#fault(`${operation}: the call keeps for less`)
  }

  async #orDiscard(blobs: readonly Blob[], work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      for (const blob of blobs) blob.discard()
      throw error
    }
  }

  /** One key is used either for content or for something else, by all operations. */
  #use({ key, describesContent }: Digest): void {
    if (!describesContent && this.#options.hasKeys === false) this.#fault(`${key} is a key: another server has none`)
    const before = this.#uses.get(key)
    if (before !== undefined && before !== describesContent) this.#fault(`${key} is used as content and as a key`)
    this.#uses.set(key, describesContent)
  }

  async #keep(digest: Digest, blob: Blob, call: Call): Promise<void> {
    await this.#orDiscard([blob], this.#accept(digest, blob))
    const isZstd = this.properties.encodings.includes('ZSTD')
    const sent = isZstd && blob.isIn('ZSTD') ? blob.as('ZSTD') : blob
    const { encoding, sizeBytes } = sent
    const taken = await this.#take(sent, call)
    if (sizeBytes !== undefined && sizeBytes !== taken.length)
      this.#fault(`put: a blob of ${taken.length} bytes announced ${sizeBytes}`)
    const bytes = encoding === 'ZSTD' ? await decoded(taken, call) : taken
    const encoded = encoding === 'ZSTD' ? taken : isZstd ? await compressed(bytes, { name: 'ZSTD' }, call) : undefined
    const actual = Digest.of(bytes, digest.function)
    if (digest.describesContent && actual.key !== digest.content.key) {
      if (this.#options.checksUploads !== true)
        this.#fault('put: bytes of another digest, which is not marked as a key')
      throw new StatusError('INVALID_ARGUMENT', `the bytes are those of ${actual.key}`)
    }
    if (call.signal.aborted) throw cancellation(call.signal)
    this.#watch(bytes, 'bytes that get returned')
    if (encoded !== undefined) this.#watch(encoded, 'bytes that get returned')
    this.#blobs.set(digest.key, { bytes, encoded })
  }

  async #accept(digest: Digest, blob: Blob): Promise<void> {
    this.#use(digest)
    if (blob.encoding !== 'IDENTITY') this.#fault(`put: a blob in ${blob.encoding} instead of a plain one`)
  }

  /** Reads a blob, and finds bytes that change before the put settles. Returns a copy. */
  async #take(blob: Blob, call: Call): Promise<Buffer> {
    const { takes = 'poured' } = this.#options
    const given: Watched[] = []
    const note = (bytes: Buffer): void => void given.push({ bytes, checksum: crc32(bytes), what: 'bytes given to put' })
    const chunks: Buffer[] = []
    const take = (bytes: Buffer): void => {
      note(bytes)
      chunks.push(Buffer.from(bytes))
    }
    if (takes === 'whole') take(await blob.bytes(Number.POSITIVE_INFINITY, call))
    else {
      const form: BlobForm =
        takes === 'poured' ? await blob.take() : { kind: 'path', path: blob.path(), isImmutable: false }
      const isLent = form.kind === 'feed' || form.kind === 'file'
      const taker = async (bytes: Buffer): Promise<void> => {
        take(bytes)
        await setImmediate()
        // Lent bytes may change from now on, others not before the end: there all are compared.
        if (!isLent) return
        this.#compare(given)
        given.length = 0
      }
      await pour(form, taker, call.signal)
      if (form.kind === 'path' && form.isImmutable) this.#immutable.push(...given)
    }
    await setImmediate()
    this.#compare(given)
    return Buffer.concat(chunks)
  }

  #compare(given: readonly Watched[]): void {
    for (const { bytes, checksum } of given)
      if (crc32(bytes) !== checksum) this.#fault('put: bytes were changed before it settled')
  }

  #watch(bytes: Buffer, what: string): void {
    this.#immutable.push({ bytes, checksum: crc32(bytes), what })
  }

  #served(bytes: Buffer, facts: { offset?: number; encoding?: 'ZSTD' }, { key }: Digest): Blob {
    const { serves = 'bytes', knowsSizes = true } = this.#options
    const close = (opened: object) => () => void this.#open.delete(opened)
    if (serves === 'bytes' && bytes.length <= STAGE_BYTES && this.breaks === undefined)
      return Blob.ofBytes(bytes, facts)
    if (serves === 'file') {
      const file = new ServedFile(bytes, this.breaks, (fault) => this.#fault(fault))
      this.#open.set(file, `the file of ${key}`)
      file.onClose = close(file)
      return Blob.ofFile(file, facts)
    }
    const stream = new ServedStream(bytes, this.breaks)
    this.#open.set(stream, `the stream of ${key}`)
    stream.once('close', close(stream))
    return Blob.ofPath([stream], { ...facts, sizeBytes: knowsSizes ? bytes.length : undefined })
  }
}

/** How many turns of the event loop a stream may take to close, also while the disk is slow, and background work to be noticed after close. */
const TURNS_TO_CLOSE = 20_000
const TURNS_AFTER_CLOSE = 3

const decoded = (bytes: Buffer, call: Call): Promise<Buffer> =>
  Blob.ofBytes(bytes, { encoding: 'ZSTD' }).as('IDENTITY').bytes(Number.POSITIVE_INFINITY, call)

/** Chunks of an odd length, each in a turn of its own. */
class ServedStream extends Readable {
  readonly #bytes: Buffer
  readonly #breaks: ContractDouble['breaks']
  #position = 0

  constructor(bytes: Buffer, breaks: ContractDouble['breaks']) {
    super({ highWaterMark: CHUNK_BYTES })
    this.#bytes = bytes
    this.#breaks = breaks
  }

  override _read(): void {
    void setImmediate().then(() => {
      if (this.#breaks !== undefined && this.#position >= this.#breaks.afterBytes)
        return this.destroy(this.#breaks.error)
      const chunk = this.#bytes.subarray(this.#position, endOf(this.#position, this.#breaks))
      this.#position += chunk.length
      return this.push(chunk.length === 0 ? null : chunk)
    })
  }
}

/** The end of the chunk that starts at this position. */
const endOf = (position: number, breaks: ContractDouble['breaks']): number =>
  Math.min(position + CHUNK_BYTES, breaks?.afterBytes ?? Number.POSITIVE_INFINITY)

/** A file that returns at most a chunk at a time. */
class ServedFile implements BlobFile {
  readonly sizeBytes: number
  readonly bufferBytes = 64 * 1024
  onClose: () => void = () => {}
  readonly #bytes: Buffer
  readonly #breaks: ContractDouble['breaks']
  readonly #fault: (fault: string) => never
  #isReading = false
  #isClosed = false

  constructor(bytes: Buffer, breaks: ContractDouble['breaks'], fault: (fault: string) => never) {
    this.sizeBytes = bytes.length
    this.#bytes = bytes
    this.#breaks = breaks
    this.#fault = fault
  }

  async read(into: Buffer, position: number): Promise<number> {
    if (this.#isClosed) this.#fault('a file was read after its close')
    if (this.#isReading) this.#fault('a file was read twice at a time')
    if (into.length === 0 || position < 0 || position > this.sizeBytes)
      this.#fault(`a file of ${this.sizeBytes} bytes was read at ${position} into ${into.length} bytes`)
    this.#isReading = true
    await setImmediate()
    this.#isReading = false
    if (this.#breaks !== undefined && position >= this.#breaks.afterBytes) throw this.#breaks.error
    return this.#bytes.copy(into, 0, position, endOf(position, this.#breaks))
  }

  async close(): Promise<void> {
    if (this.#isReading) this.#fault('a file was closed during a read')
    this.#isClosed = true
    this.onClose()
  }
}
