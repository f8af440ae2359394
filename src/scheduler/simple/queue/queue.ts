import { Deadline } from '../state/deadlines.js'
import { Heap } from '../state/heap.js'
import type { Requirement } from '../state/requirement.js'
import type { Execution, Worker } from '../state/state.js'
import { hasRoomSoon } from '../workers/pool.js'
import type { WorkerClass, WorkerIndex } from '../workers/worker-index.js'
import { byShare, type Share, type Tenant, Tenants } from './tenants.js'

/** Waiting executions of one requirement. A bucket is removed when it is empty. */
export class Bucket {
  readonly requirement: Requirement
  /** In order of arrival. */
  readonly arrivals = new Set<Execution>()
  /** The same executions by instance and invocation. The front of each heap runs first. */
  readonly lanes = new Map<Tenant, Map<Share, Heap<Execution>>>()
  /** Classes of workers that could ever run them. */
  readonly capable = new Set<WorkerClass>()
  /** The worker that starts nothing else until it has room for this bucket. */
  heldWorker: Worker | undefined
  /** Start of the time without a capable worker. */
  unmatchedSinceMs: number | undefined
  readonly giveUp = new Deadline()
  readonly logAgain = new Deadline()
  readonly hold = new Deadline()

  constructor(requirement: Requirement) {
    this.requirement = requirement
  }
}

export interface QueueSettings {
  /** Waiting this long counts as one step of priority; undefined turns ageing off. */
  readonly priorityAgeingMs: number | undefined
  /** Attempts that one instance may have on workers at a time. */
  readonly maxRunningPerInstance: number
}

/**
 * Waiting executions by requirement. Invariant: no execution waits while a capable worker has room. Code that
 * frees room on a worker feeds it (`bestFor`). An arrival therefore checks the workers only if no execution
 * of its requirement waits.
 *
 * Order: the instance with the fewest running attempts, then the one served least. Within it, the invocation
 * whose first execution has the best priority, then the one with the fewest running, then the one served
 * least. Waiting improves a priority, but never beyond the best waiting one: urgent actions stay urgent, and
 * old ones are not starved.
 */
export class Queue {
  readonly tenants = new Tenants()
  /** The buckets that each class of workers can serve. */
  readonly #bucketsOf = new Map<WorkerClass, Set<Bucket>>()
  readonly #buckets = new Map<string, Bucket>()
  readonly #index: WorkerIndex
  readonly #settings: QueueSettings
  #size = 0

  constructor(index: WorkerIndex, settings: QueueSettings) {
    this.#index = index
    this.#settings = settings
  }

  get size(): number {
    return this.#size
  }

  /** Age of the oldest waiting execution in ms; 0 if there is none. */
  oldestMs(nowMs: number): number {
    let sinceMs = nowMs
    for (const { arrivals } of this.#buckets.values()) {
      const [oldest] = arrivals
      if (oldest !== undefined) sinceMs = Math.min(sinceMs, oldest.waitingSinceMs)
    }
    return nowMs - sinceMs
  }

  get buckets(): Iterable<Bucket> {
    return this.#buckets.values()
  }

  bucketOf(requirement: Requirement): Bucket | undefined {
    return this.#buckets.get(requirement.signature)
  }

  bySignature(signature: string): Bucket | undefined {
    return this.#buckets.get(signature)
  }

  /** Adds an execution. Returns its bucket if the bucket is new. */
  add(execution: Execution): Bucket | undefined {
    const known = this.#buckets.get(execution.requirement.signature)
    const bucket = known ?? this.#open(execution.requirement)
    const seat = this.tenants.seat(execution.first.instanceName, execution.request.invocation)
    execution.seat = seat
    this.tenants.queued(seat)
    this.#rank(execution)
    const lanes = bucket.lanes.get(seat.tenant) ?? new Map<Share, Heap<Execution>>()
    bucket.lanes.set(seat.tenant, lanes)
    const lane = lanes.get(seat.share) ?? new Heap<Execution>(isSooner)
    lanes.set(seat.share, lane)
    lane.add(execution)
    bucket.arrivals.add(execution)
    this.#size++
    return known === undefined ? bucket : undefined
  }

  /** Removes an execution. Returns its bucket if the bucket is now empty. */
  remove(execution: Execution): Bucket | undefined {
    const { seat } = execution
    const bucket = this.#buckets.get(execution.requirement.signature)
    if (bucket === undefined || seat === undefined || !bucket.arrivals.delete(execution)) return undefined
    const lanes = bucket.lanes.get(seat.tenant)
    const lane = lanes?.get(seat.share)
    lane?.remove(execution)
    if (lane?.size === 0) lanes?.delete(seat.share)
    if (lanes?.size === 0) bucket.lanes.delete(seat.tenant)
    execution.seat = undefined
    this.tenants.unqueued(seat)
    this.#size--
    if (bucket.arrivals.size > 0) return undefined
    this.#buckets.delete(bucket.requirement.signature)
    for (const workers of bucket.capable) this.#bucketsOf.get(workers)?.delete(bucket)
    return bucket
  }

