import { StatusError } from '../base/status-error.js'
import { cancellation, shareable } from '../rpc/call.js'

export interface TurnLimits {
  /** 0 means no bound. */
  readonly atATime: number
  /** Bound on waiting callers; more are rejected, because they would not be served in time. Default 10,000. */
  readonly mayWait?: number
}

/** A semaphore: limits concurrent work. Waiting callers are served in order, and their number is bounded too. */
export class Turns {
  readonly #atATime: number
  readonly #mayWait: number
  readonly #waiting = new Set<() => void>()
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
   * aborts first, and with RESOURCE_EXHAUSTED when too many callers wait for `what`.
   */
  async take(what: string, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw cancellation(signal)
    if (this.#taken < this.#atATime) this.#taken += 1
    else await this.#wait(what, signal)
    let isHeld = true
    return () => {
      if (isHeld) this.#end()
      isHeld = false
    }
  }

  #wait(what: string, signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#mayWait) {
      throw new StatusError('RESOURCE_EXHAUSTED', `${this.#mayWait} wait for ${what} already: ask again later`)
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = (): void => {
        this.#waiting.delete(begin)
        reject(cancellation(signal))
      }
      shareable(signal)
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.add(begin)
    })
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
