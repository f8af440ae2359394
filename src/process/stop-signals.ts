import { constants } from 'node:os'

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** npm passes SIGINT on to its child, to which the terminal has already sent it: under npm the first comes twice. */
const isUnderNpm = process.env['npm_lifecycle_event'] !== undefined

/** How often the event loop notes that it turns. A turn of up to twice that is no delay. */
const TURN_MS = 250

export interface StopSignal {
  readonly signal: NodeJS.Signals
  /** How long ago the signal may have come. */
  agoMs(): number
}

/** The first signal that asks to stop, heard from the call on. Any further one ends the process at once. */
export const firstStopSignal = (): Promise<StopSignal> =>
  new Promise((resolve) => {
    let isEchoDue = false
    let isAsked = false
    const turns = new LoopTurns()
    const hear = (signal: NodeJS.Signals): void => {
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
 * When an event that is handled now may have come. Node does not say when a signal came, and under many clients a turn of the
 * event loop takes seconds. The event came after the turn before the last one began: that turn would else have handled it.
 */
class LoopTurns {
  #beforeMs = performance.now()
  #lastMs = this.#beforeMs
  readonly #timer = setInterval(() => {
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
 * Ends the process as the signal does where nobody listens, behind what is to be done at its exit. `process.exit` would wait for
 * threads, one of which may hang in a system call; it is left for process 1 of a container, which signals without a listener do not end.
 */
export const endBy = (signal: NodeJS.Signals): void => {
  process.emit('exit', 128 + constants.signals[signal])
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  process.exit(128 + constants.signals[signal])
}
