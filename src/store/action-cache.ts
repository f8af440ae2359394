import type { Call } from '../base/call.js'
import type { Digest } from '../reapi/digest.js'
import type { Blob } from '../stream/blob/blob.js'
import type { Range } from '../stream/path.js'
import { ForwardingStore } from './forwarding.js'
import type { BlobEntry, Outcomes, Store } from './store.js'

/**
 * A store as an action cache: what every store that serves as one is wrapped in. Its keys are digests of actions, and the
 * stores below are told that they do not describe what is kept.
 */
export const asActionCache = (store: Store): Store => new ActionCache(store)

class ActionCache extends ForwardingStore {
  override get(action: Digest, range: Range, call: Call): Promise<Blob> {
    return this.backend.get(action.asActionKey(), range, call)
  }

  override put(action: Digest, blob: Blob, call: Call): Promise<void> {
    return this.backend.put(action.asActionKey(), blob, call)
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return this.backend.putAll(
      entries.map(({ digest, blob }) => ({ digest: digest.asActionKey(), blob })),
      call,
    )
  }
}
