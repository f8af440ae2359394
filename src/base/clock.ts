import { guardedInterval } from './timers.js'

/** The time is injected, so that tests of schedulers and eviction can use their own clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /**
   * Calls `tick` every `periodMs` until the returned function is called. Never keeps the process alive. A tick may
   * return a promise, which is not awaited. Its errors are logged, and the next tick runs as usual: see `guardedInterval`.
   */
  every(periodMs: number, tick: () => unknown): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  every: (periodMs, tick) => {
    const timer = guardedInterval(tick, periodMs).unref()
    return () => clearInterval(timer)
  },
}

/** A clock that tests move. `advance` runs every due tick, in order. */
export class ManualClock implements Clock {
  #nowMs: number
  readonly #timers = new Set<{ periodMs: number; dueMs: number; tick: () => unknown }>()

  constructor(startMs = 0) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  every(periodMs: number, tick: () => unknown): () => void {
    const timer = { periodMs, dueMs: this.#nowMs + periodMs, tick }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Time until the next tick; infinite when no tick is scheduled. */
  get nextInMs(): number {
    return Math.min(...[...this.#timers].map(({ dueMs }) => dueMs - this.#nowMs))
  }

  advance(byMs: number): void {
    const untilMs = this.#nowMs + byMs
    for (;;) {
      const next = [...this.#timers].filter((timer) => timer.dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0]
      if (next === undefined) break
      this.#nowMs = next.dueMs
      next.dueMs += next.periodMs
      next.tick()
    }
    this.#nowMs = untilMs
  }

  /** As while the process is held up: time passes without a tick, then each timer that is due ticks once. */
  holdUp(forMs: number): void {
    this.#nowMs += forMs
    for (const timer of [...this.#timers]) {
      if (timer.dueMs > this.#nowMs) continue
      timer.dueMs = this.#nowMs + timer.periodMs
      timer.tick()
    }
  }
}
