import { Deadline } from './deadlines.js'
import { Heap } from './heap.js'
import { hasRoom, isCapable } from './pool.js'
import type { Requirement } from './requirement.js'
import type { Execution, Worker } from './state.js'

/** Executions of equal requirement that wait. Exists only while it holds some. */
export class Bucket {
  readonly requirement: Requirement
  readonly waiting = new Heap<Execution>(isSooner)
  /** The same executions by the time they came in. */
  readonly arrivals = new Set<Execution>()
  /** Workers that could ever run them. */
  readonly capable = new Set<Worker>()
  /** Since when there is no such worker. */
  unmatchedSinceMs: number | undefined
  readonly giveUp = new Deadline()
  readonly logAgain = new Deadline()

  constructor(requirement: Requirement) {
    this.requirement = requirement
  }
}

/**
 * What waits, by requirement. Kept so that no execution waits while a worker that can run it has room: whoever gives a
 * worker room feeds it (`bestFor`), and an arrival needs a look at the workers only when nothing equal waits already.
 * With many actions and few kinds of requirement every event is O(log n) in the number of actions.
 */
export class Queue {
  readonly #buckets = new Map<string, Bucket>()
  readonly #bucketsOf = new Map<Worker, Set<Bucket>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** How long what has waited longest has waited; 0 when nothing does. */
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

  /** Adds an execution; answers its bucket when that is new. */
  add(execution: Execution): Bucket | undefined {
    const known = this.#buckets.get(execution.requirement.signature)
    const bucket = known ?? this.#open(execution.requirement)
    bucket.waiting.add(execution)
    bucket.arrivals.add(execution)
    this.#size++
    return known === undefined ? bucket : undefined
  }

  /** Takes an execution out; answers its bucket when that is gone now. */
  remove(execution: Execution): Bucket | undefined {
    const bucket = this.#buckets.get(execution.requirement.signature)
    if (bucket === undefined || !bucket.arrivals.delete(execution)) return undefined
    bucket.waiting.remove(execution)
    this.#size--
    if (bucket.waiting.size > 0) return undefined
    this.#buckets.delete(bucket.requirement.signature)
    for (const worker of bucket.capable) this.#bucketsOf.get(worker)?.delete(bucket)
    return bucket
  }

  /** To be called after the priority of a waiting execution went up. */
  raised(execution: Execution): void {
    this.bucketOf(execution.requirement)?.waiting.moved(execution)
  }

  addWorker(worker: Worker): Bucket[] {
    const matched: Bucket[] = []
    const own = new Set<Bucket>()
    this.#bucketsOf.set(worker, own)
    for (const bucket of this.#buckets.values()) {
      if (!isCapable(worker, bucket.requirement)) continue
      own.add(bucket)
      bucket.capable.add(worker)
      if (bucket.capable.size === 1) matched.push(bucket)
    }
    return matched
  }

  /** Answers the buckets that no worker can serve any more. */
  removeWorker(worker: Worker): Bucket[] {
    const unmatched: Bucket[] = []
    for (const bucket of this.#bucketsOf.get(worker) ?? []) {
      bucket.capable.delete(worker)
      if (bucket.capable.size === 0) unmatched.push(bucket)
    }
    this.#bucketsOf.delete(worker)
    return unmatched
  }

  /** The execution this worker should start next: the most urgent, then the oldest, that it has room for. */
  bestFor(worker: Worker): Execution | undefined {
    let best: Execution | undefined
    for (const bucket of this.#bucketsOf.get(worker) ?? []) {
      const first = bucket.waiting.first
      if (first === undefined || !hasRoom(worker, bucket.requirement)) continue
      if (best === undefined || isSooner(first, best)) best = first
    }
    return best
  }

  /** Every worker that can ever run what `requirement` says. */
  *capable(requirement: Requirement): Iterable<Worker> {
    for (const worker of this.#bucketsOf.keys()) if (isCapable(worker, requirement)) yield worker
  }

  #open(requirement: Requirement): Bucket {
    const bucket = new Bucket(requirement)
    this.#buckets.set(requirement.signature, bucket)
    for (const worker of this.capable(requirement)) {
      bucket.capable.add(worker)
      this.#bucketsOf.get(worker)?.add(bucket)
    }
    return bucket
  }
}

const isSooner = (a: Execution, b: Execution): boolean =>
  a.priority === b.priority ? a.sequence < b.sequence : a.priority < b.priority
