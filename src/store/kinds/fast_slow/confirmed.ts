import type { Clock } from '../../../base/clock.js'
import { LruCache } from '../../../base/lru-cache.js'
import type { Digest } from '../../../reapi/digest.js'

/** Keys that are remembered. For any other key slow is asked. */
const KEYS_MAX = 100_000

/** The keys for which slow confirmed recently that fast has the current blob. */
export class Confirmed {
  readonly #maxAgeMs: number
  readonly #clock: Clock
  readonly #confirmedMs = new LruCache<number>(KEYS_MAX)

  constructor(maxAgeMs: number, clock: Clock) {
    this.#maxAgeMs = maxAgeMs
    this.#clock = clock
  }

  /** Whether fast may serve the key without asking slow. */
  has({ key }: Digest): boolean {
    const confirmedMs = this.#confirmedMs.get(key)
    return confirmedMs !== undefined && this.#clock.now() - confirmedMs < this.#maxAgeMs
  }

  add({ key }: Digest): void {
    this.#confirmedMs.set(key, this.#clock.now(), 1)
  }

  delete({ key }: Digest): void {
    this.#confirmedMs.delete(key)
  }
}
