import { StatusError } from '../base/status-error.js'
import { cancellation, shareable } from '../rpc/call.js'

export interface TurnLimits {
  /** 0 is no bound. */
  readonly atATime: number
  /** More than these are refused: far behind them nobody is served in time. 10,000 unless given. */
  readonly mayWait?: number
}

/** At most so many at a time; the rest wait in the order they came, and of those there is a bound too. */
export class Turns {
  readonly #atATime: number
  readonly #mayWait: number
  readonly #waiting = new Set<() => void>()
  #taken = 0

  constructor({ atATime, mayWait = 10_000 }: TurnLimits) {
    this.#atATime = atATime === 0 ? Number.POSITIVE_INFINITY : atATime
    this.#mayWait = mayWait
  }

  /** How many there are now. */
  get taken(): number {
    return this.#taken
  }

  /**
   * Resolves when it is the caller's turn, with what ends that, to be called once or more. Rejects with CANCELLED when the
   * signal aborts first, and with RESOURCE_EXHAUSTED when too many wait for `what` already.
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

  /** Who waits longest goes on at once: nobody who comes later can take the turn in between. */
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
