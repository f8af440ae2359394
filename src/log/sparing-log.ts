import type { Clock } from '../base/clock.js'
import type { Log, LogFields } from './log.js'

/** The maximum number of lines in each period. */
export interface Ration {
  readonly lines: number
  readonly periodMs: number
}

interface Period {
  written: number
  unwritten: number
}

/**
 * Limits warnings that clients or outages can cause, each message by itself. In each period the first lines are written
 * at once. The rest are counted, and their number is logged when the period ends. Messages must be constants.
 */
export class SparingLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #ration: Ration
  readonly #periods = new Map<string, Period>()

  constructor(log: Log, clock: Clock, ration: Ration) {
    this.#log = log
    this.#clock = clock
    this.#ration = ration
  }

  warn(message: string, fields: LogFields): void {
    const period = this.#periods.get(message) ?? this.#begin(message)
    if (period.written === this.#ration.lines) {
      period.unwritten += 1
      return
    }
    period.written += 1
    this.#log.warn(message, fields)
  }

  #begin(message: string): Period {
    const period = { written: 0, unwritten: 0 }
    this.#periods.set(message, period)
    const stop = this.#clock.every(this.#ration.periodMs, () => {
      stop()
      this.#periods.delete(message)
      const { unwritten: count } = period
      if (count > 0) this.#log.warn(`${message}: more of these were not written`, { count })
    })
    return period
  }
}
