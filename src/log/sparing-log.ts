import type { Clock } from '../base/clock.js'
import type { Log, LogFields } from './log.js'

/** The maximum number of lines in each period. */
export interface Ration {
  readonly lines: number
  readonly periodMs: number
}

/**
 * Limits warnings that clients can cause. In each period the first lines are written at once. The rest are counted, and
 * their number is logged when the period ends.
 */
export class SparingLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #ration: Ration
  #written = 0
  #unwritten = 0

  constructor(log: Log, clock: Clock, ration: Ration) {
    this.#log = log
    this.#clock = clock
    this.#ration = ration
  }

  warn(message: string, fields: LogFields): void {
    if (this.#written === 0) this.#begin(message)
    if (this.#written === this.#ration.lines) {
      this.#unwritten += 1
      return
    }
    this.#written += 1
    this.#log.warn(message, fields)
  }

  #begin(message: string): void {
    const stop = this.#clock.every(this.#ration.periodMs, () => {
      stop()
      if (this.#unwritten > 0) this.#log.warn(`${message}: more of these were not written`, { count: this.#unwritten })
      this.#written = 0
      this.#unwritten = 0
    })
  }
}
