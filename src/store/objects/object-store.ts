import type { Readable } from 'node:stream'
import { NEVER } from '../../base/cancellation.js'
import type { Clock } from '../../base/clock.js'
import type { HealthStatus } from '../../base/health.js'
import { Code, isStatus, StatusError } from '../../base/status-error.js'
import { BaseStore, PLAIN, type Removal, type StoreProperties } from '../../blobs/store.js'
import type { Log } from '../../log/log.js'
import { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { type Call, cancellation, whenAborted } from '../../rpc/call.js'
import { Blob } from '../../stream/blob/blob.js'
import { collect } from '../../stream/collect.js'
import { extentOf, type Range, STAGE_BYTES } from '../../stream/path.js'
import { boundedMap } from '../../work/bounded-map.js'
import type { Semaphore } from '../../work/semaphore.js'
import { checkedOnReturn } from '../remote/checked.js'
import { type Connection, connectionHealth } from '../remote/connection-health.js'
import type { Requests } from '../remote/requests.js'
import type { Bucket, ObjectFacts, PartedUpload } from './bucket.js'
import { PartBuffers } from './part-buffers.js'
import { PartSink } from './part-sink.js'
import type { Refresher } from './refresher.js'

export interface ObjectStoreParts {
  readonly bucket: Bucket
  readonly requests: Requests
  /** Limits the parts of all uploads that are sent concurrently. */
  readonly partSlots: Semaphore
  readonly keyPrefix: string
  /** Older objects count as missing; 0 means never. */
  readonly expiresAfterMs: number
  /** Present if a rule of the bucket deletes objects by their age. */
  readonly refresher?: Refresher | undefined
  readonly clock: Clock
  readonly log: Log
}

/** Concurrent `stat` requests if the backend has no batch request. */
const STAT_LANES = 64

/** Objects in one batch request. */
const STAT_BATCH = 500

/** Timeout of a request that sends a part: minutes, for slow connections. */
const SEND = { timeoutMs: 120_000 }

/** The outcome of a commit would be unknown, so it continues after its call has ended. */
const COMMIT = { ...SEND, outlivesCall: true }
/** A part whose request was aborted may arrive after the upload was discarded, and would then be kept forever. */
const PART = COMMIT

/** Timeout for discarding an upload. The caller of `put` waits for it. */
const ABORT_TIMEOUT_MS = 10_000

/**
 * Keeps each blob as one object, `{key_prefix}{key of the digest}`. If the digest describes the content and an object
 * has another length, this store did not write it. Such an object counts as missing and is overwritten.
 */
export class ObjectStore extends BaseStore {
  override readonly properties: StoreProperties
  readonly #parts: ObjectStoreParts
  readonly #buffers: PartBuffers

  constructor(parts: ObjectStoreParts) {
    super()
    const { refresher } = parts
    this.properties =
      refresher === undefined ? PLAIN : { ...PLAIN, extendsLifetimes: true, retentionMs: refresher.retentionMs }
    this.#parts = parts
    this.#buffers = new PartBuffers(parts.bucket.limits.partBytes)
  }

  async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const indexes = Array.from({ length: digests.count }, (_, index) => index)
    if (this.#parts.bucket.statAll !== undefined) {
      const missing: number[] = []
      for (let first = 0; first < indexes.length; first += STAT_BATCH) {
        const batch = indexes.slice(first, first + STAT_BATCH)
        const areUsable = await this.#statAll(
          batch.map((index) => digests.at(index)),
          call,
        )
        missing.push(...batch.filter((_, at) => !areUsable[at]))
      }
      return digests.select(missing)
    }
    const arePresent = await boundedMap(indexes, STAT_LANES, (index) => this.#use(digests.at(index), call))
    return digests.select(indexes.filter((index) => !arePresent[index]))
  }

  /** Lists the usable objects of this store, page by page. Fails if the provider has no such request. */
  async *list(call: Pick<Call, 'signal'>): AsyncGenerator<readonly Digest[]> {
    const { bucket, requests, keyPrefix } = this.#parts
    for (let from: string | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false) {
      const page = await requests.run(call, async (signal) => bucket.list?.(keyPrefix, from, signal))
      if (page === undefined) throw new StatusError('UNIMPLEMENTED', `${bucket.name} cannot be listed`)
      yield page.objects.flatMap(({ key, ...facts }) => {
        const digest = Digest.ofKey(key.slice(keyPrefix.length))
        return digest !== undefined && this.#isUsable(digest, facts) ? [digest] : []
      })
      from = page.next
    }
  }

  async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const blob = await this.#open(digest, range, call)
    return checkedOnReturn(blob, digest, range, () => this.remove(digest, 'wrong', call))
  }

  async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const { signal } = call
    try {
      if (signal.aborted) throw cancellation(signal)
      // For an upload in parts it pays to check first whether the blob exists. Only small writes can be conditional.
      const isLarge = digest.describesContent && digest.sizeBytes > this.#parts.bucket.limits.wholeBytes
      if (isLarge && (await this.#use(digest, call))) return await blob.drain(signal)
      const form = await blob.take()
      const { wholeBytes } = this.#parts.bucket.limits
      if (form.kind === 'bytes' && form.bytes.length <= wholeBytes) return await this.#write(digest, form.bytes, call)
      const sink = this.#sink(digest, form.kind === 'bytes' ? form.bytes.length : blob.sizeBytes, call)
      await sink.put(form, signal)
    } finally {
      blob.discard()
    }
  }

  async remove(digest: Digest, _why: Removal, call: Call): Promise<void> {
    const { bucket, requests } = this.#parts
    await requests.run(call, (signal) => bucket.remove(this.#keyOf(digest), signal))
  }

  health({ signal }: Call): Promise<HealthStatus> {
    return connectionHealth(this.connection, signal)
  }

  get connection(): Connection {
    const { bucket } = this.#parts
    return {
      name: bucket.name,
      structName: bucket.constructor.name,
      ping: (signal) => bucket.ping(signal),
      failureOf: (thrown) => bucket.failureOf(thrown),
      timeoutMs: 0,
    }
  }

  #absent({ key }: Digest): StatusError {
    return new StatusError('NOT_FOUND', `blob ${key} is not in ${this.#parts.bucket.name}`)
  }

  #keyOf({ key }: Digest): string {
    return this.#parts.keyPrefix + key
  }

  /** Undefined for an absent or unusable object. */
  async #stat(digest: Digest, call: Pick<Call, 'signal'>): Promise<ObjectFacts | undefined> {
    const { bucket, requests } = this.#parts
    const facts = await requests.run(call, (signal) => bucket.stat(this.#keyOf(digest), signal))
    return facts !== undefined && this.#isUsable(digest, facts) ? facts : undefined
  }

  /** Whether a blob is there. If it is, it counts as used. */
  async #use(digest: Digest, call: Pick<Call, 'signal' | 'keepForMs'>): Promise<boolean> {
    const facts = await this.#stat(digest, call)
    return facts !== undefined && this.#used(digest, facts, call)
  }

  async #used(digest: Digest, facts: ObjectFacts, { keepForMs }: Pick<Call, 'keepForMs'>): Promise<boolean> {
    return this.#parts.refresher?.used(this.#keyOf(digest), facts, keepForMs) ?? true
  }

  async #statAll(digests: readonly Digest[], call: Call): Promise<readonly boolean[]> {
    const { bucket, requests } = this.#parts
    const keys = digests.map((digest) => this.#keyOf(digest))
    const found = (await requests.run(call, async (signal) => bucket.statAll?.(keys, signal))) ?? []
    return digests.map((digest, at) => {
      const facts = found[at]
      return facts !== undefined && this.#isUsable(digest, facts)
    })
  }

  #isUsable({ describesContent, sizeBytes }: Digest, facts: ObjectFacts): boolean {
    const { expiresAfterMs, clock } = this.#parts
    if (describesContent && facts.sizeBytes !== sizeBytes) return false
    return expiresAfterMs === 0 || facts.writtenAtMs + expiresAfterMs > clock.now()
  }

  async #open(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const { offset, limit } = range
    const isPastEnd = digest.describesContent && offset >= digest.sizeBytes
    if (offset < 0 || limit === 0 || isPastEnd) return this.#openKnown(digest, range, call)
    try {
      return await this.#read(digest, offset, offset + limit, call)
    } catch (error) {
      // Providers reject empty ranges. The length of the object decides whether the range is valid.
      if (isStatus(error, 'OUT_OF_RANGE')) return this.#openKnown(digest, range, call)
      throw error
    }
  }

  async #openKnown(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const facts = await this.#stat(digest, call)
    if (facts === undefined) throw this.#absent(digest)
    const { offset, end } = extentOf(range, facts.sizeBytes, digest.key)
    return offset === end ? Blob.ofBytes(NO_BYTES, { offset }) : this.#read(digest, offset, end, call)
  }

  async #read(digest: Digest, offset: number, wantedEnd: number, call: Call): Promise<Blob> {
    const { bucket, requests } = this.#parts
    let version: string | undefined
    const source = await requests.read(call, offset, async (position, signal) => {
      const part = { offset: position, end: wantedEnd, version }
      const object = await bucket.read(this.#keyOf(digest), part, signal)
      if (object === undefined) throw this.#absent(digest)
      if (!this.#isUsable(digest, object)) {
        object.body.destroy()
        throw this.#absent(digest)
      }
      version = object.version
      void this.#used(digest, object, call)
      return { chunks: whileWanted(object.body, signal), end: object.end }
    })
    const sizeBytes = source.end === undefined ? undefined : source.end - offset
    if (sizeBytes === undefined || sizeBytes > STAGE_BYTES) return Blob.ofPath([source], { sizeBytes, offset })
    return Blob.ofBytes(await collect([source], { maxBytes: STAGE_BYTES, signal: call.signal }), { offset })
  }

  /** Writes bytes that match their digest conditionally, unless an unconditional write is cheaper than a refusal. */
  async #write(digest: Digest, bytes: Buffer, call: Pick<Call, 'signal' | 'keepForMs'>): Promise<void> {
    const { bucket, requests } = this.#parts
    const { signal } = call
    const key = this.#keyOf(digest)
    if (digest.describesContent && bytes.length > STAGE_BYTES) {
      const found = await requests.run({ signal }, (inTime) => this.#writeNew(digest, bytes, inTime), COMMIT)
      if (found === 'written' || (found !== undefined && (await this.#used(digest, found, call)))) return
    }
    await requests.run({ signal }, (inTime) => bucket.write(key, bytes, false, inTime), COMMIT)
  }

  /** Resolves with what the bucket has of the blob if this request did not write it. */
  async #writeNew(digest: Digest, bytes: Buffer, signal: AbortSignal): Promise<'written' | ObjectFacts | undefined> {
    const { bucket } = this.#parts
    const key = this.#keyOf(digest)
    const present = async (): Promise<ObjectFacts | undefined> => {
      const facts = await bucket.stat(key, signal)
      return facts !== undefined && this.#isUsable(digest, facts) ? facts : undefined
    }
    try {
      return (await bucket.write(key, bytes, true, signal)) ? 'written' : await present()
    } catch (error) {
      // If the object exists, a server may close the connection during the upload, and its answer is lost.
      const isLost = bucket.failureOf(error).code === Code.UNAVAILABLE
      const found = isLost ? await present().catch(() => undefined) : undefined
      if (found === undefined) throw error
      return found
    }
  }

  #sink(digest: Digest, knownBytes: number | undefined, { keepForMs }: Pick<Call, 'keepForMs'>): PartSink {
    const { bucket, requests, partSlots } = this.#parts
    const { partBytes, wholeBytes, maxParts, isSequential } = bucket.limits
    // The encoded length may be unknown. It is rarely much more than that of the blob.
    const expectedBytes = knownBytes ?? 2 * digest.sizeBytes
    return new PartSink({
      partBytes: Math.max(partBytes, Math.ceil(expectedBytes / maxParts)),
      wholeBytes,
      isSequential,
      expectedBytes,
      buffers: this.#buffers,
      write: (bytes) => this.#write(digest, bytes, { signal: NEVER, keepForMs }),
      begin: () => requests.run({ signal: NEVER }, (signal) => bucket.begin(this.#keyOf(digest), signal)),
      takeTurn: (signal) => partSlots.acquire('a part to be sent', signal),
      send: (upload, part, signal) => requests.run({ signal }, (inTime) => upload.send(part, inTime), PART),
      complete: (upload) => requests.run({ signal: NEVER }, (signal) => upload.complete(signal), COMMIT),
      abort: (upload) => this.#abort(digest, upload),
    })
  }

  async #abort({ key }: Digest, upload: PartedUpload): Promise<void> {
    const { requests, log } = this.#parts
    try {
      await requests.run({ signal: AbortSignal.timeout(ABORT_TIMEOUT_MS) }, (signal) => upload.abort(signal))
    } catch (error) {
      log.warn('could not give up an upload: its parts take room until the object store drops them', { key, error })
    }
  }
}

const NO_BYTES = Buffer.alloc(0)

/** Destroys the body when the signal aborts, whatever it waits for. */
const whileWanted = (body: Readable, signal: AbortSignal): Readable => {
  // An early error is reported to the later reader.
  body.on('error', () => {})
  const giveUp = (): void => {
    body.destroy()
  }
  if (signal.aborted) giveUp()
  else whenAborted(signal, giveUp)
  body.once('close', () => signal.removeEventListener('abort', giveUp))
  return body
}
