/** Time is passed in, so that schedulers and eviction can be tested with a clock of their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `tick` every `periodMs` until the returned function is called. Never keeps the process alive. */
  every(periodMs: number, tick: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  every: (periodMs, tick) => {
    const timer = setInterval(tick, periodMs).unref()
    return () => clearInterval(timer)
  },
}

/** A clock that moves when told to. `advance` runs every tick that falls due, in order. */
export class ManualClock implements Clock {
  #nowMs: number
  readonly #timers = new Set<{ periodMs: number; dueMs: number; tick: () => void }>()

  constructor(startMs = 0) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  every(periodMs: number, tick: () => void): () => void {
    const timer = { periodMs, dueMs: this.#nowMs + periodMs, tick }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** How long until the next tick falls due; infinite when nobody waits for one. */
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
}
