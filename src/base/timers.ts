/**
 * Timers of a process that serves, and work for the end of a turn. Node ends the process if such a callback throws or its
 * promise rejects without a handler, although no call failed. Here the failure is given to the process, which logs it, and
 * the timer goes on. A lint rule keeps Node's own functions out of other files.
 */

/** How often the failures of one timer are reported: some tick fifty times a second. */
const REPORT_PERIOD_MS = 60_000

export interface TimerFailure {
  readonly error: unknown
  /** Undefined for work at the end of a turn. */
  readonly periodMs: number | undefined
  /** Failures since the last report. */
  readonly count: number
}

let report: ((failure: TimerFailure) => void) | undefined
let reportPeriodMs = REPORT_PERIOD_MS

/** Set by a program that serves. Without it, as in a short command or a test, a failure ends the process. */
export const reportTimerFailures = (
  to: ((failure: TimerFailure) => void) | undefined,
  periodMs = REPORT_PERIOD_MS,
): void => {
  report = to
  reportPeriodMs = periodMs
}

/** Reports the first failure, and after a period the next one with the number of those before it. */
class Reports {
  #reportedMs = Number.NEGATIVE_INFINITY
  #count = 0

  add(error: unknown, periodMs?: number): void {
    if (report === undefined) throw error
    this.#count += 1
    const nowMs = performance.now()
    if (nowMs - this.#reportedMs < reportPeriodMs) return
    this.#reportedMs = nowMs
    report({ error, periodMs, count: this.#count })
    this.#count = 0
  }
}

/** Timers that run once share their reports, because each is an object of its own. */
const once = new Reports()
/** The same for work at the end of a turn. */
const turns = new Reports()

class Guarded {
  constructor(
    readonly work: () => unknown,
    readonly periodMs: number | undefined,
    readonly reports: Reports,
  ) {}
}

const run = ({ work, periodMs, reports }: Guarded): void => {
  try {
    const running = work()
    if (running instanceof Promise) running.catch((error: unknown) => reports.add(error, periodMs))
  } catch (error) {
    reports.add(error, periodMs)
  }
}

/** Without an object of its own, because some connections do this in every turn. */
const runOnce = (work: () => void): void => {
  try {
    work()
  } catch (error) {
    turns.add(error)
  }
}

/** The longest delay that Node's timers keep: a longer one would end after 1 ms. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** Node takes a delay that is not a number as 1 ms: a timer that spins, or a limit that ends everything. */
const delayOf = (ms: number): number => {
  if (Number.isNaN(ms)) throw new RangeError('the delay of a timer is NaN, expected milliseconds')
  return Math.min(ms, MAX_DELAY_MS)
}

/** Like `setTimeout`. A delay of more than 24 days ends after 24 days. */
export const guardedTimeout = (work: () => unknown, delayMs: number): NodeJS.Timeout =>
  // biome-ignore lint/plugin: the guarded one is this one
  setTimeout(run, delayOf(delayMs), new Guarded(work, delayMs, once))

/** Like `setInterval`. */
export const guardedInterval = (tick: () => unknown, periodMs: number): NodeJS.Timeout =>
  // biome-ignore lint/plugin: the guarded one is this one
  setInterval(run, delayOf(periodMs), new Guarded(tick, periodMs, new Reports()))

/** Like `setImmediate`. */
export const guardedImmediate = (work: () => void): NodeJS.Immediate =>
  // biome-ignore lint/plugin: the guarded one is this one
  setImmediate(runOnce, work)

/** Calls `work` in this turn, once all promises have settled as far as they can. */
export const guardedAfterPromises = (work: () => void): void => {
  // biome-ignore lint/plugin: it cannot throw
  queueMicrotask(() => process.nextTick(runOnce, work))
}
