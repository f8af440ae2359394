import type { Clock } from '../base/clock.js'

/** Time reserved at the end of a stop to close stores and other parts, at most a quarter of the whole. */
const CLOSING_MS = 2000
/** Minimum time of a stop, so that all parts can be closed. */
const LEAST_STOP_MS = 4000
/** Time for a part to stop after a failed start, when the process was not asked to stop. */
const PART_MS = 30_000

/** Maximum time from the signal to the end of the process. */
export const stopMs = (drainMs: number): number => Math.max(drainMs, LEAST_STOP_MS)

/** The share of `drainMs` for calls, actions and a start in progress. */
export const workMs = (drainMs: number): number => drainMs - Math.min(CLOSING_MS, drainMs / 4)

/**
 * The time limits of a stop: for the whole, and for work in flight. Without `begin`, after a failed start, there is no
 * time for work, and each part gets PART_MS.
 */
export class DrainTime {
  readonly #drainMs: number
  readonly #clock: Clock
  #workEndMs = Number.NEGATIVE_INFINITY
  #endMs = Number.NEGATIVE_INFINITY

  constructor(drainMs: number, clock: Clock) {
    this.#drainMs = drainMs
    this.#clock = clock
  }

  /** The process was asked to stop `agoMs` ago. */
  begin(agoMs: number): void {
    const askedMs = this.#clock.now() - agoMs
    this.#workEndMs = askedMs + workMs(this.#drainMs)
    this.#endMs = askedMs + stopMs(this.#drainMs)
  }

  get hasBegun(): boolean {
    return Number.isFinite(this.#endMs)
  }

  /** Time left for work in flight. */
  get leftMs(): number {
    return Math.max(0, this.#workEndMs - this.#clock.now())
  }

  /** Time limit for the next part to stop. A part that hangs leaves half of the closing time for the others. */
  get partMs(): number {
    if (!this.hasBegun) return PART_MS
    const { leftMs } = this
    return leftMs + Math.max(0, this.#endMs - this.#clock.now() - leftMs) / 2
  }
}
