import type { Clock } from '../base/clock.js'
import type { Log } from '../log/log.js'

/** How often the failures of one timer are logged: some tick fifty times a second. */
const FAILURE_PERIOD_MS = 60_000

/** A clock for the parts of a process. A tick that fails is logged with the number of failures since the last such line. */
export const guardedClock = (clock: Clock, log: Log): Clock => ({
  now: clock.now.bind(clock),
  every: (periodMs, tick) => {
    let loggedMs = Number.NEGATIVE_INFINITY
    let count = 0
    const failed = (error: unknown): void => {
      count += 1
      const nowMs = clock.now()
      if (nowMs - loggedMs < FAILURE_PERIOD_MS) return
      log.error('a periodic task failed', { everyMs: periodMs, count, error })
      loggedMs = nowMs
      count = 0
    }
    return clock.every(periodMs, () => {
      try {
        const work = tick()
        if (work instanceof Promise) work.catch(failed)
      } catch (error) {
        failed(error)
      }
    })
  },
})
