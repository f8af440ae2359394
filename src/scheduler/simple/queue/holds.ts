import type { Context } from '../state/context.js'
import type { Worker } from '../state/state.js'
import { hasPlace } from '../workers/pool.js'
import type { Bucket } from './queue.js'

/**
 * Keeps what needs much of a worker from waiting for ever behind what needs little and fits in between: when it has waited
 * for `hold_worker_after_s`, one worker after the other is given nothing else until it has room.
 */
export class Holds {
  readonly #context: Context
  readonly #onFree: (worker: Worker) => void

  /** `onFree` must feed the worker. */
  constructor(context: Context, onFree: (worker: Worker) => void) {
    this.#context = context
    this.#onFree = onFree
  }

  /** Something waits in the bucket; what needs no more than a place has its turn anyhow. */
  began(bucket: Bucket): void {
    if (bucket.requirement.minimum.size === 0) return
    bucket.hold.onDue = () => this.#hold(bucket)
    this.#await(bucket)
  }

  /** Nothing waits in the bucket any more. */
  ended(bucket: Bucket): void {
    this.#context.deadlines.clear(bucket.hold)
    this.#free(bucket)
  }

  /** The worker starts one of the bucket: the next one that has waited long enough may hold another. */
  started(bucket: Bucket, worker: Worker): void {
    if (bucket.heldWorker !== worker) return
    bucket.heldWorker = undefined
    worker.heldFor = undefined
    this.#await(bucket)
  }

  /** The worker takes nothing any more. */
  lost(bucket: Bucket): void {
    this.#free(bucket)
    this.#await(bucket)
  }

  #await(bucket: Bucket): void {
    const { settings, deadlines, nowMs } = this.#context
    const [oldest] = bucket.arrivals
    if (settings.holdWorkerAfterMs === undefined || oldest === undefined) return
    deadlines.set(bucket.hold, Math.max(nowMs + 1, oldest.waitingSinceMs + settings.holdWorkerAfterMs))
  }

  #hold(bucket: Bucket): void {
    const { deadlines, nowMs, settings } = this.#context
    const worker = this.#leastBusy(bucket)
    if (worker === undefined) {
      deadlines.set(bucket.hold, nowMs + (settings.holdWorkerAfterMs ?? 0))
      return
    }
    worker.heldFor = bucket.requirement.signature
    bucket.heldWorker = worker
  }

  #leastBusy({ capable }: Bucket): Worker | undefined {
    let best: Worker | undefined
    for (const { workers } of capable) {
      for (const worker of workers) {
        if (worker.heldFor !== undefined || !worker.isConnected) continue
        if (best === undefined || worker.inflight < best.inflight) best = worker
      }
    }
    return best
  }

  #free(bucket: Bucket): void {
    const { heldWorker } = bucket
    bucket.heldWorker = undefined
    if (heldWorker === undefined) return
    heldWorker.heldFor = undefined
    if (hasPlace(heldWorker)) this.#onFree(heldWorker)
  }
}
