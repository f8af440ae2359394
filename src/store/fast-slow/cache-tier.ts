import type { Call } from '../../base/call.js'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import type { WritePath } from '../../stream/path.js'
import { type Store, writeBytes } from '../store.js'
import type { Fill, Fills } from './fills.js'

/**
 * The fast tier as a cache of what slow has: what it cannot take is a word in the log, and no call fails for it. But it
 * never keeps an old result where slow has a newer one.
 */
export class CacheTier {
  readonly #fast: Store
  readonly #fills: Fills

  constructor(fast: Store, fills: Fills) {
    this.#fast = fast
    this.#fills = fills
  }

  /** A path into `tier`, fast in one of its forms; undefined when there is none to be had. */
  async open(tier: Pick<Store, 'writer'>, digest: Digest, call: Call): Promise<WritePath | undefined> {
    try {
      return await tier.writer(digest, call)
    } catch (error) {
      notCached(digest, StatusError.from(error), call)
      return undefined
    }
  }

  /** Why fast did not take a blob that slow has, if so. */
  async take(digest: Digest, bytes: Buffer, call: Call): Promise<StatusError | undefined> {
    try {
      await writeBytes(this.#fast, digest, bytes, call)
      return undefined
    } catch (error) {
      return StatusError.from(error)
    }
  }

  /** Ends a fill that went well, or failed with `error`. */
  async endFill(digest: Digest, fill: Fill, error: StatusError | undefined, call: Call): Promise<void> {
    if (error !== undefined) notCached(digest, error, call)
    try {
      if (fill.isOutdated) await this.#fast.remove(digest, call)
    } catch (failure) {
      call.log.error('the fast store keeps an outdated blob', { digest: digest.key, error: failure })
    }
    fill.end(error === undefined && !fill.isOutdated)
  }

  /**
   * After an upload: an action may get a new result, and when fast, which was asked `askedCount` times, did not take it,
   * the one it may still hold must go.
   */
  async forgetOld(digest: Digest, dropped: readonly StatusError[], askedCount: number, call: Call): Promise<void> {
    for (const error of dropped) notCached(digest, error, call)
    this.#fills.outdate(digest)
    if (dropped.length === askedCount) await this.#fast.remove(digest, call)
  }
}

/** A blob nobody wants any more is no fault of the fast store. */
const notCached = (digest: Digest, error: StatusError, call: Call): void => {
  if (!call.signal.aborted) call.log.warn('the fast store did not take a blob', { digest: digest.key, error })
}