  /** Call this after the priority of a waiting execution improved. */
  raised(execution: Execution): void {
    const { seat } = execution
    if (seat === undefined) return
    this.#rank(execution)
    this.bucketOf(execution.requirement)?.lanes.get(seat.tenant)?.get(seat.share)?.moved(execution)
  }

  /** Adds a class of workers. Returns the buckets that had no capable worker before. */
  addClass(workers: WorkerClass): Bucket[] {
    const matched: Bucket[] = []
    const servable = new Set<Bucket>()
    this.#bucketsOf.set(workers, servable)
    for (const bucket of this.#buckets.values()) {
      if (!workers.isCapable(bucket.requirement)) continue
      servable.add(bucket)
      bucket.capable.add(workers)
      if (bucket.capable.size === 1) matched.push(bucket)
    }
    return matched
  }

  /** Removes a class of workers. Returns the buckets that have no capable worker now. */
  removeClass(workers: WorkerClass): Bucket[] {
    const unmatched: Bucket[] = []
    for (const bucket of this.#bucketsOf.get(workers) ?? []) {
      bucket.capable.delete(workers)
      if (bucket.capable.size === 0) unmatched.push(bucket)
    }
    this.#bucketsOf.delete(workers)
    return unmatched
  }

  mayRun(instanceName: string): boolean {
    return this.tenants.runningOf(instanceName) < this.#settings.maxRunningPerInstance
  }

  /** The execution that this worker should start next, among those that it has room for now or soon. */
  bestFor(worker: Worker, nowMs: number): Execution | undefined {
    const buckets: Bucket[] = []
    let next: Tenant | undefined
    for (const bucket of this.#bucketsFor(worker)) {
      if (!hasRoomSoon(worker, bucket.requirement)) continue
      buckets.push(bucket)
      for (const tenant of bucket.lanes.keys()) {
        if (tenant.running >= this.#settings.maxRunningPerInstance) continue
        if (next === undefined || byShare(tenant, next) < 0) next = tenant
      }
    }
    return next && this.#firstOf(next, buckets, nowMs)
  }

  #bucketsFor(worker: Worker): Iterable<Bucket> {
    const workerClass = this.#index.classOf(worker)
    return (workerClass && this.#bucketsOf.get(workerClass)) ?? []
  }

  #firstOf(tenant: Tenant, buckets: readonly Bucket[], nowMs: number): Execution | undefined {
    const fronts: { readonly share: Share; readonly execution: Execution }[] = []
    let urgent = Number.POSITIVE_INFINITY
    for (const { lanes } of buckets) {
      for (const [share, { first }] of lanes.get(tenant) ?? []) {
        if (first === undefined) continue
        fronts.push({ share, execution: first })
        urgent = Math.min(urgent, first.priority)
      }
    }
    let best = fronts[0]
    for (const front of fronts) {
      if (best === undefined) return undefined
      const levels = this.#level(front.execution, nowMs, urgent) - this.#level(best.execution, nowMs, urgent)
      const order = levels || byShare(front.share, best.share)
      if (order < 0 || (order === 0 && isSooner(front.execution, best.execution))) best = front
    }
    return best?.execution
  }

  /** The priority after ageing, but never better than `urgent`. */
  #level({ priority, queuedMs }: Execution, nowMs: number, urgent: number): number {
    const { priorityAgeingMs } = this.#settings
    if (priorityAgeingMs === undefined || priority <= urgent) return priority
    return Math.max(urgent, priority - Math.floor((nowMs - queuedMs) / priorityAgeingMs))
  }

  /**
   * Sets the order within one invocation. Ageing does not change that order later, so it is computed on
   * arrival.
   */
  #rank(execution: Execution): void {
    const { priorityAgeingMs } = this.#settings
    const { priority, queuedMs } = execution
    execution.rank = priorityAgeingMs === undefined ? priority : priority * priorityAgeingMs + queuedMs
  }

  #open(requirement: Requirement): Bucket {
    const bucket = new Bucket(requirement)
    this.#buckets.set(requirement.signature, bucket)
    for (const workers of this.#index.capable(requirement)) {
      bucket.capable.add(workers)
      this.#bucketsOf.get(workers)?.add(bucket)
    }
    return bucket
  }
}

const isSooner = (a: Execution, b: Execution): boolean =>
  a.rank === b.rank ? a.sequence < b.sequence : a.rank < b.rank
