import type { Clock } from '../../base/clock.js'
import type { Digest } from '../../reapi/digest.js'
import { cancellation } from '../../stream/join.js'

/** How long a reader waits for another reader's fill, which its own client may have stalled. Then it goes by itself. */
export const PATIENCE_MS = 5_000

/** One blob on its way into the cache. */
export class Fill {
  /** Whether the blob was written anew meanwhile, so that what comes into the cache is outdated. */
  isOutdated = false
  /** Whether the blob is in the cache now. */
  readonly ended: Promise<boolean>
  readonly #fills: Map<string, Fill>
  readonly #key: string
  #settle: (isFilled: boolean) => void = () => {}

  constructor(fills: Map<string, Fill>, key: string) {
    this.#fills = fills
    this.#key = key
    this.ended = new Promise((resolve) => {
      this.#settle = resolve
    })
    fills.set(key, this)
  }

  end(isFilled: boolean): void {
    if (this.#fills.get(this.#key) === this) this.#fills.delete(this.#key)
    this.#settle(isFilled)
  }
}

/**
 * What one who wants a blob shall do: read the cache, which was filled meanwhile; fill it and end that fill; or fetch the
 * blob without the others, who took too long or failed.
 */
export type Turn = 'filled' | 'alone' | Fill

/**
 * Which blobs are being copied into a cache, so that those who want the same blob wait for it there instead of fetching
 * it again. Not a SingleFlight: the one who fills reads the blob while it does so.
 */
export class Fills {
  readonly #clock: Clock
  readonly #underWay = new Map<string, Fill>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Waits for a fill of that blob if there is one. When it failed (its client left) one of those who waited is next. */
  async turn(digest: Digest, signal: AbortSignal): Promise<Turn> {
    for (let round = 0; round < 2; round++) {
      const fill = this.#underWay.get(digest.key)
      if (fill === undefined) return new Fill(this.#underWay, digest.key)
      if (await this.#waitFor(fill.ended, signal)) return 'filled'
    }
    return 'alone'
  }

  /** Says that the blob was written anew: a fill under way brings the bytes of before. */
  outdate(digest: Digest): void {
    const fill = this.#underWay.get(digest.key)
    if (fill !== undefined) fill.isOutdated = true
  }

  #waitFor(fill: Promise<boolean>, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const stop = this.#clock.every(PATIENCE_MS, () => settle(false))
      const abort = (): void => {
        stop()
        reject(cancellation(signal))
      }
      const settle = (isFilled: boolean): void => {
        stop()
        signal.removeEventListener('abort', abort)
        resolve(isFilled)
      }
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
      void fill.then(settle)
    })
  }
}
