import { setTimeout as sleep } from 'node:timers/promises'
import { Code, codeName, StatusError } from '../../base/status-error.js'
import { cancellation } from '../../rpc/call.js'

/** `retry` of a store, as the configuration has it (schema/shared/retry.json): delays in seconds. */
export interface RetryOptions {
  readonly max_retries: number
  readonly delay: number
  readonly jitter: number
  readonly budget_s: number
  readonly retry_on_errors?: readonly string[]
}

export interface RetryParts {
  /** 0 to 1. */
  readonly random?: () => number
  /** Milliseconds that only ever grow. */
  readonly now?: () => number
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** What is tried again unless the configuration says so: what may be otherwise a moment later. */
const TRANSIENT: ReadonlySet<number> = new Set([
  Code.UNKNOWN,
  Code.CANCELLED,
  Code.DEADLINE_EXCEEDED,
  Code.RESOURCE_EXHAUSTED,
  Code.ABORTED,
  Code.INTERNAL,
  Code.UNAVAILABLE,
  Code.DATA_LOSS,
])

/**
 * How requests to one backend are tried again. `max_retries` further attempts, the first after twice `delay`, each later
 * one after twice as long, `jitter` being the part of each wait that is random; none begins later than `budget_s` after the
 * first attempt (0: no such limit).
 */
export class Retry {
  readonly #options: RetryOptions
  readonly #retried: ReadonlySet<number>
  readonly #random: () => number
  readonly #now: () => number
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<void>

  constructor(options: RetryOptions, parts: RetryParts = {}) {
    this.#options = options
    this.#retried = options.retry_on_errors === undefined ? TRANSIENT : codesOf(options.retry_on_errors)
    this.#random = parts.random ?? Math.random
    this.#now = parts.now ?? (() => performance.now())
    this.#wait = parts.wait ?? waitReal
  }

  /** The attempts at one request: each failure is told here, which waits until it is time for the next or gives up. */
  attempts(): Attempts {
    const startedMs = this.#now()
    let failed = 0
    return {
      failed: async (error, signal) => {
        if (signal.aborted) throw cancellation(signal)
        failed += 1
        const waitMs = this.#waitMs(failed)
        const { max_retries, budget_s } = this.#options
        const isLate = budget_s > 0 && this.#now() - startedMs + waitMs > budget_s * 1000
        if (!this.#retried.has(error.code)) throw error
        if (failed > max_retries || isLate) throw told(error, failed)
        await this.#wait(waitMs, signal)
        if (signal.aborted) throw cancellation(signal)
      },
    }
  }

  #waitMs(failed: number): number {
    const { delay, jitter } = this.#options
    const spread = 1 + jitter * (this.#random() - 0.5)
    return Math.min(MAX_WAIT_MS, Math.max(0, delay * 1000 * 2 ** failed * spread))
  }
}

export interface Attempts {
  /** Resolves when it is time to try again; rejects with why nobody should: the last failure, or the end of the call. */
  failed(error: StatusError, signal: AbortSignal): Promise<void>
}

/** No wait is longer than a timer of Node can be. */
const MAX_WAIT_MS = 2 ** 31 - 1

const waitReal = (ms: number, signal: AbortSignal): Promise<void> =>
  // Whose call ended is told by who waits.
  sleep(ms, undefined, { signal }).catch(() => {})

/** The last failure is the one to tell; that there were others before says why it took so long. */
const told = (error: StatusError, attempts: number): StatusError =>
  attempts === 1
    ? error
    : new StatusError(error.code, `${error.message} (tried ${attempts} times)`, {
        details: error.details,
        cause: error,
      })

/** `DeadlineExceeded` is written for DEADLINE_EXCEEDED. */
const codesOf = (names: readonly string[]): ReadonlySet<number> => {
  const wanted = new Set(names.map((name) => name.toLowerCase()))
  return new Set(Object.values(Code).filter((code) => wanted.has(codeName(code).replaceAll('_', '').toLowerCase())))
}
