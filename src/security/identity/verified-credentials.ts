import type { Clock } from '../../base/clock.js'
import { LruCache } from '../../base/lru-cache.js'
import type { Credential } from './credential.js'
import type { Identity } from './identity.js'

/** A credential that was checked and is right. It can be sent to a thread. */
export interface Verified {
  /** Of the credential. */
  readonly hash: string
  readonly identity: Identity
  readonly untilMs: number
}

/** Right credentials, because it takes long to check one. Bounded: the least recently used is checked again. */
export class VerifiedCredentials {
  /** Called for each that is added. */
  onAdded: ((verified: Verified) => void) | undefined
  readonly #maxCount: number
  readonly #clock: Clock
  #known: LruCache<Verified>

  constructor(maxCount: number, clock: Clock) {
    this.#maxCount = maxCount
    this.#clock = clock
    this.#known = new LruCache(maxCount)
  }

  /** Undefined if it is not known to be right. */
  identify({ hash }: Pick<Credential, 'hash'>): Identity | undefined {
    const known = this.#known.get(hash)
    return known !== undefined && known.untilMs > this.#clock.now() ? known.identity : undefined
  }

  /** Adds the result of a check that begins now, unless `clear` is called meanwhile. */
  adding(): (verified: Verified) => void {
    const known = this.#known
    return (verified) => {
      if (known !== this.#known) return
      known.set(verified.hash, verified, 1)
      this.onAdded?.(verified)
    }
  }

  /** What credentials are checked against has changed. */
  clear(): void {
    this.#known = new LruCache(this.#maxCount)
  }

  /** The least recently used first. */
  get all(): readonly Verified[] {
    return [...this.#known.values()]
  }
}
