import { constants } from 'node:os'

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** npm passes on to its child the signal that the terminal has already sent to both: for this long it counts once. */
const ECHO_MS = 1_000
const isUnderNpm = process.env['npm_lifecycle_event'] !== undefined

/** The first signal that asks to stop, heard from the call on. Any further one ends the process at once. */
export const firstStopSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let first: { readonly signal: NodeJS.Signals; readonly ms: number } | undefined
    const hear = (signal: NodeJS.Signals): void => {
      const ms = performance.now()
      const isEcho = isUnderNpm && signal === first?.signal && ms < first.ms + ECHO_MS
      if (first !== undefined && !isEcho) endBy(signal)
      first ??= { signal, ms }
      resolve(signal)
    }
    for (const signal of STOP_SIGNALS) process.on(signal, hear)
  })

/**
 * Ends the process as the signal does where nobody listens. `process.exit` would wait for threads, one of which may hang in a
 * system call; it is left for process 1 of a container, which signals without a listener do not end.
 */
export const endBy = (signal: NodeJS.Signals): void => {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  process.exit(128 + constants.signals[signal])
}
