import { setImmediate } from 'node:timers/promises'

/**
 * Prevents long work from blocking the event loop. Work calls `step` between its parts, and yields once all users of
 * the slices together have run for `sliceMs`.
 */
export class TimeSlices {
  readonly #sliceMs: number
  #sinceMs = performance.now()
  #turn: Promise<void> | undefined

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** Undefined while time is left, so that continuing costs no promise. */
  step(): Promise<void> | undefined {
    if (performance.now() - this.#sinceMs < this.#sliceMs) return undefined
    this.#turn ??= this.#next()
    return this.#turn
  }

  async #next(): Promise<void> {
    await setImmediate()
    this.#sinceMs = performance.now()
    this.#turn = undefined
  }
}
