import { guardedAfterPromises, guardedImmediate } from '../base/timers.js'

/**
 * Prevents long work from blocking the event loop. Work calls `step` between its parts, and waits for a later turn once
 * all users of the slices together have run for `sliceMs`. Waiting users go on one after the other, so that a turn
 * stays short however many there are.
 */
export class TimeSlices {
  readonly #sliceMs: number
  #sinceMs = performance.now()
  #waiting: (() => void)[] = []

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** Undefined while time is left, so that continuing costs no promise. */
  step(): Promise<void> | undefined {
    if (this.#hasTime()) return undefined
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) guardedImmediate(this.#begin)
    })
  }

  #hasTime(): boolean {
    return performance.now() - this.#sinceMs < this.#sliceMs
  }

  readonly #begin = (): void => {
    this.#sinceMs = performance.now()
    this.#next()
  }

  /** Resumes the user that has waited longest; the next one when that has done its part and time is left. */
  readonly #next = (): void => {
    this.#waiting.shift()?.()
    if (this.#waiting.length === 0) return
    // Node calls back once all promises of the resumed user have settled as far as they can.
    guardedAfterPromises(() => (this.#hasTime() ? this.#next() : void guardedImmediate(this.#begin)))
  }
}
