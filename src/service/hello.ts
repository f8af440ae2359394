import type { Clock } from '../base/clock.js'
import { StatusError } from '../base/status-error.js'

/** How long a stream that begins with a Hello may wait before it. */
export const HELLO_TIMEOUT_MS = 10_000

/** Calls `late` if the Hello of a stream does not come in time. Call the returned function when it has come, and at the end. */
export const awaitHello = (clock: Clock, late: (error: StatusError) => void): (() => void) =>
  clock.every(HELLO_TIMEOUT_MS, () =>
    late(new StatusError('DEADLINE_EXCEEDED', `no Hello within ${HELLO_TIMEOUT_MS / 1000} s`)),
  )
