import type { BlobLease } from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import { ABSENT, type BlobIndex } from '../../index/blob-index.js'

/** What leases need from the catalog. */
interface Leasable {
  readonly index: BlobIndex
  readonly eviction: { start(): void }
}

/**
 * Counts the leases of each blob. A blob that arrives while it is leased is pinned from then on. Promises (`keep`) cannot
 * carry this: the store that keeps them is another tier, and may break them; see docs/stores.md.
 */
export class Leases {
  readonly #catalog: Leasable
  readonly #counts = new Map<string, number>()

  constructor(catalog: Leasable) {
    this.#catalog = catalog
  }

  lease(digests: readonly Digest[]): BlobLease {
    const held = new Map<string, Digest>()
    const extend = (more: readonly Digest[]): Digest[] => more.filter((digest) => !this.#take(digest, held))
    const missing = extend(digests)
    const release = (): void => {
      for (const digest of held.values()) this.#release(digest)
      held.clear()
      this.#catalog.eviction.start()
    }
    return { missing, extend: async (more) => extend(more), release }
  }

  /** Protects a blob, present or to come. Needs as many releases. */
  hold(digest: Digest): void {
    this.#take(digest, new Map())
  }

  release(digest: Digest): void {
    this.#release(digest)
    this.#catalog.eviction.start()
  }

  /** Called when a blob was committed. */
  arrived(digest: Digest, slot: number): void {
    if (this.#counts.size > 0 && this.#counts.has(digest.key)) this.#catalog.index.pin(slot)
  }

  /** Returns whether the blob is present. */
  #take(digest: Digest, held: Map<string, Digest>): boolean {
    if (!held.has(digest.key)) {
      held.set(digest.key, digest)
      this.#counts.set(digest.key, (this.#counts.get(digest.key) ?? 0) + 1)
    }
    const slot = this.#catalog.index.find(digest)
    if (slot !== ABSENT) this.#catalog.index.pin(slot)
    return slot !== ABSENT
  }

  #release(digest: Digest): void {
    const count = this.#counts.get(digest.key) ?? 0
    if (count > 1) {
      this.#counts.set(digest.key, count - 1)
      return
    }
    this.#counts.delete(digest.key)
    const slot = this.#catalog.index.find(digest)
    if (slot !== ABSENT) this.#catalog.index.unpin(slot)
  }
}
