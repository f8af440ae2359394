import { setImmediate } from 'node:timers/promises'
import { StatusError } from '../../base/status-error.js'
import type { Call } from '../../rpc/call.js'
import { before, StepDeadline } from '../../work/deadline.js'
import { Turns } from '../../work/turns.js'
import { isLostConnection } from './failure.js'
import { type OpenPart, RemoteSource } from './remote-source.js'
import { Retry, type RetryOptions, type RetryParts } from './retry.js'

export interface RequestsOptions extends RetryParts {
  /** How messages name the backend: `Redis at 10.0.0.5:6379`. No secrets. */
  readonly backend: string
  readonly retry: RetryOptions
  /** Most requests under way, reads until their last byte; 0 is no bound. */
  readonly maxConcurrent: number
  /** How long an answer may take, and each further part of one; 0 is any time. */
  readonly timeoutMs: number
  /** What the client library throws, as a status. */
  failureOf(thrown: unknown): StatusError
  /** Whether that is the end of a connection that stood; where it is left out its errno says so. */
  isLost?(thrown: unknown): boolean
}

export interface AttemptOptions {
  /** Whether to try it again at all: false once something was used up that cannot be had again. */
  readonly isRepeatable?: () => boolean
  /** In place of that of the backend. */
  readonly timeoutMs?: number
  /** An attempt that has begun goes on though its call ends: what became of it could not be told otherwise. */
  readonly outlivesCall?: boolean
}

/**
 * All requests to one backend: so many at a time, each attempt within its deadline, again where that may help, and failing
 * with a StatusError, the last one, in any case.
 */
export class Requests {
  readonly #options: RequestsOptions
  readonly #retry: Retry
  readonly #turns: Turns

  constructor(options: RequestsOptions) {
    this.#options = options
    this.#retry = new Retry(options.retry, options)
    this.#turns = new Turns({ atATime: options.maxConcurrent })
  }

  /** How many are under way. */
  get underWay(): number {
    return this.#turns.taken
  }

  /**
   * `attempt` has to end when its signal aborts; what it answers later than that is nobody's. A request that moves bytes
   * for as long as they come sets no deadline: `timeoutMs: 0`.
   */
  async run<T>(
    { signal }: Pick<Call, 'signal'>,
    attempt: (signal: AbortSignal) => Promise<T>,
    { isRepeatable = always, timeoutMs = this.#options.timeoutMs, outlivesCall = false }: AttemptOptions = {},
  ): Promise<T> {
    const attempts = this.#retry.attempts()
    for (;;) {
      const giveBack = await this.#turns.take('the backend', signal)
      try {
        const work = (inTime: AbortSignal): Promise<T> => this.#attempt(attempt, inTime, isRepeatable)
        return await before(timeoutMs, this.#late, outlivesCall ? NEVER : signal, work)
      } catch (thrown) {
        giveBack()
        const error = this.#options.failureOf(thrown)
        if (!isRepeatable()) throw error
        await attempts.failed(error, signal)
      } finally {
        giveBack()
      }
    }
  }

  /**
   * Bytes of a blob from `position` on. Rejects before there is a stream when there are none; a connection that is lost
   * later is opened again where the last byte was handed out, so that none comes twice, or fails where it is not `isResumable`. Holds a slot until it is over.
   */
  async read(
    call: Pick<Call, 'signal'>,
    position: number,
    open: OpenPart,
    { isResumable = true }: { readonly isResumable?: boolean } = {},
  ): Promise<RemoteSource> {
    const giveBack = await this.#turns.take('the backend', call.signal)
    const { timeoutMs, failureOf } = this.#options
    const source = new RemoteSource({
      position,
      open: (at, signal) => this.#attempt((same) => open(at, same), signal),
      isResumable,
      retry: this.#retry,
      failureOf: (thrown) => failureOf(thrown),
      within: (signal, work) => before(timeoutMs, this.#late, signal, work),
      deadline: new StepDeadline(timeoutMs, this.#late),
    })
    source.once('close', giveBack)
    try {
      await source.start(call.signal)
      return source
    } catch (thrown) {
      source.destroy()
      giveBack()
      throw StatusError.from(thrown)
    }
  }

  /**
   * Once more, at once, when the connection was lost before there was an answer. Connections are kept, and backends close those
   * that nobody uses for a while: of one that was just closed nobody hears before it is used.
   */
  async #attempt<T>(
    attempt: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
    isRepeatable = always,
  ): Promise<T> {
    const { isLost = isLostConnection } = this.#options
    try {
      return await attempt(signal)
    } catch (error) {
      if (signal.aborted || !isLost(error) || !isRepeatable()) throw error
      // As a rule others were closed at the same time, which is heard by then.
      await setImmediate()
      return attempt(signal)
    }
  }

  get #late(): string {
    return `${this.#options.backend} did not answer`
  }
}

const always = (): boolean => true

const NEVER = new AbortController().signal
