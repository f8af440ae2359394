import type { Call } from '../../base/call.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { ForwardingStore } from '../forwarding.js'
import type { Store } from '../store.js'

/**
 * A store whose keys do not describe what is kept under them, and the stores below are told so: what every store is wrapped
 * in that serves as an action cache, and what is below one that keeps blobs in a form of its own.
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
