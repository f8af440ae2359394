import type { Clock } from '../../../base/clock.js'
import { Code, StatusError } from '../../../base/status-error.js'
import type { Store } from '../../../blobs/store.js'
import type { Log } from '../../../log/log.js'
import { type Call, internalCall, whenAborted } from '../../../rpc/call.js'
import { LATE, within } from '../../../work/deadline.js'
import { inBackground } from '../../../work/in-background.js'

/** Answers about the request or the blob. Any other failure means that slow does not work now. */
const ANSWERS: ReadonlySet<number> = new Set([
  Code.CANCELLED,
  Code.INVALID_ARGUMENT,
  Code.NOT_FOUND,
  Code.OUT_OF_RANGE,
  Code.DATA_LOSS,
])

/** Requests that wait for longer than this without any answer from slow make the watch probe it. */
const STALL_MS = 5000
const PROBE_TIMEOUT_MS = 5000
/** Time from one probe to the next while slow is away. It doubles up to the second. */
const PROBE_AGAIN_MS = 1000
const PROBE_AGAIN_MAX_MS = 8000
const TICK_MS = 1000
const LINE_MS = 60_000

const away = new WeakSet<StatusError>()

/** Whether an error says that slow is away, so that fast answers alone. */
export const isAway = (thrown: unknown): thrown is StatusError => thrown instanceof StatusError && away.has(thrown)

/** Whether a failure of slow can be gone later, so that it says nothing about the request. */
export const isOutage = (error: StatusError): boolean => !ANSWERS.has(error.code)

export interface SlowWatchParts {
  readonly slow: Store
  readonly clock: Clock
  readonly log: Log
  /** The name of the store in the log. */
  readonly path: string
  /** More fields of a line about the outage. */
  readonly fields?: () => Readonly<Record<string, unknown>>
}

/**
 * Whether the slow tier works. Slow is away once a request failed, or all requests stalled, and a probe failed too.
 * From then on no call asks slow until a probe succeeds, and calls that wait for slow stop waiting. An outage is one
 * log line a minute, whatever the number of calls.
 */
export class SlowWatch {
  readonly #parts: SlowWatchParts
  readonly #closing = new AbortController()
  readonly #closed = new Promise<undefined>((resolve) => whenAborted(this.#closing.signal, () => resolve(undefined)))
  readonly #stopTicks: () => void
  /** Start times of the requests in flight, with what ends their wait. */
  readonly #asked = new Map<(error: StatusError) => void, number>()
  /** Called when slow works again. */
  readonly #backAgain: (() => void)[] = []
  #answeredMs = 0
  #awaySinceMs: number | undefined
  #reason = ''
  #probing: Promise<void> | undefined
  #probeDueMs = 0
  #probeAgainMs = PROBE_AGAIN_MS
  /** Failures since the last line of the log. */
  #failedCalls = 0
  #failedSinceMs: number | undefined
  #lineMs = Number.NEGATIVE_INFINITY

  constructor(parts: SlowWatchParts) {
    this.#parts = parts
    this.#stopTicks = parts.clock.every(TICK_MS, () => this.#tick())
  }

  /** Since when slow is away, in milliseconds of the clock; undefined while it works. */
  get awaySinceMs(): number | undefined {
    return this.#awaySinceMs
  }

  /** Why slow is away. */
  get reason(): string {
    return this.#reason
  }

  /** Calls `listener` each time slow works again. */
  onBack(listener: () => void): void {
    this.#backAgain.push(listener)
  }

