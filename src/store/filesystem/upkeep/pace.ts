import type { Clock } from '../../../base/clock.js'

const TICK_MS = 100

/** Lets work in the background take so many bytes a second and no more. */
export class Pace {
  readonly #bytesPerTick: number
  readonly #stopTimer: () => void
  #allowedBytes = 0
  #wake: (() => void) | undefined
  #isStopped = false

  constructor(bytesPerSecond: number, clock: Clock) {
    this.#bytesPerTick = (bytesPerSecond * TICK_MS) / 1000
    this.#stopTimer = clock.every(TICK_MS, () => {
      // What was not used is not saved up.
      this.#allowedBytes = Math.min(this.#allowedBytes + this.#bytesPerTick, this.#bytesPerTick)
      if (this.#allowedBytes > 0) this.#wake?.()
    })
  }

  /** Resolves once it is their turn, or after `stop`. More than a tick allows is made up for by waiting longer afterwards. */
  async take(bytes: number): Promise<void> {
    while (this.#allowedBytes <= 0 && !this.#isStopped) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#allowedBytes -= bytes
  }

  stop(): void {
    this.#stopTimer()
    this.#isStopped = true
    this.#wake?.()
  }
}
