import { ForwardingStore } from '../../blobs/forwarding.js'
import type { Store } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import type { Call } from '../../rpc/call.js'

/**
 * Marks the keys of a store as not describing the content. Used for every store that serves as an action cache, and
 * below stores that keep blobs in a format of their own.
 */
export const asKeyed = (store: Store): Store => new KeyedStore(store)

class KeyedStore extends ForwardingStore {
  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return (await this.backend.findMissing(digests.as(KEYS), call)).as(digests)
  }

  protected override keyOf(digest: Digest): Digest {
    return digest.asKey()
  }
}

const KEYS = { areKeys: true }
