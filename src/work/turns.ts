import { StatusError } from '../base/status-error.js'
import { cancellation, shareable } from '../rpc/call.js'

export interface TurnLimits {
  /** 0 means no bound. */
  readonly atATime: number
  /** Bound on waiting callers; more are rejected, because they would not be served in time. Default 10,000. */
  readonly mayWait?: number
}

/** Who waits, for example a connection, and its parent, for example the address of the connection. */
export interface Party {
  readonly parent: Party | undefined
  /** The share of the waiting places that this party may have. */
  readonly share: number
}

/** A semaphore: limits concurrent work. Waiting callers are served in order, and their number is bounded too. */
export class Turns {
  readonly #atATime: number
  readonly #mayWait: number
  readonly #waiting = new Set<() => void>()
  readonly #waitingOf = new Map<Party, number>()
  #taken = 0

  constructor({ atATime, mayWait = 10_000 }: TurnLimits) {
    this.#atATime = atATime === 0 ? Number.POSITIVE_INFINITY : atATime
    this.#mayWait = mayWait
  }

  /** Turns taken now. */
  get taken(): number {
    return this.#taken
  }

  /**
   * Resolves at the caller's turn with an idempotent function that ends it. Rejects with CANCELLED when the signal
   * aborts first, and with RESOURCE_EXHAUSTED when too many callers, or too many of this party, wait for `what`.
   */
  async take(what: string, signal: AbortSignal, party?: Party): Promise<() => void> {
    if (signal.aborted) throw cancellation(signal)
    if (this.#taken < this.#atATime) this.#taken += 1
    else await this.#wait(what, signal, party)
    let isHeld = true
    return () => {
      if (isHeld) this.#end()
      isHeld = false
    }
  }

  #wait(what: string, signal: AbortSignal, party: Party | undefined): Promise<void> {
    const count = this.#waiting.size >= this.#mayWait ? this.#mayWait : this.#boundReached(party)
    if (count !== undefined) {
      const callers = count === this.#mayWait ? `${count}` : `${count} of this client`
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
      shareable(signal)
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.add(begin)
      this.#count(party, 1)
    })
  }

  /** The bound of a party that waits as often as it may. */
  #boundReached(party: Party | undefined): number | undefined {
    for (let at = party; at !== undefined; at = at.parent) {
      const bound = Math.floor(at.share * this.#mayWait)
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

  /** Passes the turn to the longest waiting caller, so that a newer one cannot take it. */
  #end(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#taken -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
