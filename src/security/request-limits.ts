import type { Clock } from '../base/clock.js'
import { LruCache } from '../base/lru-cache.js'
import { StatusError } from '../base/status-error.js'
import type { RequestLimit } from '../config/config.js'
import { retryInfo } from '../proto/error-details.js'
import { RateLimiter } from '../work/rate-limiter.js'
import { whoFits } from './access.js'
import { ANONYMOUS, describe, type Identity } from './identity/identity.js'

/** Bound on remembered callers. A forgotten caller starts with a full bucket. */
const MAX_LIMITERS = 40_000

/** A token bucket per caller, refilled at the rate of its limit. */
export class RequestLimits {
  readonly #limits: readonly { readonly fits: (identity: Identity) => boolean; readonly limit: RequestLimit }[]
  readonly #limiters = new LruCache<RateLimiter>(MAX_LIMITERS)
  readonly #clock: Clock

  constructor(limits: readonly RequestLimit[], clock: Clock) {
    this.#limits = limits.map((limit) => ({ fits: whoFits(limit), limit }))
    this.#clock = clock
  }

  /** Whether the requests of a caller are counted. */
  limits(identity: Identity): boolean {
    return identity.kind !== 'process' && this.#limits.some(({ fits }) => fits(identity))
  }

  /** Counts a request. RESOURCE_EXHAUSTED with RetryInfo if the bucket is empty. */
  take(identity: Identity, peer: string): void {
    if (this.#limits.length === 0 || identity.kind === 'process') return
    const at = this.#limits.findIndex(({ fits }) => fits(identity))
    const limit = this.#limits[at]?.limit
    if (limit === undefined) return
    const limiter = this.#limiterOf(`${at} ${identity === ANONYMOUS ? addressOf(peer) : describe(identity)}`, limit)
    if (limiter.take()) return
    const delayMs = limiter.waitMs
    const who = identity === ANONYMOUS ? 'callers from your address' : identity.name
    const message = `too many requests: ${who} may make ${limit.requests_per_s} a second, and ${limit.burst} at once`
    throw new StatusError('RESOURCE_EXHAUSTED', `${message}; try again in ${delayMs} ms`, {
      details: [retryInfo(delayMs)],
    })
  }

  #limiterOf(key: string, { requests_per_s: perSecond, burst }: RequestLimit): RateLimiter {
    const known = this.#limiters.get(key)
    if (known !== undefined) return known
    const limiter = new RateLimiter({ burst, perSecond }, () => this.#clock.now())
    this.#limiters.set(key, limiter, 1)
    return limiter
  }
}

const addressOf = (peer: string): string => peer.replace(/:\d+$/, '')
