import type { Clock } from '../../../base/clock.js'

/** Waits that end so close together end at once. */
const STEP_MS = 20

/** Runs something at times that are too close for the regular tick. There are as many timers as steps in the longest wait. */
export class Wakes {
  readonly #clock: Clock
  readonly #run: () => void
  /** The ends of timers, by their time in steps. */
  readonly #pending = new Map<number, () => void>()

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock
    this.#run = run
  }

  at(atMs: number): void {
    const step = Math.ceil(atMs / STEP_MS)
    if (this.#pending.has(step)) return
    const inMs = Math.max(1, step * STEP_MS - this.#clock.now())
    const stop = this.#clock.every(inMs, () => {
      stop()
      this.#pending.delete(step)
      this.#run()
    })
    this.#pending.set(step, stop)
  }

  close(): void {
    for (const stop of this.#pending.values()) stop()
    this.#pending.clear()
  }
}
