import { setImmediate } from 'node:timers/promises'

const QUICK_MS = 0.1
const CAUTIOUS_CALLS = 64
const CALLS_IN_A_ROW = 64

/**
 * A call of the file system made at once as long as that is quick, for handing one to the thread pool and back takes 50 µs
 * of CPU and making a directory in memory 10. After one that took longer, the next 64 leave this thread alone; after 64
 * quick ones others have their turn.
 */
export class AtOnceWhileQuick<Arguments extends readonly unknown[]> {
  readonly #sync: (...args: Arguments) => void
  readonly #async: (...args: Arguments) => Promise<unknown>
  #cautious = 0
  #quick = 0

  constructor(sync: (...args: Arguments) => void, async: (...args: Arguments) => Promise<unknown>) {
    this.#sync = sync
    this.#async = async
  }

  /** Throws and rejects as the file system does. */
  async call(...args: Arguments): Promise<void> {
    if (this.#cautious > 0) {
      this.#cautious--
      await this.#async(...args)
      return
    }
    if (++this.#quick % CALLS_IN_A_ROW === 0) await setImmediate()
    const startMs = performance.now()
    this.#sync(...args)
    if (performance.now() - startMs > QUICK_MS) this.#cautious = CAUTIOUS_CALLS
  }
}