  /**
   * Asks slow. Rejects with an error for which `isAway` holds when slow does not work, and at once while it is known to
   * be away. `drop` receives an answer that came too late.
   */
  ask<Answer>(call: Call, ask: () => Promise<Answer>, drop: (answer: Answer) => void = () => {}): Promise<Answer> {
    if (this.#awaySinceMs !== undefined) {
      this.#failedCalls += 1
      return Promise.reject(this.#awayError())
    }
    return new Promise((resolve, reject) => {
      let isWaiting = true
      const leave = (error: StatusError): void => {
        isWaiting = false
        reject(error)
      }
      this.#asked.set(leave, this.#parts.clock.now())
      ask().then(
        (answer) => {
          this.#answered(leave)
          if (isWaiting) resolve(answer)
          else drop(answer)
        },
        (thrown: unknown) => {
          const error = StatusError.from(thrown)
          if (call.signal.aborted || !isOutage(error)) {
            this.#answered(leave)
            reject(error)
            return
          }
          this.#asked.delete(leave)
          if (!isWaiting) return
          this.failed(error)
          reject(this.#awayError())
        },
      )
    })
  }

  /** Reports a failure of slow. The watch probes it at once. */
  failed(error: StatusError): void {
    this.#failedCalls += 1
    this.#reason = error.message
    this.#failedSinceMs ??= this.#parts.clock.now()
    if (this.#awaySinceMs !== undefined) return
    this.#tell()
    this.#probe()
  }

  /** Reports that slow did something. Ends an outage at once. */
  worked(): void {
    this.#answeredMs = this.#parts.clock.now()
    if (this.#awaySinceMs !== undefined) this.#back()
  }

  /** Starts a probe, so that an outage is noticed without calls too. */
  look(): void {
    if (this.#awaySinceMs === undefined) this.#probe()
  }

  async close(): Promise<void> {
    this.#stopTicks()
    this.#closing.abort()
    await this.#probing
  }

  #awayError(): StatusError {
    const error = new StatusError('UNAVAILABLE', `the slow store is away: ${this.#reason}`)
    away.add(error)
    return error
  }

  #answered(leave: (error: StatusError) => void): void {
    this.#asked.delete(leave)
    this.#answeredMs = this.#parts.clock.now()
  }

  #tick(): void {
    const nowMs = this.#parts.clock.now()
    if (this.#awaySinceMs !== undefined) {
      this.#tell()
      if (nowMs >= this.#probeDueMs) this.#probe()
      return
    }
    if (this.#failedSinceMs !== undefined && nowMs - this.#lineMs >= LINE_MS) this.#endFailures()
    const [oldestMs = nowMs] = this.#asked.values()
    const isStalled = nowMs - oldestMs > STALL_MS && nowMs - this.#answeredMs > STALL_MS
    if (!isStalled) return
    this.#reason = `no answer in ${STALL_MS / 1000} s`
    this.#probe()
  }

  /** Single failures of a slow store whose probe succeeds: a line for the rest of the minute. */
  #endFailures(): void {
    if (this.#failedCalls > 0) this.#line()
    else this.#failedSinceMs = undefined
  }

  #probe(): void {
    if (this.#probing !== undefined || this.#closing.signal.aborted) return
    this.#probing = this.#ping().finally(() => {
      this.#probing = undefined
    })
    inBackground(this.#probing, this.#parts.log, 'a probe of the slow store')
  }

  async #ping(): Promise<void> {
    const { slow, clock, log } = this.#parts
    const controller = new AbortController()
    const { signal } = this.#closing
    const probe = slow.health(internalCall({ signal: AbortSignal.any([signal, controller.signal]), log })).then(
      (status) => (status.state === 'Failed' ? status.error : undefined),
      (error: unknown) => StatusError.from(error).message,
    )
    const answer = await Promise.race([within(PROBE_TIMEOUT_MS, probe, clock), this.#closed])
    controller.abort()
    if (signal.aborted) return
    const failure = answer === LATE ? `no answer to a probe in ${PROBE_TIMEOUT_MS / 1000} s` : answer
    if (failure === undefined) {
      this.worked()
      return
    }
    this.#reason = failure
    this.#probeDueMs = clock.now() + this.#probeAgainMs
    this.#probeAgainMs = Math.min(PROBE_AGAIN_MAX_MS, 2 * this.#probeAgainMs)
    if (this.#awaySinceMs === undefined) this.#leave()
  }

  #leave(): void {
    this.#awaySinceMs = this.#failedSinceMs ?? this.#parts.clock.now()
    this.#failedSinceMs = undefined
    this.#tell()
    const waiting = [...this.#asked.keys()]
    this.#asked.clear()
    for (const leave of waiting) {
      this.#failedCalls += 1
      leave(this.#awayError())
    }
  }

  #back(): void {
    const { clock, log, path } = this.#parts
    const forS = Math.round((clock.now() - (this.#awaySinceMs ?? 0)) / 1000)
    this.#awaySinceMs = undefined
    this.#probeAgainMs = PROBE_AGAIN_MS
    log.info('the slow store works again', { store: path, awayForS: forS, calls: this.#failedCalls, ...this.#more })
    this.#failedCalls = 0
    this.#lineMs = Number.NEGATIVE_INFINITY
    for (const listener of this.#backAgain) listener()
  }

  /** At most one line a minute. */
  #tell(): void {
    if (this.#parts.clock.now() - this.#lineMs >= LINE_MS) this.#line()
  }

  #line(): void {
    const { clock, log, path } = this.#parts
    const nowMs = clock.now()
    const sinceMs = this.#awaySinceMs ?? this.#failedSinceMs ?? nowMs
    const words = this.#awaySinceMs === undefined ? 'the slow store failed' : 'the slow store is away'
    const fields = { store: path, forS: Math.round((nowMs - sinceMs) / 1000), calls: this.#failedCalls }
    log.warn(`${words}: the fast store answers alone`, { ...fields, reason: this.#reason, ...this.#more })
    this.#lineMs = nowMs
    this.#failedCalls = 0
  }

  get #more(): Readonly<Record<string, unknown>> {
    return this.#parts.fields?.() ?? {}
  }
}
