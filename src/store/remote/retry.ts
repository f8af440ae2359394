import { setTimeout as sleep } from 'node:timers/promises'
import { Code, codeName, StatusError } from '../../base/status-error.js'
import { cancellation } from '../../rpc/call.js'

/** `retry` in the configuration of a store (schema/shared/retry.json): delays in seconds. */
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
  /** Monotonic milliseconds. */
  readonly now?: () => number
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Codes retried by default: the failure may be gone a moment later. */
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
 * How requests to a backend are retried: up to `max_retries` more attempts. The first waits twice `delay`, each later
 * one twice as long as the one before; `jitter` is the random share of each wait. No attempt begins later than
 * `budget_s` after the first one (0: no limit).
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

  /** The attempts of one request. Report each failure to `failed`, which waits for the next attempt or gives up. */
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
        if (failed > max_retries || isLate) throw withAttempts(error, failed)
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
  /**
   * Resolves when it is time for a retry. Rejects when there is none: with the last failure, or because the call ended.
   */
  failed(error: StatusError, signal: AbortSignal): Promise<void>
}

/** The longest timer of Node. */
const MAX_WAIT_MS = 2 ** 31 - 1

const waitReal = (ms: number, signal: AbortSignal): Promise<void> =>
  // The caller of `wait` reports an ended call.
  sleep(ms, undefined, { signal }).catch(() => {})

/** The last failure. If there were others before, the number of attempts explains the delay. */
const withAttempts = (error: StatusError, attempts: number): StatusError =>
  attempts === 1
    ? error
    : new StatusError(error.code, `${error.message} (tried ${attempts} times)`, {
        details: error.details,
        cause: error,
      })

/** Configured as `DeadlineExceeded` for DEADLINE_EXCEEDED. */
const codesOf = (names: readonly string[]): ReadonlySet<number> => {
  const wanted = new Set(names.map((name) => name.toLowerCase()))
  return new Set(Object.values(Code).filter((code) => wanted.has(codeName(code).replaceAll('_', '').toLowerCase())))
}
