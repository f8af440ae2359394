import { reportTimerFailures } from '../base/timers.js'
import type { Log } from '../log/log.js'
import { traceOf } from './crash.js'

/** How often rejections that nobody handles are logged. */
const REPORT_PERIOD_MS = 60_000

/**
 * For a process or thread that serves: failures outside a call are logged as errors and do not end it. An error that is
 * thrown outside timers still ends the process, because it may leave half-changed state behind.
 */
export const surviveFailures = (log: Log): void => {
  reportTimerFailures(({ error, periodMs, count }) =>
    periodMs === undefined
      ? log.error('a task at the end of a turn failed', { count, error: traceOf(error) })
      : log.error('a periodic task failed', { everyMs: periodMs, count, error: traceOf(error) }),
  )
  let reportedMs = Number.NEGATIVE_INFINITY
  let count = 0
  process.on('unhandledRejection', (error) => {
    count += 1
    const nowMs = performance.now()
    if (nowMs - reportedMs < REPORT_PERIOD_MS) return
    reportedMs = nowMs
    log.error('a task that no call waits for failed', { count, error: traceOf(error) })
    count = 0
  })
}
