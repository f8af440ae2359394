import { constants } from 'node:os'
import { guardedInterval } from '../base/timers.js'

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * SIGHUP says that the terminal is gone if the process has one, or npm had one. Without a terminal, a person or a service
 * manager sends it, to have the configuration read again.
 */
const stopsByHangUp = (): boolean =>
  isUnderNpm || [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)

/**
 * npm passes SIGINT on to its child, which has already received it from the terminal. So under npm, the first SIGINT
 * arrives twice.
 */
const isUnderNpm = process.env['npm_lifecycle_event'] !== undefined

/** Period of the timer that observes the event loop. A turn of up to twice this time does not count as a delay. */
const TURN_MS = 250

export interface StopSignal {
  readonly signal: NodeJS.Signals
  /** The longest time ago at which the signal may have arrived. */
  agoMs(): number
}

/**
 * The first signal that asks to stop, from this call on. A second signal ends the process immediately. `reread` is called
 * for each SIGHUP of a process without a terminal until then; afterwards such a signal is ignored. Without it, SIGHUP asks to
 * stop.
 */
export const firstStopSignal = (reread?: () => void): Promise<StopSignal> =>
  new Promise((resolve) => {
    const rereadNow = stopsByHangUp() ? undefined : reread
    let isEchoDue = false
    let isAsked = false
    const turns = new LoopTurns()
    const hear = (signal: NodeJS.Signals): void => {
      if (signal === 'SIGHUP' && rereadNow !== undefined) {
        if (!isAsked) rereadNow()
        return
      }
      const isEcho = isEchoDue && signal === 'SIGINT'
      if (isAsked && !isEcho) endBy(signal)
      isEchoDue = !isAsked && isUnderNpm && signal === 'SIGINT'
      isAsked = true
      const cameMs = turns.oldestUnseen()
      turns.stop()
      resolve({ signal, agoMs: () => performance.now() - cameMs })
    }
    for (const signal of STOP_SIGNALS) process.on(signal, hear)
  })

/**
 * Estimates when an event that is handled now arrived. Node does not report when a signal arrived, and under load a
 * turn of the event loop takes seconds. The event arrived after the start of the turn before the last one, because
 * otherwise that turn would have handled it.
 */
class LoopTurns {
  #beforeMs = performance.now()
  #lastMs = this.#beforeMs
  readonly #timer = guardedInterval(() => {
    this.#beforeMs = this.#lastMs
    this.#lastMs = performance.now()
  }, TURN_MS).unref()

  oldestUnseen(): number {
    const nowMs = performance.now()
    const isPrompt = nowMs - this.#lastMs <= 2 * TURN_MS && this.#lastMs - this.#beforeMs <= 2 * TURN_MS
    return isPrompt ? nowMs : this.#beforeMs
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/**
 * Ends the process by the signal, like a process without a listener, after the work of 'exit' listeners. `process.exit`
 * would wait for threads, one of which may hang in a system call. It is called only as a fallback for process 1 of a
 * container, which signals without a listener do not end.
 */
export const endBy = (signal: NodeJS.Signals): void => {
  process.emit('exit', 128 + constants.signals[signal])
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  process.exit(128 + constants.signals[signal])
}
