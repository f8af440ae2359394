import { LruCache } from '../../../base/lru-cache.js'
import { StatusError } from '../../../base/status-error.js'
import type { Context } from '../state/context.js'
import type { Execution, Worker } from '../state/state.js'
import type { Bucket } from './bucket.js'
import { ableTo, explainMismatch } from './explain.js'
import { IMAGE_WAIT_MS, lacksImages, WITHOUT_IMAGES } from './without-images.js'

const REASONS_MAX = 1000

/** Buckets without a capable worker: logs them, and fails executions that waited too long. */
export class Unmatched {
  readonly #context: Context
  readonly #workers: () => Iterable<Worker>
  readonly #onGivenUp: (execution: Execution, error: StatusError) => void
  /** When each reason was logged. */
  readonly #loggedMs = new LruCache<number>(REASONS_MAX)

  /** `onGivenUp` must take the execution out of the queue. */
  constructor(
    context: Context,
    workers: () => Iterable<Worker>,
    onGivenUp: (execution: Execution, error: StatusError) => void,
  ) {
    this.#context = context
    this.#workers = workers
    this.#onGivenUp = onGivenUp
  }

  /** The bucket has no capable worker from now on. */
  began(bucket: Bucket): void {
    const { settings, deadlines, nowMs } = this.#context
    bucket.unmatchedSinceMs = nowMs
    bucket.logAgain.onDue = () => this.#log(bucket)
    this.#logUnlessRecent(bucket)
    if (bucket.requirement.needsImages) {
      deadlines.set(bucket.withoutImages, nowMs + IMAGE_WAIT_MS)
      bucket.withoutImages.onDue = () => this.#refuseImages(bucket)
    }
    if (settings.noWorkerTimeoutMs === undefined) return
    bucket.giveUp.onDue = () => this.#giveUp(bucket, settings.noWorkerTimeoutMs ?? 0)
    deadlines.set(bucket.giveUp, nowMs + settings.noWorkerTimeoutMs)
  }

  /** Refuses what waited long enough for a worker that runs actions in images, if this fleet has none. */
  #refuseImages(bucket: Bucket): void {
    const { deadlines, nowMs } = this.#context
    const lacks = lacksImages(bucket.requirement, this.#workers(), this.#context)
    for (const execution of lacks ? bucket.arrivals : []) {
      if (execution.waitingSinceMs + IMAGE_WAIT_MS > nowMs) break
      const message = `no worker for this action: ${WITHOUT_IMAGES}`
      this.#onGivenUp(execution, new StatusError('FAILED_PRECONDITION', message))
    }
    const [oldest] = bucket.arrivals
    if (oldest === undefined || bucket.unmatchedSinceMs === undefined) return
    const dueMs = Math.max(oldest.waitingSinceMs + IMAGE_WAIT_MS, nowMs + 1000)
    deadlines.set(bucket.withoutImages, dueMs)
  }

  /** A capable worker connected, or the bucket is empty. */
  ended(bucket: Bucket): void {
    bucket.unmatchedSinceMs = undefined
    this.#context.deadlines.clear(bucket.giveUp)
    this.#context.deadlines.clear(bucket.withoutImages)
    this.#context.deadlines.clear(bucket.logAgain)
  }

  /** A bucket that is empty for a moment now and then is logged as seldom as one that always waits. */
  #logUnlessRecent(bucket: Bucket): void {
    const { settings, deadlines, nowMs } = this.#context
    const intervalMs = settings.workerMatchLoggingIntervalMs
    const dueMs = (this.#loggedMs.get(this.#explain(bucket)) ?? Number.NEGATIVE_INFINITY) + (intervalMs ?? 0)
    if (nowMs >= dueMs) this.#log(bucket)
    else deadlines.set(bucket.logAgain, dueMs)
  }

  #log(bucket: Bucket): void {
    const { settings, deadlines, nowMs } = this.#context
    const waiting = bucket.arrivals.size === 1 ? '1 action waits' : `${bucket.arrivals.size} actions wait`
    const forS = Math.round((nowMs - (bucket.unmatchedSinceMs ?? nowMs)) / 1000)
    const explained = this.#explain(bucket)
    const words = forS === 0 ? 'No workers available' : `No workers available for ${forS} s`
    this.#context.log('warn', `${words}: ${waiting}, ${explained}`)
    this.#loggedMs.set(explained, nowMs, 1)
    const intervalMs = settings.workerMatchLoggingIntervalMs
    if (intervalMs !== undefined) deadlines.set(bucket.logAgain, nowMs + intervalMs)
  }

  /** Arrivals are in the order of `waitingSinceMs`, so only executions at the front can be due. */
  #giveUp(bucket: Bucket, timeoutMs: number): void {
    const { settings, deadlines, nowMs } = this.#context
    const message = `no worker for this action within ${timeoutMs / 1000} s (no_worker_timeout_s): ${this.#explain(bucket)}`
    const sinceMs = bucket.unmatchedSinceMs ?? nowMs
    // REAPI: UNAVAILABLE is for what will pass, and clients try again.
    const code = ableTo(bucket.requirement, this.#workers()).length > 0 ? 'UNAVAILABLE' : 'FAILED_PRECONDITION'
    for (const execution of bucket.arrivals) {
      const forMs = execution.isTakenOver ? Math.max(timeoutMs, settings.adoptForMs) : timeoutMs
      const dueMs = Math.max(execution.waitingSinceMs, sinceMs) + forMs
      if (dueMs > nowMs) {
        deadlines.set(bucket.giveUp, dueMs)
        return
      }
      this.#onGivenUp(execution, new StatusError(code, message))
    }
  }

  #explain(bucket: Bucket): string {
    return explainMismatch(bucket.requirement, this.#workers())
  }
}
