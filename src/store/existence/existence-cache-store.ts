import { isStatus } from '../../base/status-error.js'
import { ForwardingStore } from '../../blobs/forwarding.js'
import type { BlobEntry, FarTrees, Outcomes, Removal, Store, StoreProperties } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { type Call, callWith } from '../../rpc/call.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { Range } from '../../stream/path.js'
import { ABSENT, type BlobIndex } from '../index/blob-index.js'

/**
 * Remembers which blobs its backend has, and asks it only about the others. The cache learns only from the backend's
 * own answers: blobs it reports, returns or has accepted. A miss or a removal is forgotten at once. Other deletions in
 * the backend (its own eviction, another process) are noticed when the cached answer expires. Uploads of known blobs
 * still go to the backend, because they restore blobs lost there.
 */
export class ExistenceCacheStore extends ForwardingStore {
  /**
   * Ordered by the time of the backend's last answer. Lookups do not change it, so entries expire by the answer's age.
   */
  #index: BlobIndex
  /** What a listing in progress has found so far. */
  #next: BlobIndex | undefined
  /** Counts removals and misses. An answer requested before one of them may be out of date. */
  #forgotten = 0

  /** How long an answer of the backend is believed; 0 for ever. */
  readonly #believedMs: number

  constructor(backend: Store, index: BlobIndex, believedMs = 0) {
    super(backend)
    this.#index = index
    this.#believedMs = believedMs
  }

  /**
   * Asks the backend to keep a blob for as long as its answer is believed, beyond its retention: then a client that gets
   * the answer late has the whole retention too.
   */
  #keeping(call: Call): Call {
    const { retentionMs } = this.backend.properties
    if (retentionMs === 0 || !Number.isFinite(retentionMs) || this.#believedMs === 0) return call
    return callWith(call, { keepForMs: Math.max(retentionMs, call.keepForMs ?? 0) + this.#believedMs })
  }

  /** The backend is not asked about known blobs, so a lookup here does not extend their lifetimes there. */
  override get properties(): StoreProperties {
    return { ...this.backend.properties, extendsLifetimes: false }
  }

  /** What a tree has is not remembered: nobody asked whether it is there. */
  get trees(): FarTrees | undefined {
    return this.backend.trees
  }

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    this.#dropWhatMustGo()
    // What is remembered was promised for the retention of the backend, and for no longer.
    const { retentionMs } = this.backend.properties
    const isLonger = retentionMs > 0 && (call.keepForMs ?? 0) > retentionMs
    const asked = isLonger ? digests : this.#index.absent(digests)
    if (asked.count === 0) return asked
    const asOf = this.#forgotten
    const missing = await this.backend.findMissing(asked, this.#keeping(call))
    this.#remember(asked.except(missing).digests(), asOf)
    return missing
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const asOf = this.#forgotten
    try {
      const blob = await this.backend.get(digest, range, this.#keeping(call))
      this.#remember([digest], asOf)
      return blob
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) this.#forget(digest)
      throw error
    }
  }

  /** Known blobs are found also over a backend that cannot look. */
  override async sizeOf(named: Digest, call: Call): Promise<number | undefined> {
    return this.#index.sizeOf(named) ?? this.backend.sizeOf(named, call)
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const asOf = this.#forgotten
    await this.backend.put(digest, blob, this.#keeping(call))
    this.#remember([digest], asOf)
  }

  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const asOf = this.#forgotten
    const outcomes = await this.backend.putAll(entries, this.#keeping(call))
    const kept = entries.filter((_, index) => outcomes[index] === undefined)
    this.#remember(
      kept.map(({ digest }) => digest),
      asOf,
    )
    return outcomes
  }

  override async remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    this.#forget(digest)
    await this.backend.remove(digest, why, call)
    this.#forget(digest)
  }

  /**
   * Replaces the known blobs by those that `list` finds in the backend, and those learned while it ran. Until the list
   * ends, the old knowledge stays.
   */
  async relearn(list: AsyncIterable<readonly Digest[]>, next: BlobIndex): Promise<void> {
    this.#next = next
    try {
      for await (const digests of list) for (const digest of digests) next.insert(digest, digest.sizeBytes)
      this.#index = next
    } finally {
      this.#next = undefined
    }
  }

  /** All known blobs. Digests are created one at a time. */
  *known(): Generator<Digest> {
    for (const slot of this.#index.slots()) yield this.#index.digestOf(slot)
  }

  #remember(digests: readonly Digest[], asOf: number): void {
    if (asOf !== this.#forgotten) return
    for (const digest of digests) {
      this.#index.insert(digest, digest.sizeBytes)
      this.#next?.insert(digest, digest.sizeBytes)
    }
    this.#dropWhatMustGo()
  }

  #forget(digest: Digest): void {
    this.#forgotten += 1
    for (const index of [this.#index, this.#next]) {
      if (index === undefined) continue
      const slot = index.find(digest)
      if (slot !== ABSENT) index.remove(slot)
    }
  }

  #dropWhatMustGo(): void {
    for (let slot = this.#index.victim(); slot !== ABSENT; slot = this.#index.victim()) this.#index.remove(slot)
  }
}
