import { RateLimiter } from '../../work/rate-limiter.js'
import { ConnectionError } from './frame/frame.js'
import type { ConnectionLimits } from './limits.js'

/**
 * Frames without content that one piece of useful work allows, because window updates and pings accompany data: some clients
 * update the windows of stream and connection for each message that they read.
 */
const FRAMES_EARNED = 4
/** Most of them that a client may save up. */
const MAX_EARNED_FRAMES = 1024 * 1024

/** What a client may have the server do for nothing. More of it ends the connection with ENHANCE_YOUR_CALM. */
export class Allowances {
  readonly #idleFrames: RateLimiter
  readonly #resets: RateLimiter
  /** Frames without content that were allowed by what was sent. */
  #earnedFrames = 0
  /** What had been sent when they were last counted. */
  #sentCount = 0

  constructor({ idleFrames, resets }: ConnectionLimits, now: () => number) {
    this.#idleFrames = new RateLimiter(idleFrames, now)
    this.#resets = new RateLimiter(resets, now)
  }

  /** A frame without content. `sentCount`: frames and writes that were sent on this connection so far. */
  spendFrame(sentCount: number): void {
    const earned = this.#earnedFrames + FRAMES_EARNED * (sentCount - this.#sentCount)
    this.#sentCount = sentCount
    this.#earnedFrames = Math.max(0, Math.min(MAX_EARNED_FRAMES, earned) - 1)
    if (earned === 0) spend(this.#idleFrames, 'frames without content')
  }

  spendReset(what: string): void {
    spend(this.#resets, what)
  }

  /** A request has ended as it should. */
  earn(): void {
    this.#idleFrames.earn(FRAMES_EARNED)
    this.#resets.earn(1)
  }
}

const spend = (allowance: RateLimiter, what: string): void => {
  if (!allowance.take()) throw new ConnectionError('ENHANCE_YOUR_CALM', `too many ${what}`)
}
