import { setMaxListeners } from 'node:events'
import { StatusError } from './status-error.js'

/** The error of a cancelled call: the signal's own reason if that is a status (a deadline), else CANCELLED. */
export const cancellation = (signal: AbortSignal | undefined): StatusError =>
  signal?.reason instanceof StatusError
    ? signal.reason
    : new StatusError('CANCELLED', 'the call was cancelled', { cause: signal?.reason })

/** Allows many listeners: one call runs many transfers, which all listen to its signal. */
export const shareable = (signal: AbortSignal): void => setMaxListeners(0, signal)

/** For work that nobody ends. One for all, because making one takes 2 us: who listens to it must stop listening. */
export const NEVER = new AbortController().signal
shareable(NEVER)

/** Calls `listener` when the signal aborts. Any number may listen; `removeEventListener('abort', listener)` ends it. */
export const whenAborted = (signal: AbortSignal, listener: () => void): void => {
  shareable(signal)
  // biome-ignore lint/plugin: the one place
  signal.addEventListener('abort', listener, { once: true })
}
