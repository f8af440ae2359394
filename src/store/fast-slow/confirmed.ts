import type { Clock } from '../../base/clock.js'
import { LruCache } from '../../base/lru-cache.js'
import type { Digest } from '../../reapi/digest.js'

/** Keys that are remembered; of any other one slow is asked. */
const KEYS_MAX = 100_000

/** For which keys slow said lately that fast has what it has. */
export class Confirmed {
  readonly #maxAgeMs: number
  readonly #clock: Clock
  readonly #confirmedMs = new LruCache<number>(KEYS_MAX)

  constructor(maxAgeMs: number, clock: Clock) {
    this.#maxAgeMs = maxAgeMs
    this.#clock = clock
  }

  /** Whether fast may be read without asking slow. */
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
