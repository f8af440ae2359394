import type { Clock } from '../base/clock.js'
import { StatusError } from '../base/status-error.js'
import { cancellation, shareable } from '../rpc/call.js'

/** Stands for what has not come in time. */
export const LATE = Symbol('late')

/**
 * What comes of work, or LATE when that takes longer than `limitMs`; then the work goes on, and whoever wants it to end has
 * to see to that. Counts by `clock` where one is given, else in real time, which also keeps the process alive until then.
 */
export const within = async <T>(limitMs: number, work: Promise<T>, clock?: Clock): Promise<T | typeof LATE> => {
  let stop = (): void => {}
  const late = new Promise<typeof LATE>((resolve) => {
    const tell = (): void => resolve(LATE)
    if (clock === undefined) {
      const timer = setTimeout(tell, limitMs)
      stop = () => clearTimeout(timer)
    } else stop = clock.every(limitMs, tell)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    stop()
  }
}

/** What comes of work that goes on in any case, for one who stops waiting for it when the signal aborts. */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(cancellation(signal))
    shareable(signal)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    // Not by `finally`, which makes three promises of it for each small question to a backend.
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
 * Runs work that may take `limitMs` (0: any time) and no longer than its call lives, if there is one. Its signal aborts when either
 * has ended, and nobody waits then for work that does not heed it. `late` is what is told: DEADLINE_EXCEEDED.
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
 * The deadline of each of many steps, one after the other: what `before` does for one of them costs more than a chunk of bytes.
 * One timer serves all; it runs on between them until `stop`.
 */
export class StepDeadline {
  readonly #limitMs: number
  readonly #late: string
  #timer: NodeJS.Timeout | undefined
  #giveUp: ((error: StatusError) => void) | undefined

  /** 0 is any time; `late` is what is told: DEADLINE_EXCEEDED. */
  constructor(limitMs: number, late: string) {
    this.#limitMs = limitMs
    this.#late = late
  }

  /** What comes of a step; it goes on when it is late, and nobody waits for it. */
  step<T>(work: Promise<T>): Promise<T> {
    if (this.#limitMs === 0) return work
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#tell(), this.#limitMs)
    else this.#timer.refresh()
    return new Promise((resolve, reject) => {
      this.#giveUp = reject
      work.then(resolve, reject)
    })
  }

  /** To nobody where no step is under way: one that has come hears nothing any more. */
  #tell(): void {
    this.#giveUp?.(new StatusError('DEADLINE_EXCEEDED', `${this.#late} within ${this.#limitMs} ms`))
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
