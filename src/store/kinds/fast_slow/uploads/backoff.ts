import type { Clock } from '../../../../base/clock.js'
import type { StatusError } from '../../../../base/status-error.js'

const FIRST_MS = 1000
const MAX_MS = 30_000

/** The pause of all uploads after a failure: then one at a time until one succeeds. It doubles with each failure. */
export class Backoff {
  readonly #clock: Clock
  #waitMs = FIRST_MS
  #dueMs = 0
  #failure: StatusError | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Uploads that may be in flight now, at most `max`. */
  permits(max: number): number {
    if (this.#failure === undefined) return max
    return this.#clock.now() >= this.#dueMs ? 1 : 0
  }

  /** Why there is a pause, for operators; empty if there is none. */
  get words(): string {
    return this.#failure === undefined ? '' : `: ${this.#failure.message}`
  }

  failed(error: StatusError): void {
    const nowMs = this.#clock.now()
    // Uploads that began before the pause fail together.
    if (this.#failure === undefined || nowMs >= this.#dueMs) {
      this.#dueMs = nowMs + this.#waitMs
      this.#waitMs = Math.min(MAX_MS, 2 * this.#waitMs)
    }
    this.#failure = error
  }

  worked(): void {
    this.#failure = undefined
    this.#waitMs = FIRST_MS
  }
}
