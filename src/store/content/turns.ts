import { StatusError } from '../../base/status-error.js'
import { cancellation } from '../../stream/join.js'

/** At most so many at a time; the rest wait in the order they came, and of those there is a bound too. */
export class Turns {
  readonly #atATime: number
  readonly #mayWait: number
  readonly #waiting = new Set<() => void>()
  #taken = 0

  constructor({ atATime, mayWait }: { readonly atATime: number; readonly mayWait: number }) {
    this.#atATime = atATime
    this.#mayWait = mayWait
  }

  /**
   * Resolves when it is the caller's turn, which lasts until `release`. Rejects with CANCELLED when the signal aborts
   * first, and with RESOURCE_EXHAUSTED when too many wait for `what` already.
   */
  async take(what: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw cancellation(signal)
    if (this.#taken < this.#atATime) {
      this.#taken += 1
      return
    }
    if (this.#waiting.size >= this.#mayWait) {
      throw new StatusError('RESOURCE_EXHAUSTED', `${this.#mayWait} wait for ${what} already: ask again later`)
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = (): void => {
        this.#waiting.delete(begin)
        reject(cancellation(signal))
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.add(begin)
    })
  }

  release(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#taken -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
