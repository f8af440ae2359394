import type { Clock } from '../../../../base/clock.js'

const TICK_MS = 100

/** Limits background work to a number of bytes per second. */
export class Pace {
  readonly #bytesPerTick: number
  readonly #stopTimer: () => void
  #allowedBytes = 0
  #wake: (() => void) | undefined
  #isStopped = false

  constructor(bytesPerSecond: number, clock: Clock) {
    this.#bytesPerTick = (bytesPerSecond * TICK_MS) / 1000
    this.#stopTimer = clock.every(TICK_MS, () => {
      // Unused allowance is not saved up.
      this.#allowedBytes = Math.min(this.#allowedBytes + this.#bytesPerTick, this.#bytesPerTick)
      if (this.#allowedBytes > 0) this.#wake?.()
    })
  }

  /**
   * Resolves when these bytes are allowed, or after `stop`. A request beyond one tick's allowance delays the next one.
   */
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
