import { constants } from 'node:os'

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** npm passes SIGINT on to its child, to which the terminal has already sent it: under npm the first comes twice. */
const isUnderNpm = process.env['npm_lifecycle_event'] !== undefined

/** The first signal that asks to stop, heard from the call on. Any further one ends the process at once. */
export const firstStopSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let isEchoDue = false
    let isAsked = false
    const hear = (signal: NodeJS.Signals): void => {
      const isEcho = isEchoDue && signal === 'SIGINT'
      if (isAsked && !isEcho) endBy(signal)
      isEchoDue = !isAsked && isUnderNpm && signal === 'SIGINT'
      isAsked = true
      resolve(signal)
    }
    for (const signal of STOP_SIGNALS) process.on(signal, hear)
  })

/**
 * Ends the process as the signal does where nobody listens, behind what is to be done at its exit. `process.exit` would wait for
 * threads, one of which may hang in a system call; it is left for process 1 of a container, which signals without a listener do not end.
 */
export const endBy = (signal: NodeJS.Signals): void => {
  process.emit('exit', 128 + constants.signals[signal])
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  process.exit(128 + constants.signals[signal])
}
