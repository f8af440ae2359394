import { StatusError } from '../../base/status-error.js'
import type { ShardOptions } from '../../config/config.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import type { StoreKind } from '../kind.js'
import { type Part, PartitionedStore } from '../partitioned.js'

interface Share {
  /** Where in the list the store stands, and so which numbers its lots are made of. */
  readonly seed: number
  readonly weight: number
}

/**
 * Spreads blobs over stores by weighted rendezvous hashing: every store draws a lot for a digest, and the best lot, weighed,
 * gets it. So a store that is added at the end of the list takes its share evenly from the others, and nothing moves between
 * those; a weight that grows takes from the others too, and one that shrinks gives to them. A store that is to go gets
 * the weight 0 and keeps its place, as the lots go by that. What moved is a miss, and is fetched or built again.
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

/** A number above 0 and below 1, evenly spread over digests, and of its own for each seed. */
const lot = (upper: number, lower: number, seed: number): number =>
  ((mixed(mixed(upper ^ seed) ^ lower) >>> 0) + 0.5) / 0x1_0000_0000

/** Every bit of the answer depends on every bit of the number: the finaliser of MurmurHash3. */
const mixed = (number: number): number => {
  let hash = number
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return hash ^ (hash >>> 16)
}

export const shard: StoreKind<ShardOptions> = {
  build: async ({ stores }, context) => {
    if (stores.every(({ weight }) => weight === 0)) {
      throw new StatusError('INVALID_ARGUMENT', 'every store has the weight 0, expected one at least that may be used')
    }
    const parts: Part[] = []
    for (const [index, { store }] of stores.entries()) {
      parts.push([String(index), await context.child(store, String(index))])
    }
    return new ShardStore(
      parts,
      stores.map(({ weight }) => weight),
    )
  },
}
