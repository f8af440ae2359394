import type { HealthStatus } from '../../../base/health.js'
import { counted, sizeText } from '../../../base/quantities.js'
import { StatusError } from '../../../base/status-error.js'
import type { StoreUsage } from '../../../blobs/meter.js'
import { BaseStore, PLAIN, type StoreProperties } from '../../../blobs/store.js'
import type { MemoryOptions } from '../../../config/config.js'
import { BytesInFlight } from '../../../ledger/bytes-in-flight.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import { type Call, cancellation } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import type { BlobForm } from '../../../stream/blob/form.js'
import { pour } from '../../../stream/blob/pour.js'
import { extentOf, type Range } from '../../../stream/path.js'
import type { StoreKind } from '../../contract/kind.js'
import { oneForAll } from '../../contract/thread-use.js'
import { ABSENT, BlobIndex } from '../../index/blob-index.js'
import { promiseOfIndex, promisesOf, tellBroken } from '../../index/kept-promises.js'
import { listerOf } from '../../index/list-blobs.js'
import { copied, Pieces, readPieces, tooLargeToKeep } from './pieces.js'

/**
 * Keeps blobs in memory and evicts the least recently used. A blob larger than `max_bytes` is rejected with
 * RESOURCE_EXHAUSTED as soon as it exceeds the limit. In the fast tier of a fast_slow no client notices that. Uploads
 * in flight are bounded too (`BytesInFlight`); further ones are rejected likewise.
 */
class MemoryStore extends BaseStore {
  override readonly properties: StoreProperties
  readonly #index: BlobIndex
  /** The content of each slot of the index. */
  readonly #blobs: (readonly Buffer[])[] = []
  readonly #inFlight: BytesInFlight

  constructor(index: BlobIndex) {
    super()
    this.#index = index
    const { retentionMs, maxBlobBytes } = index
    this.properties = { ...PLAIN, extendsLifetimes: true, retentionMs, findsByHash: true, maxBlobBytes }
    this.#inFlight = new BytesInFlight({ maxBlobBytes })
  }

  usage(): StoreUsage {
    return { ...this.#index.usage, evictFailureCount: 0 }
  }

  async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.#index.missing(digests, call)
  }

  override lacks(digest: Digest): boolean {
    return this.#index.find(digest) === ABSENT
  }

  override async sizeOf(named: Digest): Promise<number | undefined> {
    return this.#index.sizeOf(named)
  }

  override async evictedMs(digest: Digest): Promise<number | undefined> {
    return this.#index.evictedMs(digest)
  }

  async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const slot = this.#index.use(digest, call)
    const pieces = slot === ABSENT ? undefined : this.#blobs[slot]
    if (pieces === undefined) throw new StatusError('NOT_FOUND', `blob ${digest.key} is not in memory`)
    const [first = EMPTY] = pieces
    if (pieces.length <= 1) return Blob.ofPart(first, range, digest.key)
    const { offset, end } = extentOf(range, this.#index.storedBytesOf(slot), digest.key)
    return Blob.ofPath([readPieces(pieces, offset, end)], { sizeBytes: end - offset, offset })
  }

  async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const { signal } = call
    if (signal.aborted) {
      blob.discard()
      throw cancellation(signal)
    }
    try {
      this.#index.checkRoomFor(digest, blob.sizeBytes ?? expectedBytes(digest))
    } catch (error) {
      blob.discard()
      throw error
    }
    const form = await blob.take()
    if (form.kind === 'bytes') this.#putBytes(digest, form.bytes)
    else await this.#putPieces(digest, form, call)
    this.#index.holdFor(digest, call)
  }

  async remove(digest: Digest): Promise<void> {
    const slot = this.#index.find(digest)
    if (slot !== ABSENT) this.#free(slot)
  }

  async health(): Promise<HealthStatus> {
    const message = `keeps ${counted(this.#index.count, 'blob')} of ${sizeText(this.#index.bytes)}`
    return { state: 'Ok', message }
  }

  /**
   * Evicts blobs beyond the limits, but not `kept`: a committed blob stays until the next upload. Reads do not evict,
   * so that a new blob can be read whatever `evict_bytes` is.
   */
  evict(kept: number = ABSENT): void {
    for (let slot = this.#index.victim(); slot !== ABSENT && slot !== kept; slot = this.#index.victim()) {
      this.#index.noteEviction(slot)
      this.#free(slot)
    }
  }

  #putBytes(digest: Digest, bytes: Buffer): void {
    if (!this.#index.fits(bytes.length)) throw tooLargeToKeep(bytes.length)
    this.#insert(digest, bytes.length === 0 ? NOTHING : [copied(bytes)], bytes.length)
  }

  async #putPieces(digest: Digest, form: BlobForm, call: Call): Promise<void> {
    const inFlight = this.#inFlight.begin(call)
    const pieces = new Pieces({ inFlight, fits: (sizeBytes) => this.#index.fits(sizeBytes) })
    try {
      const lasts = form.kind === 'path' && form.isImmutable
      await pour(form, (bytes) => (lasts ? pieces.keep(bytes) : pieces.take(bytes)), call.signal)
      this.#insert(digest, pieces.end(), pieces.sizeBytes)
    } finally {
      pieces.close()
    }
  }

  #insert(digest: Digest, pieces: readonly Buffer[], sizeBytes: number): void {
    const slot = this.#index.insert(digest, sizeBytes)
    this.#blobs[slot] = pieces
    this.evict(slot)
  }

  #free(slot: number): void {
    this.#blobs[slot] = NOTHING
    this.#index.remove(slot)
  }
}

const expectedBytes = ({ describesContent, sizeBytes }: Digest): number => (describesContent ? sizeBytes : 0)

const NOTHING: readonly Buffer[] = []
const EMPTY = Buffer.alloc(0)

const EXPIRY_PERIOD_MS = 10_000

export const memory: StoreKind<MemoryOptions> = {
  threads: () => oneForAll('its blobs are in the memory of one thread'),
  promise: (options) => promiseOfIndex(options, 'until a restart'),
  build: (options, context) => {
    const { clock, holds, resources, path } = context
    const { eviction_policy: policy } = options
    const index = new BlobIndex({ policy, clock, promises: promisesOf(options, context) })
    tellBroken(index, context)
    const store = new MemoryStore(index)
    holds(() => store.usage(), listerOf(index, path))
    // Frees memory while the store is idle, too.
    if (policy.max_seconds > 0)
      resources.add(
        `expiry of ${path}`,
        clock.every(EXPIRY_PERIOD_MS, () => store.evict()),
      )
    return store
  },
}
