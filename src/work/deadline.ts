import type { Clock } from '../base/clock.js'
import { StatusError } from '../base/status-error.js'
import { guardedTimeout } from '../base/timers.js'
import { cancellation, whenAborted } from '../rpc/call.js'

/** The result of work that did not finish in time. */
export const LATE = Symbol('late')

/**
 * The result of work, or LATE after `limitMs`. Late work continues; the caller must end it if needed. Uses `clock` if
 * given, else real time, which also keeps the process alive until then.
 */
export const within = async <T>(limitMs: number, work: Promise<T>, clock?: Clock): Promise<T | typeof LATE> => {
  let stop = (): void => {}
  const late = new Promise<typeof LATE>((resolve) => {
    const expire = (): void => resolve(LATE)
    if (clock === undefined) {
      const timer = guardedTimeout(expire, limitMs)
      stop = () => clearTimeout(timer)
    } else stop = clock.every(limitMs, expire)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    stop()
  }
}

/** The result of work, unless the signal aborts first. The work continues in any case. */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(cancellation(signal))
    if (signal.aborted) abort()
    else whenAborted(signal, abort)
    // `finally` would create three promises for each small request to a backend.
    work.then(
      (answer) => {
        signal.removeEventListener('abort', abort)
        resolve(answer)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', abort)
        reject(error)
      },
    )
  })

/**
 * Runs work with a limit of `limitMs` (0: none), and at most as long as its call. The signal of the work aborts when
 * either ends, and the caller does not wait for work that ignores it. A late result is DEADLINE_EXCEEDED with the text
 * `late`.
 */
export const before = async <T>(
  limitMs: number,
  late: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (signal?.aborted) throw cancellation(signal)
  const controller = new AbortController()
  try {
    const working = work(controller.signal)
    const asked = signal === undefined ? working : unlessAborted(working, signal)
    const answer = limitMs > 0 ? await within(limitMs, asked) : await asked
    if (answer !== LATE) return answer
    throw new StatusError('DEADLINE_EXCEEDED', `${late} within ${limitMs} ms`)
  } catch (error) {
    controller.abort(error)
    throw error
  }
}

/**
 * The deadline of many steps in sequence, because `before` costs more than processing one chunk. One timer serves all
 * steps; it runs until `stop`.
 */
export class StepDeadline {
  readonly #limitMs: number
  readonly #late: string
  #timer: NodeJS.Timeout | undefined
  #giveUp: ((error: StatusError) => void) | undefined

  /** `limitMs` 0 means none. `late` is the text of DEADLINE_EXCEEDED. */
  constructor(limitMs: number, late: string) {
    this.#limitMs = limitMs
    this.#late = late
  }

  /** The result of a step. A late step continues without a waiting caller. */
  step<T>(work: Promise<T>): Promise<T> {
    if (this.#limitMs === 0) return work
    if (this.#timer === undefined) this.#timer = guardedTimeout(() => this.#expire(), this.#limitMs)
    else this.#timer.refresh()
    return new Promise((resolve, reject) => {
      this.#giveUp = reject
      work.then(resolve, reject)
    })
  }

  /** Rejects the current step. Between steps it has no effect. */
  #expire(): void {
    this.#giveUp?.(new StatusError('DEADLINE_EXCEEDED', `${this.#late} within ${this.#limitMs} ms`))
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
