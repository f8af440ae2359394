import type { Clock } from '../base/clock.js'
import { LruCache } from '../base/lru-cache.js'
import { StatusError } from '../base/status-error.js'
import type { RequestLimit } from '../config/config.js'
import { retryInfo } from '../proto/error-details.js'
import { whoFits } from './access.js'
import { ANONYMOUS, describe, type Identity } from './identity/identity.js'

/** Bound on remembered callers. A forgotten caller starts with a full bucket. */
const MAX_BUCKETS = 40_000

interface Bucket {
  tokens: number
  filledMs: number
}

/** A token bucket per caller, refilled at the rate of its limit. */
export class RequestLimits {
  readonly #limits: readonly { readonly fits: (identity: Identity) => boolean; readonly limit: RequestLimit }[]
  readonly #buckets = new LruCache<Bucket>(MAX_BUCKETS)
  readonly #clock: Clock

  constructor(limits: readonly RequestLimit[], clock: Clock) {
    this.#limits = limits.map((limit) => ({ fits: whoFits(limit), limit }))
    this.#clock = clock
  }

  /** Counts a request. RESOURCE_EXHAUSTED with RetryInfo if the bucket is empty. */
  take(identity: Identity, peer: string): void {
    if (this.#limits.length === 0 || identity.kind === 'process') return
    const at = this.#limits.findIndex(({ fits }) => fits(identity))
    const limit = this.#limits[at]?.limit
    if (limit === undefined) return
    const bucket = this.#filled(`${at} ${identity === ANONYMOUS ? addressOf(peer) : describe(identity)}`, limit)
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1
      return
    }
    const delayMs = Math.ceil(((1 - bucket.tokens) / limit.requests_per_s) * 1000)
    const who = identity === ANONYMOUS ? 'callers from your address' : identity.name
    const message = `too many requests: ${who} may make ${limit.requests_per_s} a second, and ${limit.burst} at once`
    throw new StatusError('RESOURCE_EXHAUSTED', `${message}; try again in ${delayMs} ms`, {
      details: [retryInfo(delayMs)],
    })
  }

  #filled(key: string, { requests_per_s: perS, burst }: RequestLimit): Bucket {
    const nowMs = this.#clock.now()
    const known = this.#buckets.get(key)
    if (known === undefined) {
      const bucket = { tokens: burst, filledMs: nowMs }
      this.#buckets.set(key, bucket, 1)
      return bucket
    }
    const passedMs = Math.max(0, nowMs - known.filledMs)
    known.tokens = Math.min(burst, known.tokens + (passedMs / 1000) * perS)
    known.filledMs = nowMs
    return known
  }
}

const addressOf = (peer: string): string => peer.replace(/:\d+$/, '')
