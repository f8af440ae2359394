import type { Readable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import type { HealthStatus } from '../../base/health.js'
import { Code, isStatus, StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { type Call, cancellation } from '../../rpc/call.js'
import { Blob } from '../../stream/blob/blob.js'
import { collect } from '../../stream/collect.js'
import { extentOf, type Range, STAGE_BYTES } from '../../stream/path.js'
import { boundedMap } from '../../work/bounded-map.js'
import type { Turns } from '../../work/turns.js'
import { BaseStore, type Removal } from '../contract/store.js'
import { checkedOnReturn } from '../remote/checked.js'
import { type Connection, connectionHealth } from '../remote/connection-health.js'
import type { Requests } from '../remote/requests.js'
import type { Bucket, ObjectFacts, PartedUpload } from './bucket.js'
import { PartBuffers } from './part-buffers.js'
import { PartSink } from './part-sink.js'

export interface ObjectStoreParts {
  readonly bucket: Bucket
  readonly requests: Requests
  /** Bounds the parts of all uploads that are being sent. */
  readonly partTurns: Turns
  readonly keyPrefix: string
  /** Older objects count as missing; 0 is never. */
  readonly expiresAfterMs: number
  readonly clock: Clock
  readonly log: Log
}

/** How many digests of one question are asked for at a time where there is no request for many. */
const STAT_LANES = 64

/** How many are asked for by one request where there is. */
const STAT_BATCH = 500

/** What a request may take that sends a part: minutes on a slow line, yet not for ever. */
const SEND = { timeoutMs: 120_000 }

/** Once it was sent nobody could tell whether it was heeded: it is not given up when its call is. */
const COMMIT = { ...SEND, outlivesCall: true }
/** A part whose request is cut may arrive behind the one that gives its upload up, and is then kept by nobody's wish. */
const PART = COMMIT

const NEVER = new AbortController().signal

/** What giving up an upload may take: whoever put the blob waits for it. */
const ABORT_TIMEOUT_MS = 10_000

/**
 * Keeps each blob as one object, `{key_prefix}{key of the digest}`. An object whose length is not that of the digest it is kept
 * under, where that describes its bytes, was not written by this store: it counts as missing and is written over.
 */
export class ObjectStore extends BaseStore {
  readonly #parts: ObjectStoreParts
  readonly #buffers: PartBuffers

  constructor(parts: ObjectStoreParts) {
    super()
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
    const facts = await boundedMap(indexes, STAT_LANES, (index) => this.#stat(digests.at(index), call))
    return digests.select(indexes.filter((index) => facts[index] === undefined))
  }

  /** Everything of this store in the bucket that may be used, piece by piece. Fails where the provider is not asked such a thing. */
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
      // What comes in parts is worth the question whether it is here: only small blobs can be written on that condition.
      const isLarge = digest.describesContent && digest.sizeBytes > this.#parts.bucket.limits.wholeBytes
      if (isLarge && (await this.#stat(digest, call)) !== undefined) return await blob.drain(signal)
      const form = await blob.take()
      const { wholeBytes } = this.#parts.bucket.limits
      if (form.kind === 'bytes' && form.bytes.length <= wholeBytes) return await this.#write(digest, form.bytes, signal)
      const sink = this.#sink(digest, form.kind === 'bytes' ? form.bytes.length : blob.sizeBytes)
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

  /** Undefined of what is absent or may not be used. */
  async #stat(digest: Digest, call: Pick<Call, 'signal'>): Promise<ObjectFacts | undefined> {
    const { bucket, requests } = this.#parts
    const facts = await requests.run(call, (signal) => bucket.stat(this.#keyOf(digest), signal))
    return facts !== undefined && this.#isUsable(digest, facts) ? facts : undefined
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
      // Nothing is no part of an object for its provider: where the object ends has to be known to tell what it is.
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
      return { chunks: whileWanted(object.body, signal), end: object.end }
    })
    const sizeBytes = source.end === undefined ? undefined : source.end - offset
    if (sizeBytes === undefined || sizeBytes > STAGE_BYTES) return Blob.ofPath([source], { sizeBytes, offset })
    return Blob.ofBytes(await collect([source], { maxBytes: STAGE_BYTES, signal: call.signal }), { offset })
  }

  /** Bytes that describe themselves are not sent twice, unless that costs less than to be refused. */
  async #write(digest: Digest, bytes: Buffer, signal: AbortSignal): Promise<void> {
    const { bucket, requests } = this.#parts
    const key = this.#keyOf(digest)
    if (digest.describesContent && bytes.length > STAGE_BYTES) {
      const isThere = await requests.run({ signal }, (inTime) => this.#writeNew(digest, bytes, inTime), COMMIT)
      if (isThere) return
    }
    await requests.run({ signal }, (inTime) => bucket.write(key, bytes, false, inTime), COMMIT)
  }

  /** Whether a blob is there now, by this request or by an earlier one. */
  async #writeNew(digest: Digest, bytes: Buffer, signal: AbortSignal): Promise<boolean> {
    const { bucket } = this.#parts
    const key = this.#keyOf(digest)
    const isThere = async (): Promise<boolean> => {
      const facts = await bucket.stat(key, signal)
      return facts !== undefined && this.#isUsable(digest, facts)
    }
    try {
      return (await bucket.write(key, bytes, true, signal)) || (await isThere())
    } catch (error) {
      // A server that has the object may hang up on who still sends it, and its answer is lost with the connection.
      const isLost = bucket.failureOf(error).code === Code.UNAVAILABLE
      if (isLost && (await isThere().catch(() => false))) return true
      throw error
    }
  }

  #sink(digest: Digest, knownBytes: number | undefined): PartSink {
    const { bucket, requests, partTurns } = this.#parts
    const { partBytes, wholeBytes, maxParts, isSequential } = bucket.limits
    // What it is in the form it comes in nobody may know; that is seldom much more than the blob itself.
    const expectedBytes = knownBytes ?? 2 * digest.sizeBytes
    return new PartSink({
      partBytes: Math.max(partBytes, Math.ceil(expectedBytes / maxParts)),
      wholeBytes,
      isSequential,
      expectedBytes,
      buffers: this.#buffers,
      write: (bytes) => this.#write(digest, bytes, NEVER),
      begin: () => requests.run({ signal: NEVER }, (signal) => bucket.begin(this.#keyOf(digest), signal)),
      takeTurn: (signal) => partTurns.take('a part to be sent', signal),
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

/** A body that ends when nobody wants it any more, whatever it waits for. */
const whileWanted = (body: Readable, signal: AbortSignal): Readable => {
  // What happens to it before somebody reads it is told to who then does.
  body.on('error', () => {})
  if (signal.aborted) body.destroy()
  else signal.addEventListener('abort', () => body.destroy(), { once: true })
  return body
}
