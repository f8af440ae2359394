import { isStatus, type StatusError } from '../../../base/status-error.js'
import { ForwardingStore } from '../../../blobs/forwarding.js'
import { type BlobEntry, type FarTrees, type Outcomes, outcomeOf, type Store } from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import type { Range } from '../../../stream/path.js'
import { isOutage, type SlowWatch } from './slow-watch.js'

/**
 * The slow tier under a watch. While it does not work, lookups and reads reject with an error for which `isAway` holds,
 * without a delay. Uploads are tried in any case.
 */
export class WatchedSlow extends ForwardingStore {
  readonly #watch: SlowWatch

  constructor(slow: Store, watch: SlowWatch) {
    super(slow)
    this.#watch = watch
  }

  get trees(): FarTrees | undefined {
    const { trees } = this.backend
    return trees && { read: (root, take, call) => this.#readTree(trees, root, take, call) }
  }

  /** That a server has no GetTree is an answer, no outage. */
  async #readTree(trees: FarTrees, ...[root, take, call]: Parameters<FarTrees['read']>): Promise<void> {
    const read = async (): Promise<StatusError | undefined> => {
      const failure = await outcomeOf(trees.read(root, take, call))
      if (failure !== undefined && !isStatus(failure, 'UNIMPLEMENTED')) throw failure
      return failure
    }
    const failure = await this.#watch.ask(call, read)
    if (failure !== undefined) throw failure
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.#watch.ask(call, () => this.backend.findMissing(digests, call))
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.#watch.ask(
      call,
      () => this.backend.get(digest, range, call),
      (blob) => blob.discard(),
    )
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const failure = await outcomeOf(this.backend.put(digest, blob, call))
    if (failure === undefined) return
    if (isOutage(failure) && !call.signal.aborted) this.#watch.failed(failure)
    throw failure
  }

  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const outcomes = await this.backend.putAll(entries, call)
    const failure = outcomes.find((outcome) => outcome !== undefined && isOutage(outcome))
    if (failure !== undefined && !call.signal.aborted) this.#watch.failed(failure)
    return outcomes
  }
}
