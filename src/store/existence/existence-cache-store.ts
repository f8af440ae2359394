import type { Call } from '../../base/call.js'
import { isStatus } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { Range } from '../../stream/path.js'
import { ForwardingStore } from '../forwarding.js'
import { ABSENT, type BlobIndex } from '../index/blob-index.js'
import type { BlobEntry, Outcomes, Removal, Store, StoreProperties } from '../store.js'

/**
 * Remembers which blobs its backend has, so that it is asked for the others only. It is told by the backend alone: by what
 * that says is there, gives or has taken. A miss and a removal are forgotten at once; of what else deletes blobs there
 * (its own eviction, another process) it hears when the time is over for which it believes an answer. Uploads of blobs
 * that are known go to the backend all the same: they heal what was lost there.
 */
export class ExistenceCacheStore extends ForwardingStore {
  /** In the order of what the backend last said, which looking does not change: it says how old the answers are. */
  #index: BlobIndex
  /** What a list under way has found so far. */
  #next: BlobIndex | undefined
  /** How many removals and misses there were: an answer that was asked for before one of them may be out of date. */
  #forgotten = 0

  constructor(backend: Store, index: BlobIndex) {
    super(backend)
    this.#index = index
  }

  /** The backend does not hear of blobs that are known here, so asking for one keeps it from nothing there. */
  override get properties(): StoreProperties {
    return { ...this.backend.properties, extendsLifetimes: false }
  }

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    this.#dropWhatMustGo()
    const asked = this.#index.absent(digests)
    if (asked.count === 0) return asked
    const asOf = this.#forgotten
    const missing = await this.backend.findMissing(asked, call)
    this.#remember(asked.except(missing).digests(), asOf)
    return missing
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const asOf = this.#forgotten
    try {
      const blob = await this.backend.get(digest, range, call)
      this.#remember([digest], asOf)
      return blob
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) this.#forget(digest)
      throw error
    }
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const asOf = this.#forgotten
    await this.backend.put(digest, blob, call)
    this.#remember([digest], asOf)
  }

  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const asOf = this.#forgotten
    const outcomes = await this.backend.putAll(entries, call)
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
   * Takes what `list` finds in the backend for all there is, and beside that what was heard of while it was listed. Until the end
   * of the list everything stays as it was.
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

  /** What is remembered now, without an object for what is not looked at. */
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
