import type { Context } from '../state/context.js'
import type { Worker } from '../state/state.js'
import { hasFreeSlot } from '../workers/pool.js'
import type { Bucket } from './bucket.js'

/**
 * Prevents starvation of actions with `minimum` properties: smaller actions could take each amount as it
 * becomes free. When such an action has waited for `hold_worker_after_s`, one worker is held: it starts
 * nothing else until it has room.
 */
export class Holds {
  readonly #context: Context
  readonly #onFree: (worker: Worker) => void

  /** `onFree` must feed the worker. */
  constructor(context: Context, onFree: (worker: Worker) => void) {
    this.#context = context
    this.#onFree = onFree
  }

  /** The bucket has waiting executions. Requirements without amounts need no hold. */
  began(bucket: Bucket): void {
    if (bucket.requirement.minimum.size === 0) return
    bucket.hold.onDue = () => this.#hold(bucket)
    this.#await(bucket)
  }

  /** The bucket is empty. */
  ended(bucket: Bucket): void {
    this.#context.deadlines.clear(bucket.hold)
    this.#free(bucket)
  }

  /** The worker starts an execution of the bucket. The next one that waits long enough may hold another worker. */
  started(bucket: Bucket, worker: Worker): void {
    if (bucket.heldWorker !== worker) return
    bucket.heldWorker = undefined
    worker.heldFor = undefined
    this.#await(bucket)
  }

  /** The held worker accepts no more attempts. */
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
    if (hasFreeSlot(heldWorker)) this.#onFree(heldWorker)
  }
}
