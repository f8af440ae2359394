import type { Call } from '../base/call.js'
import type { HealthStatus } from '../base/health.js'
import { StatusError } from '../base/status-error.js'
import type { MemoryOptions } from '../config/config.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import { pastEnd, type Range, type ReadPath, type WritePath } from '../stream/path.js'
import { ABSENT, BlobIndex } from './index/blob-index.js'
import type { StoreKind } from './kind.js'
import { MemorySink, MemorySource, own, tooLargeToKeep } from './memory-stages.js'
import { type Store, tooLarge } from './store.js'

/**
 * Keeps blobs on the heap, least recently used first out. A blob that alone exceeds `max_bytes` is refused with
 * RESOURCE_EXHAUSTED as soon as it does, because `finish` means it can be read; as the fast side of a fast_slow that
 * costs nobody anything. Uploads under way are not counted until they commit.
 */
class MemoryStore implements Store {
  readonly #index: BlobIndex
  /** What each slot of the index holds. */
  readonly #blobs: (readonly Buffer[])[] = []

  constructor(index: BlobIndex) {
    this.#index = index
  }

  async findMissing(digests: readonly Digest[]): Promise<Digest[]> {
    return digests.filter((digest) => this.#index.use(digest) === ABSENT)
  }

  async findMissingIn(batch: DigestBatch): Promise<DigestBatch> {
    return this.#index.missingIn(batch)
  }

  async reader(digest: Digest, { offset, limit }: Range, _call: Call): Promise<ReadPath> {
    const { pieces, sizeBytes } = this.#use(digest)
    if (offset > sizeBytes) throw pastEnd(digest.key, offset, sizeBytes)
    return [new MemorySource(pieces, offset, Math.min(sizeBytes, offset + limit))]
  }

  async writer(digest: Digest, _call: Call): Promise<WritePath> {
    return [
      new MemorySink({
        fits: (sizeBytes) => this.#index.fits(sizeBytes),
        commit: (pieces, sizeBytes) => this.#insert(digest, pieces, sizeBytes),
      }),
    ]
  }

  async readBytes(digest: Digest, maxBytes: number): Promise<Buffer> {
    const { pieces, sizeBytes } = this.#use(digest)
    if (sizeBytes > maxBytes) throw tooLarge(digest, sizeBytes, maxBytes)
    const [only] = pieces
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, sizeBytes)
  }

  async writeBytes(digest: Digest, bytes: Buffer): Promise<void> {
    if (!this.#index.fits(bytes.length)) throw tooLargeToKeep(bytes.length)
    this.#insert(digest, bytes.length === 0 ? NOTHING : [own(bytes)], bytes.length)
  }

  async storedBytes(digest: Digest): Promise<number | undefined> {
    const slot = this.#index.find(digest)
    return slot === ABSENT ? undefined : this.#index.storedBytesOf(slot)
  }

  async remove(digest: Digest): Promise<void> {
    const slot = this.#index.find(digest)
    if (slot !== ABSENT) this.#free(slot)
  }

  async health(): Promise<HealthStatus> {
    const message = `keeps ${this.#index.count} blobs of ${this.#index.bytes} bytes`
    return { state: 'Ok', structName: MemoryStore.name, message }
  }

  /**
   * Frees what the limits no longer allow, but not `kept`: a committed blob stays until the next one comes. Reads do not
   * evict, so that it can be read however large `evict_bytes` is.
   */
  evict(kept: number = ABSENT): void {
    for (let slot = this.#index.victim(); slot !== ABSENT && slot !== kept; slot = this.#index.victim())
      this.#free(slot)
  }

  /** Where a blob is, which counts as a use. */
  #use(digest: Digest): { readonly pieces: readonly Buffer[]; readonly sizeBytes: number } {
    const slot = this.#index.use(digest)
    const pieces = slot === ABSENT ? undefined : this.#blobs[slot]
    if (pieces === undefined) throw new StatusError('NOT_FOUND', `blob ${digest.key} is not in memory`)
    return { pieces, sizeBytes: this.#index.storedBytesOf(slot) }
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

const EXPIRY_PERIOD_MS = 10_000

export const memory: StoreKind<MemoryOptions> = {
  build: ({ eviction_policy: policy }, { clock, resources, path }) => {
    const limits = {
      maxBytes: policy.max_bytes,
      evictBytes: policy.evict_bytes,
      maxCount: policy.max_count,
      maxSeconds: policy.max_seconds,
    }
    const store = new MemoryStore(new BlobIndex({ limits, clock }))
    // An idle store gives its memory back as well.
    if (limits.maxSeconds > 0)
      resources.add(
        `expiry of ${path}`,
        clock.every(EXPIRY_PERIOD_MS, () => store.evict()),
      )
    return store
  },
}
