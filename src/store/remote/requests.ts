import { setImmediate } from 'node:timers/promises'
import { NEVER } from '../../base/cancellation.js'
import { StatusError } from '../../base/status-error.js'
import type { Call } from '../../rpc/call.js'
import { before, StepDeadline } from '../../work/deadline.js'
import { Semaphore } from '../../work/semaphore.js'
import { isLostConnection } from './failure.js'
import { type OpenPart, RemoteSource } from './remote-source.js'
import { Retry, type RetryOptions, type RetryParts } from './retry.js'

export interface RequestsOptions extends RetryParts {
  /** The name of the backend in errors: `Redis at 10.0.0.5:6379`. No secrets. */
  readonly backend: string
  readonly retry: RetryOptions
  /** Maximum concurrent requests; a read counts until its last byte. 0 means no bound. */
  readonly maxConcurrent: number
  /** Timeout for a response, and for each further part of one. 0 means none. */
  readonly timeoutMs: number
  /** Converts errors of the client library into a status. */
  failureOf(thrown: unknown): StatusError
  /** Whether the error means that an established connection was lost. By default the errno decides. */
  isLost?(thrown: unknown): boolean
}

export interface AttemptOptions {
  /** Whether a retry is possible: false once the source of the request was consumed. */
  readonly isRepeatable?: () => boolean
  /** Replaces the timeout of the backend. */
  readonly timeoutMs?: number
  /** The attempt continues after its call has ended, because its outcome would otherwise be unknown. */
  readonly outlivesCall?: boolean
}

/**
 * All requests to one backend: with bounded concurrency, a deadline per attempt, and retries. A failed request rejects
 * with a StatusError, that of the last attempt.
 */
export class Requests {
  readonly #options: RequestsOptions
  readonly #retry: Retry
  readonly #slots: Semaphore

  constructor(options: RequestsOptions) {
    this.#options = options
    this.#retry = new Retry(options.retry, options)
    this.#slots = new Semaphore({ permits: options.maxConcurrent })
  }

  /** Requests in flight. */
  get underWay(): number {
    return this.#slots.acquired
  }

  /**
   * Runs `attempt`, which must end when its signal aborts; a later result is ignored. Requests that transfer bytes set
   * no deadline: `timeoutMs: 0`.
   */
  async run<T>(
    { signal }: Pick<Call, 'signal'>,
    attempt: (signal: AbortSignal) => Promise<T>,
    { isRepeatable = always, timeoutMs = this.#options.timeoutMs, outlivesCall = false }: AttemptOptions = {},
  ): Promise<T> {
    const attempts = this.#retry.attempts()
    for (;;) {
      const giveBack = await this.#slots.acquire('the backend', signal)
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
   * Reads a blob from `position` on. Rejects before it returns a stream when there are no bytes. After a lost
   * connection it continues at the last byte, so no byte comes twice; if not `isResumable`, it fails instead. Holds a
   * slot until the stream ends.
   */
  async read(
    call: Pick<Call, 'signal'>,
    position: number,
    open: OpenPart,
    { isResumable = true }: { readonly isResumable?: boolean } = {},
  ): Promise<RemoteSource> {
    const giveBack = await this.#slots.acquire('the backend', call.signal)
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
   * Tries once more, at once, if the connection was lost before the response. Backends close kept connections that are
   * idle, which is often noticed only at the next use.
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
      // Other idle connections were often closed at the same time; by the next turn this has been noticed.
      await setImmediate()
      return attempt(signal)
    }
  }

  get #late(): string {
    return `${this.#options.backend} did not answer`
  }
}

const always = (): boolean => true
