import { ForwardingStore } from '../../blobs/forwarding.js'
import { type BlobChunks, type BlobEntry, keep, type Outcomes, type Store } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { type Call, callWith } from '../../rpc/call.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { Range } from '../../stream/path.js'

/** A store as seen by an instance with a retention of its own: what it uses is kept for at least that long. */
export class RetainedStore extends ForwardingStore {
  readonly #forMs: number

  constructor(store: Store, forMs: number) {
    super(store)
    this.#forMs = forMs
  }

  get chunks(): BlobChunks | undefined {
    const { chunks } = this.backend
    return (
      chunks && {
        chunking: chunks.chunking,
        listOf: (digest, call) => chunks.listOf(digest, this.#keeping(call)),
        splice: (digest, list, call) => chunks.splice(digest, list, this.#keeping(call)),
      }
    )
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return keep(this.backend, digests, this.#forMs, call)
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.backend.get(digest, range, this.#keeping(call))
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return this.backend.put(digest, blob, this.#keeping(call))
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return this.backend.putAll(entries, this.#keeping(call))
  }

  #keeping(call: Call): Call {
    return callWith(call, { keepForMs: Math.max(this.#forMs, call.keepForMs ?? 0) })
  }
}
