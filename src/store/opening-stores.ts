import type { Clock } from '../base/clock.js'
import type { StoreConfig } from '../config/config.js'
import type { Log } from '../log/log.js'

/** How long a store may take to open before a warning; the next ones come after three times as long each. */
const OPENING_MS = 10_000

/** Warns of stores that do not open, such as one on a network disk that does not answer. */
export class OpeningStores {
  readonly #clock: Clock
  readonly #log: Log
  /** The stores that are opening now, by path, with what each does if it has said. */
  readonly #opening = new Map<string, string | undefined>()

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock
    this.#log = log
  }

  /** Notes what a store that opens does from now on. */
  step(path: string, doing: string): void {
    if (this.#opening.has(path)) this.#opening.set(path, doing)
  }

  /** Resolves like `work`, which opens the store. */
  async watch<T>({ kind }: Pick<StoreConfig, 'kind'>, path: string, work: () => Promise<T>): Promise<T> {
    const beganMs = this.#clock.now()
    let warnAfterMs = OPENING_MS
    this.#opening.set(path, undefined)
    const stop = this.#clock.every(OPENING_MS, () => {
      const tookMs = this.#clock.now() - beganMs
      // A store waits for those nested in it, and a reference for the store it names.
      const waits = kind === 'ref_store' || [...this.#opening.keys()].some((other) => other.startsWith(`${path}/`))
      if (waits || tookMs < warnAfterMs) return
      warnAfterMs *= 3
      const seconds = Math.round(tookMs / 1000)
      const step = this.#opening.get(path)
      this.#log.warn('a store is still opening; calls are refused until it is open', {
        ...{ store: path, kind, seconds },
        ...(step !== undefined && { step }),
      })
    })
    try {
      return await work()
    } finally {
      stop()
      this.#opening.delete(path)
    }
  }
}
