import { StatusError } from '../base/status-error.js'
import { cancellation, whenAborted } from '../rpc/call.js'

export interface SemaphoreLimits {
  /** Concurrent holders; 0 means no bound. */
  readonly permits: number
  /** Bound on waiting callers; more are rejected, because they would not be served in time. Default 10,000. */
  readonly maxWaiting?: number
}

/** The owner of waiting calls, for example a connection, and its parent, for example the address of the connection. */
export interface Party {
  readonly parent: Party | undefined
  /** The share of `maxWaiting` that this party may use. */
  readonly share: number
}

/** A semaphore: limits concurrent work. Waiting callers are served in order, and their number is bounded too. */
export class Semaphore {
  readonly #permits: number
  readonly #maxWaiting: number
  readonly #waiting = new Set<() => void>()
  readonly #waitingOf = new Map<Party, number>()
  #acquired = 0

  constructor({ permits, maxWaiting = 10_000 }: SemaphoreLimits) {
    this.#permits = permits === 0 ? Number.POSITIVE_INFINITY : permits
    this.#maxWaiting = maxWaiting
  }

  /** Permits in use. */
  get acquired(): number {
    return this.#acquired
  }

  /**
   * Resolves once a permit is free, with an idempotent function that releases it. Rejects with CANCELLED when the signal
   * aborts first, and with RESOURCE_EXHAUSTED when too many callers, or too many of this party, wait for `what`.
   */
  async acquire(what: string, signal: AbortSignal, party?: Party): Promise<() => void> {
    if (signal.aborted) throw cancellation(signal)
    if (this.#acquired < this.#permits) this.#acquired += 1
    else await this.#wait(what, signal, party)
    return this.#release()
  }

  /** `acquire` of a permit that is free now; undefined if none is. */
  tryAcquire(): (() => void) | undefined {
    if (this.#acquired >= this.#permits) return undefined
    this.#acquired += 1
    return this.#release()
  }

  #release(): () => void {
    let isHeld = true
    return () => {
      if (isHeld) this.#end()
      isHeld = false
    }
  }

  #wait(what: string, signal: AbortSignal, party: Party | undefined): Promise<void> {
    const count = this.#waiting.size >= this.#maxWaiting ? this.#maxWaiting : this.#boundReached(party)
    if (count !== undefined) {
      const callers = count === this.#maxWaiting ? `${count}` : `${count} of this client`
      throw new StatusError('RESOURCE_EXHAUSTED', `${callers} wait for ${what} already: ask again later`)
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp)
        this.#count(party, -1)
        resolve()
      }
      const giveUp = (): void => {
        this.#waiting.delete(begin)
        this.#count(party, -1)
        reject(cancellation(signal))
      }
      whenAborted(signal, giveUp)
      this.#waiting.add(begin)
      this.#count(party, 1)
    })
  }

  /** The bound of a party that waits as often as it may. */
  #boundReached(party: Party | undefined): number | undefined {
    for (let at = party; at !== undefined; at = at.parent) {
      const bound = Math.floor(at.share * this.#maxWaiting)
      if ((this.#waitingOf.get(at) ?? 0) >= bound) return bound
    }
    return undefined
  }

  #count(party: Party | undefined, by: number): void {
    for (let at = party; at !== undefined; at = at.parent) {
      const count = (this.#waitingOf.get(at) ?? 0) + by
      if (count === 0) this.#waitingOf.delete(at)
      else this.#waitingOf.set(at, count)
    }
  }

  /** Passes the permit to the longest waiting caller, so that a newer one cannot take it. */
  #end(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#acquired -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
