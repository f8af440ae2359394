import { StatusError } from '../../../base/status-error.js'

/** Writers that may wait for each one that may write; past that a client had better come back later. */
const WAITING_PER_SLOT = 256

export type Waiter = (error: StatusError | null) => void

/** At most `limit` writes are under way at a time (0 is no limit); others wait in order. */
export class WriteSlots {
  readonly #limit: number
  readonly #waiting = new Set<Waiter>()
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit === 0 ? Number.POSITIVE_INFINITY : limit
  }

  /** Calls back, perhaps at once: with null when the caller may write and must `release`, else with RESOURCE_EXHAUSTED. */
  acquire(waiter: Waiter): void {
    if (this.#taken < this.#limit) {
      this.#taken++
      waiter(null)
    } else if (this.#waiting.size < this.#limit * WAITING_PER_SLOT) {
      this.#waiting.add(waiter)
    } else {
      const text = `${this.#taken} blobs are being written and ${this.#waiting.size} wait: too many writes at a time`
      waiter(new StatusError('RESOURCE_EXHAUSTED', text))
    }
  }

  /** Stops waiting; answers whether the caller was waiting. */
  cancel(waiter: Waiter): boolean {
    return this.#waiting.delete(waiter)
  }

  release(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#taken--
      return
    }
    this.#waiting.delete(next)
    next(null)
  }
}
