import { type Call, cancellation } from '../../base/call.js'
import type { HealthStatus } from '../../base/health.js'
import { Holder } from '../../base/ledger/holder.js'
import { Kind } from '../../base/ledger/kind.js'
import { StatusError } from '../../base/status-error.js'
import type { MemoryOptions } from '../../config/config.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { Blob } from '../../stream/blob/blob.js'
import type { BlobForm } from '../../stream/blob/form.js'
import { pour } from '../../stream/blob/pour.js'
import { extentOf, type Range } from '../../stream/path.js'
import { ABSENT, BlobIndex } from '../index/blob-index.js'
import type { StoreKind } from '../kind.js'
import { own, Pieces, readPieces, tooLargeToKeep } from '../memory/pieces.js'
import type { StoreUsage } from '../meter.js'
import { BaseStore, PLAIN } from '../store.js'

/**
 * Keeps blobs on the heap, least recently used first out. A blob that alone exceeds `max_bytes` is refused with
 * RESOURCE_EXHAUSTED as soon as it does, because `finish` means it can be read; as the fast side of a fast_slow that
 * costs nobody anything. Uploads under way may hold as much again as the blobs, and beyond that are refused likewise.
 */
class MemoryStore extends BaseStore {
  override readonly properties = { ...PLAIN, extendsLifetimes: true }
  readonly #index: BlobIndex
  /** What each slot of the index holds. */
  readonly #blobs: (readonly Buffer[])[] = []
  /** What uploads under way hold together. */
  readonly #uploads: Kind

  constructor(index: BlobIndex, maxBytes: number) {
    super()
    this.#index = index
    this.#uploads = new Kind('memory_uploads', { maxBytes: maxBytes || Number.POSITIVE_INFINITY, rule: 'refuse' })
  }

  usage(): StoreUsage {
    return { ...this.#index.usage, evictFailureCount: 0 }
  }

  async findMissing(digests: DigestBatch): Promise<DigestBatch> {
    return this.#index.missing(digests)
  }

  async get(digest: Digest, range: Range, _call: Call): Promise<Blob> {
    const slot = this.#index.use(digest)
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
    const form = await blob.take()
    if (form.kind === 'bytes') this.#putBytes(digest, form.bytes)
    else await this.#putPieces(digest, form, call)
  }

  async remove(digest: Digest): Promise<void> {
    const slot = this.#index.find(digest)
    if (slot !== ABSENT) this.#free(slot)
  }

  async health(): Promise<HealthStatus> {
    const message = `keeps ${this.#index.count} blobs of ${this.#index.bytes} bytes`
    return { state: 'Ok', message }
  }

  /**
   * Frees what the limits no longer allow, but not `kept`: a committed blob stays until the next one comes. Reads do not
   * evict, so that it can be read however large `evict_bytes` is.
   */
  evict(kept: number = ABSENT): void {
    for (let slot = this.#index.victim(); slot !== ABSENT && slot !== kept; slot = this.#index.victim()) {
      this.#index.noteEviction(slot)
      this.#free(slot)
    }
  }

  #putBytes(digest: Digest, bytes: Buffer): void {
    if (!this.#index.fits(bytes.length)) throw tooLargeToKeep(bytes.length)
    this.#insert(digest, bytes.length === 0 ? NOTHING : [own(bytes)], bytes.length)
  }

  async #putPieces(digest: Digest, form: BlobForm, { signal, giveWay }: Call): Promise<void> {
    const reservation = this.#uploads.reserveOrThrow(EVERYBODY, 0)
    const pieces = new Pieces({ reservation, fits: (sizeBytes) => this.#index.fits(sizeBytes), giveWay })
    try {
      const lasts = form.kind === 'path' && form.lasts
      await pour(form, (bytes) => (lasts ? pieces.keep(bytes) : pieces.take(bytes)), signal)
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

const NOTHING: readonly Buffer[] = []
const EMPTY = Buffer.alloc(0)
/** Uploads into a store share what there is. */
const EVERYBODY = new Holder(1)

const EXPIRY_PERIOD_MS = 10_000

export const memory: StoreKind<MemoryOptions> = {
  build: ({ eviction_policy: policy }, { clock, holds, resources, path }) => {
    const store = new MemoryStore(new BlobIndex({ policy, clock }), policy.max_bytes)
    holds(() => store.usage())
    // An idle store gives its memory back as well.
    if (policy.max_seconds > 0)
      resources.add(
        `expiry of ${path}`,
        clock.every(EXPIRY_PERIOD_MS, () => store.evict()),
      )
    return store
  },
}
