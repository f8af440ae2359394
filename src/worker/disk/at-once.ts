const QUICK_MS = 0.1
const CAUTIOUS_CALLS = 64

/**
 * A call of the file system made at once as long as that is quick, for handing one to the thread pool and back takes 50 µs
 * of CPU and making a directory in memory 10. After one that took longer, the next 64 leave this thread alone.
 */
export class AtOnceWhileQuick {
  readonly #sync: (path: string) => void
  readonly #async: (path: string) => Promise<unknown>
  #cautious = 0

  constructor(sync: (path: string) => void, async: (path: string) => Promise<unknown>) {
    this.#sync = sync
    this.#async = async
  }

  /** Throws and rejects as the file system does. */
  async call(path: string): Promise<void> {
    if (this.#cautious > 0) {
      this.#cautious--
      await this.#async(path)
      return
    }
    const startMs = performance.now()
    this.#sync(path)
    if (performance.now() - startMs > QUICK_MS) this.#cautious = CAUTIOUS_CALLS
  }
}
