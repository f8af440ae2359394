import type { Call } from '../base/call.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import type { Blob } from '../stream/blob/blob.js'
import type { Range } from '../stream/path.js'
import { ForwardingStore } from './forwarding.js'
import type { BlobEntry, Outcomes, Store } from './store.js'

/**
 * A store whose keys do not describe what is kept under them, and the stores below are told so: what every store is wrapped
 * in that serves as an action cache, and what is below one that keeps blobs in a form of its own.
 */
export const asKeyed = (store: Store): Store => new KeyedStore(store)

class KeyedStore extends ForwardingStore {
  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return (await this.backend.findMissing(digests.as(KEYS), call)).as(digests)
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.backend.get(digest.asKey(), range, call)
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return this.backend.put(digest.asKey(), blob, call)
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return this.backend.putAll(
      entries.map(({ digest, blob }) => ({ digest: digest.asKey(), blob })),
      call,
    )
  }
}

const KEYS = { areKeys: true }
