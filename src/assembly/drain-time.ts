import type { Clock } from '../base/clock.js'

/** Of the time that a stop may take, what is kept back to close stores and the rest once work has ended: no more than a quarter. */
const CLOSING_MS = 2000
/** The least time that a stop may take: with less, nothing could be closed. */
const LEAST_STOP_MS = 4000
/** How long a part may take to stop when nobody asked the process to: a start has failed. */
const PART_MS = 30_000

/** How long a stop may take from the signal to the end of the process. */
export const stopMs = (drainMs: number): number => Math.max(drainMs, LEAST_STOP_MS)

/** How much of that calls, actions and a start in progress get. */
export const workMs = (drainMs: number): number => drainMs - Math.min(CLOSING_MS, drainMs / 4)

/** The time that a stop may take, and the share of it for work in flight; none when a start has failed. */
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

  /** For work in flight. */
  get leftMs(): number {
    return Math.max(0, this.#workEndMs - this.#clock.now())
  }

  /** For the next part to stop: a part that hangs leaves half of the closing time to those after it. */
  get partMs(): number {
    if (!this.hasBegun) return PART_MS
    const { leftMs } = this
    return leftMs + Math.max(0, this.#endMs - this.#clock.now() - leftMs) / 2
  }
}
