import { setMaxListeners } from 'node:events'
import { StatusError } from './status-error.js'

/** Why a call was given up: the signal's own reason when that is a status (a deadline), else CANCELLED. */
export const cancellation = (signal: AbortSignal | undefined): StatusError =>
  signal?.reason instanceof StatusError
    ? signal.reason
    : new StatusError('CANCELLED', 'the call was cancelled', { cause: signal?.reason })

/** One call runs many transfers at a time, each listening to its signal: that is no leak to be warned of. */
export const shareable = (signal: AbortSignal): void => setMaxListeners(0, signal)
