import type { Log } from '../log/log.js'
import { LATE, within } from './deadline.js'

export type Stop = () => Promise<void> | void

/** What was started, in order. `close` stops it in reverse, each part with a deadline, regardless of failures. */
export class Resources {
  readonly #stops: { readonly name: string; readonly stop: Stop }[] = []
  readonly #log: Log
  readonly #deadlineMs: () => number

  /** `deadlineMs` is how long the next part may take to stop. */
  constructor(log: Log, deadlineMs: () => number = () => 30_000) {
    this.#log = log
    this.#deadlineMs = deadlineMs
  }

  add(name: string, stop: Stop): void {
    this.#stops.push({ name, stop })
  }

  /** Idempotent. A part that fails or hangs is logged, and the others are still stopped. */
  async close(): Promise<void> {
    for (let part = this.#stops.pop(); part !== undefined; part = this.#stops.pop()) {
      const deadlineMs = this.#deadlineMs()
      try {
        const stopped = await within(deadlineMs, Promise.resolve(part.stop()))
        if (stopped === LATE) throw new Error(`not stopped after ${Math.round(deadlineMs)} ms`)
      } catch (error) {
        this.#log.error('could not stop cleanly', { part: part.name, error })
      }
    }
  }
}
