import { StatusError } from '../../base/status-error.js'
import { cancellation } from '../../stream/join.js'

/** Further requests are refused rather than kept waiting: far behind these nobody is served in time. */
const MAX_WAITING = 10_000

interface Waiting {
  readonly start: () => void
}

/** A bound on the requests under way to one backend. More wait, in the order they came; 0 is no bound. */
export class Slots {
  readonly #limit: number
  readonly #maxWaiting: number
  readonly #waiting = new Set<Waiting>()
  #used = 0

  constructor(limit: number, maxWaiting = MAX_WAITING) {
    this.#limit = limit === 0 ? Number.POSITIVE_INFINITY : limit
    this.#maxWaiting = maxWaiting
  }

  /** How many are under way. */
  get used(): number {
    return this.#used
  }

  /**
   * Resolves with what gives the slot back, to be called once or more. CANCELLED when the call ends first,
   * RESOURCE_EXHAUSTED where too many wait already.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw cancellation(signal)
    if (this.#used < this.#limit) this.#used += 1
    else await this.#wait(signal)
    let isHeld = true
    return () => {
      if (isHeld) this.#giveBack()
      isHeld = false
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) {
      throw new StatusError('RESOURCE_EXHAUSTED', `${this.#maxWaiting} requests wait for the backend already`)
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(waiting)
        reject(cancellation(signal))
      }
      const waiting = {
        start: () => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      this.#waiting.add(waiting)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Who waits longest has the slot at once: nobody who comes later can take it in between. */
  #giveBack(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#used -= 1
      return
    }
    this.#waiting.delete(next)
    next.start()
  }
}
