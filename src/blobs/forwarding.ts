import type { HealthStatus } from '../base/health.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import type { Call } from '../rpc/call.js'
import type { Blob } from '../stream/blob/blob.js'
import type { Range } from '../stream/path.js'
import type { BlobEntry, BlobFiles, Outcomes, Removal, Store, StoreProperties } from './store.js'

/**
 * A store that passes every call to its backend. A subclass overrides only what it changes: `incoming` and `outgoing`
 * transform blobs, `keyOf` maps digests. Each is defined once and holds for every method.
 */
export abstract class ForwardingStore implements Store {
  protected readonly backend: Store

  constructor(backend: Store) {
    this.backend = backend
  }

  get properties(): StoreProperties {
    return this.backend.properties
  }

  get files(): BlobFiles | undefined {
    return this.backend.files
  }

  findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.backend.findMissing(digests, call)
  }

  async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.outgoing(await this.backend.get(this.keyOf(digest), range, call), digest, range, call)
  }

  lacks(digest: Digest, call: Call): boolean {
    return this.backend.lacks(this.keyOf(digest), call)
  }

  sizeOf(named: Digest, call: Call): Promise<number | undefined> {
    return this.backend.sizeOf(this.keyOf(named), call)
  }

  evictedMs(digest: Digest, call: Call): Promise<number | undefined> {
    return this.backend.evictedMs(this.keyOf(digest), call)
  }

  put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return this.backend.put(this.keyOf(digest), this.incoming(blob, digest, call), call)
  }

  putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const changed = ({ digest, blob }: BlobEntry): BlobEntry => ({
      digest: this.keyOf(digest),
      blob: this.incoming(blob, digest, call),
    })
    return this.backend.putAll(entries.map(changed), call)
  }

  remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    return this.backend.remove(this.keyOf(digest), why, call)
  }

  health(call: Call): Promise<HealthStatus> {
    return this.backend.health(call)
  }

  /** The digest under which the backend knows a blob; it has the same size. A subclass that overrides it must map `findMissing` too. */
  protected keyOf(digest: Digest): Digest {
    return digest
  }

  /** Transforms a blob before the backend receives it. */
  protected incoming(blob: Blob, _digest: Digest, _call: Call): Blob {
    return blob
  }

  /** Transforms a blob, or the part of it that `range` selects, read from the backend. */
  protected outgoing(blob: Blob, _digest: Digest, _range: Range, _call: Call): Blob {
    return blob
  }
}
