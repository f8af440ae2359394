import { setImmediate } from 'node:timers/promises'

/**
 * Keeps long work off the event loop's back: work that calls `step` between its parts lets the loop turn once it has held
 * it for `sliceMs`, all that share the slices together.
 */
export class TimeSlices {
  readonly #sliceMs: number
  #sinceMs = performance.now()
  #turn: Promise<void> | undefined

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** Undefined while there is time left, so that going on costs no promise. */
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
