import { StatusError } from '../../../base/status-error.js'
import type { Store } from '../../../blobs/store.js'
import type { ShardOptions } from '../../../config/config.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { StageContext, StoreKind } from '../../contract/kind.js'
import { leastOf } from '../../contract/promised.js'
import { type Part, PartitionedStore } from '../../partition/partitioned.js'

interface Share {
  /** Position in the list, which seeds the hash of the store. */
  readonly seed: number
  readonly weight: number
}

/**
 * Spreads blobs over stores by weighted rendezvous hashing: each store gets a score for a digest, multiplied by its
 * weight, and the highest wins. A store added at the end of the list takes its share evenly from the others, and no
 * blob moves between those. A larger weight takes from the others, a smaller one gives to them. To retire a store, set
 * its weight to 0 and keep its position, because positions seed the scores. Moved blobs are misses and are fetched or
 * built again.
 */
class ShardStore extends PartitionedStore {
  readonly #shares: readonly Share[]

  constructor(parts: readonly Part[], weights: readonly number[]) {
    super(parts)
    this.#shares = weights.map((weight, index) => ({ seed: mixed(index + 1), weight }))
  }

  protected override partOf(digest: Digest): number {
    return this.#drawn(digest.hashWord(0), digest.hashWord(1))
  }

  protected override partAt(batch: DigestBatch, index: number): number {
    return this.#drawn(batch.hashWordAt(index, 0), batch.hashWordAt(index, 1))
  }

  #drawn(upper: number, lower: number): number {
    let best = 0
    let bestScore = Number.NEGATIVE_INFINITY
    for (let part = 0; part < this.#shares.length; part++) {
      const { seed, weight } = this.#shares[part] as Share
      if (weight === 0) continue
      const score = Math.log(lot(upper, lower, seed)) / weight
      if (score > bestScore) {
        best = part
        bestScore = score
      }
    }
    return best
  }
}

/** A number between 0 and 1, exclusive, evenly distributed over digests and independent for each seed. */
const lot = (upper: number, lower: number, seed: number): number =>
  ((mixed(mixed(upper ^ seed) ^ lower) >>> 0) + 0.5) / 0x1_0000_0000

/** Every bit of the result depends on every bit of the input: the finaliser of MurmurHash3. */
const mixed = (number: number): number => {
  let hash = number
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return hash ^ (hash >>> 16)
}

const stage = async ({ stores }: ShardOptions, { child }: StageContext): Promise<Store> => {
  if (stores.every(({ weight }) => weight === 0)) {
    throw new StatusError('INVALID_ARGUMENT', 'every store has the weight 0, expected at least one above 0')
  }
  const parts: Part[] = []
  for (const [index, { store }] of stores.entries()) parts.push([String(index), await child(store, String(index))])
  return new ShardStore(
    parts,
    stores.map(({ weight }) => weight),
  )
}

export const shard: StoreKind<ShardOptions> = {
  threads: ({ stores }, below) =>
    below.stage(
      Object.fromEntries(stores.map(({ store }, index) => [String(index), below.child(store, String(index))])),
    ),
  promise: ({ stores }, below) => leastOf(stores.map(({ store }) => below.child(store))),
  build: stage,
  stage,
}
