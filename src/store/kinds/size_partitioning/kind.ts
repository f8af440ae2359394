import type { Store } from '../../../blobs/store.js'
import type { SizePartitioningOptions } from '../../../config/config.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { StageContext, StoreKind } from '../../contract/kind.js'
import { leastOf } from '../../contract/promised.js'
import { type Part, PartitionedStore } from '../../partition/partitioned.js'

/**
 * Small blobs in one store, large ones in another, for backends suited to one of them, such as a key-value store and an
 * object store. The size is that of the digest.
 */
class SizePartitioningStore extends PartitionedStore {
  readonly #upperBytes: number

  constructor(parts: readonly [lower: Part, upper: Part], upperBytes: number) {
    super(parts)
    this.#upperBytes = upperBytes
  }

  protected override partOf({ sizeBytes }: Digest): number {
    return sizeBytes < this.#upperBytes ? LOWER : UPPER
  }

  protected override partAt(batch: DigestBatch, index: number): number {
    return batch.sizeBytesAt(index) < this.#upperBytes ? LOWER : UPPER
  }
}

const LOWER = 0
const UPPER = 1

const stage = async (
  { size, lower_store, upper_store }: SizePartitioningOptions,
  { child }: StageContext,
): Promise<Store> => {
  const lower = await child(lower_store, 'lower_store')
  const upper = await child(upper_store, 'upper_store')
  return new SizePartitioningStore(
    [
      ['lower_store', lower],
      ['upper_store', upper],
    ],
    size,
  )
}

export const sizePartitioning: StoreKind<SizePartitioningOptions> = {
  threads: ({ lower_store, upper_store }, below) =>
    below.stage({
      lower_store: below.child(lower_store, 'lower_store'),
      upper_store: below.child(upper_store, 'upper_store'),
    }),
  promise: ({ lower_store, upper_store }, below) => leastOf([below.child(lower_store), below.child(upper_store)]),
  build: stage,
  stage,
}
