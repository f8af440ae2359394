import { NEVER } from '../../base/cancellation.js'
import type { Clock } from '../../base/clock.js'
import { isStatus, type StatusError } from '../../base/status-error.js'
import { before } from '../../work/deadline.js'
import type {
  PrintedByOperation,
  PrintedOffsets,
  PrintedOutput,
  QueueElsewhere,
  SchedulerOverview,
  StateElsewhere,
} from '../scheduler.js'
import type { ToldState } from './told-state.js'

export interface RemoteQueueOptions {
  /** The server's name in messages. */
  readonly backend: string
  readonly clock: Clock
  /** Asks that server. */
  readonly ask: (signal: AbortSignal) => Promise<ToldState>
  readonly tellsPrinted: () => boolean
  /** What the attempt, or that of the operation, prints there. */
  readonly printed: (asked: PrintedAsked, signal: AbortSignal) => Promise<PrintedByOperation | undefined>
  readonly failureOf: (thrown: unknown) => StatusError
}

/** One of both names. The name of the operation is the one here. */
export interface PrintedAsked extends PrintedOffsets {
  readonly operation?: string
  readonly attemptId?: string
}

/** An answer of this age is shown without asking again. */
const FRESH_MS = 1_000
/** How long the server may take. */
const PATIENCE_MS = 5_000
/** How long a page waits for an answer. */
const WAIT_MS = 1_000

/** An older release has no such method, and another leader may be elected. */
const MAY_PASS = ['UNIMPLEMENTED', 'UNAVAILABLE', 'DEADLINE_EXCEEDED', 'CANCELLED'] as const

const NOTHING: SchedulerOverview = { workers: [], queued: 0, stuck: () => undefined, queue: [], failed: [], demand: [] }

/** Queue and workers of the server that actions are forwarded to. It is asked when somebody looks, at most once a second. */
export class RemoteQueue implements QueueElsewhere {
  readonly #options: RemoteQueueOptions
  #told: ToldState | undefined
  #trouble: StateElsewhere['trouble']
  #askedMs = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined

  constructor(options: RemoteQueueOptions) {
    this.#options = options
  }

  overview(): SchedulerOverview {
    this.#askUnlessFresh()
    const { overview = NOTHING, results = new Map<string, number>() } = this.#told ?? {}
    const elsewhere = { address: this.#options.backend, results: Object.fromEntries(results), trouble: this.#trouble }
    return { ...overview, elsewhere }
  }

  async refresh(): Promise<void> {
    this.#askUnlessFresh()
    // The next look shows what this one does not wait for.
    if (this.#trouble === undefined) await this.#within()
  }

  get tellsPrinted(): boolean {
    return this.#options.tellsPrinted()
  }

  async printed(attemptId: string, offsets: PrintedOffsets): Promise<PrintedOutput | undefined> {
    return (await this.#printed({ attemptId, ...offsets }))?.printed
  }

  printedBy(operation: string, offsets: PrintedOffsets): Promise<PrintedByOperation | undefined> {
    return this.#printed({ operation, ...offsets })
  }

  /** Undefined also while that server does not answer: whoever follows an output asks again. */
  async #printed(asked: PrintedAsked): Promise<PrintedByOperation | undefined> {
    const { backend, printed, failureOf } = this.#options
    try {
      const late = `${backend} did not answer`
      return await before(PATIENCE_MS, late, NEVER, (signal) => printed(asked, signal))
    } catch (thrown) {
      const error = failureOf(thrown)
      if (MAY_PASS.some((code) => isStatus(error, code))) return undefined
      throw error
    }
  }

  async #within(): Promise<void> {
    const asking = this.#asking
    if (asking === undefined) return
    const late = (): void => {
      this.#trouble ??= { kind: 'unreachable', sinceMs: this.#askedMs, reason: 'it has not answered yet' }
    }
    await before(WAIT_MS, 'no answer', NEVER, () => asking).catch(late)
  }

  #askUnlessFresh(): void {
    const nowMs = this.#options.clock.now()
    if (this.#asking !== undefined || nowMs - this.#askedMs < FRESH_MS) return
    this.#askedMs = nowMs
    this.#asking = this.#ask(nowMs)
  }

  /** Never rejects. */
  async #ask(nowMs: number): Promise<void> {
    const { backend, ask, failureOf } = this.#options
    try {
      this.#told = await before(PATIENCE_MS, `${backend} did not answer`, NEVER, ask)
      this.#trouble = undefined
    } catch (thrown) {
      const error = failureOf(thrown)
      this.#told = undefined
      const kind = kindOf(error)
      const sinceMs = this.#trouble?.kind === kind ? this.#trouble.sinceMs : nowMs
      this.#trouble = { kind, sinceMs, reason: error.message }
    } finally {
      this.#asking = undefined
    }
  }
}

const kindOf = (error: StatusError): NonNullable<StateElsewhere['trouble']>['kind'] => {
  if (isStatus(error, 'UNIMPLEMENTED')) return 'unknown_to_it'
  if (isStatus(error, 'PERMISSION_DENIED') || isStatus(error, 'UNAUTHENTICATED')) return 'refused'
  return 'unreachable'
}
