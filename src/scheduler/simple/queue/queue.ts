import { type Requirement, withoutAmounts } from '../state/requirement.js'
import type { Execution, Worker } from '../state/state.js'
import { Expecting } from '../warm/expecting.js'
import { warmthOf } from '../warm/holders.js'
import { hasRoomSoon, mayWait } from '../workers/pool.js'
import type { WorkerClass, WorkerIndex } from '../workers/worker-index.js'
import { Bucket, Group } from './bucket.js'
import { Demand } from './demand.js'
import { type Found, isSooner } from './fits.js'
import { Lanes } from './lanes.js'
import { byShare, type Share, type Tenant, Tenants } from './tenants.js'

export interface QueueSettings {
  /** Waiting this long counts as one step of priority; undefined turns ageing off. */
  readonly priorityAgeingMs: number | undefined
  /** Attempts that one instance may have on workers at a time. */
  readonly maxRunningPerInstance: number
  /** How long an execution may be passed over for one that finds something warm. */
  readonly warmWorkerWaitMs: number
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
  readonly demand = new Demand()
  /** The groups of the buckets that each class of workers can serve. */
  readonly #groupsOf = new Map<WorkerClass, Set<Group>>()
  readonly #groups = new Map<string, Group>()
  readonly #lanes = new Lanes()
  readonly #expecting = new Expecting()
  readonly #buckets = new Map<string, Bucket>()
  readonly #index: WorkerIndex
  readonly #settings: QueueSettings
  #size = 0
  #steps = 0

  constructor(index: WorkerIndex, settings: QueueSettings) {
    this.#index = index
    this.#settings = settings
  }

  get size(): number {
    return this.#size
  }

  /** Groups, lanes and nodes looked at by `bestFor` so far: its cost, for tests. */
  get steps(): number {
    return this.#steps
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

  /**
   * What waits, the first of each requirement before the second of any. It may be read while executions come and go, and
   * ends after as many as waited at its begin.
   */
  *inTurn(): Generator<Execution> {
    let left = this.#size
    let open: Iterator<Execution>[] = []
    for (const { arrivals } of this.#buckets.values()) {
      const rest = arrivals.values()
      const { value, done } = rest.next()
      if (done) continue
      if (left-- === 0) return
      yield value
      if (arrivals.size > 1) open.push(rest)
    }
    while (open.length > 0) {
      const more: Iterator<Execution>[] = []
      for (const rest of open) {
        const { value, done } = rest.next()
        if (done) continue
        if (left-- === 0) return
        yield value
        more.push(rest)
      }
      open = more
    }
  }

  bucketOf(requirement: Requirement): Bucket | undefined {
    return this.#buckets.get(requirement.signature)
  }

  bySignature(signature: string): Bucket | undefined {
    return this.#buckets.get(signature)
  }

  /** Adds an execution. Returns its bucket if the bucket is new. If it has `expecting`, only workers warm for it take it. */
  add(execution: Execution): Bucket | undefined {
    const known = this.#buckets.get(execution.requirement.signature)
    const bucket = known ?? this.#open(execution.requirement)
    const seat = this.tenants.seat(execution.first.instanceName, execution.request.invocation)
    execution.seat = seat
    this.tenants.queued(seat)
    this.#rank(execution)
    if (execution.expecting === undefined) this.#lanes.add(execution, bucket, seat)
    else this.#expect(execution, bucket)
    bucket.arrivals.add(execution)
    this.demand.count('queued', 1, execution.requirement, bucket.group.signature)
    this.#size++
    return known === undefined ? bucket : undefined
  }

  /** Removes an execution. Returns its bucket if the bucket is now empty. */
  remove(execution: Execution): Bucket | undefined {
    const { seat } = execution
    const bucket = this.#buckets.get(execution.requirement.signature)
    if (bucket === undefined || seat === undefined || !bucket.arrivals.delete(execution)) return undefined
    if (execution.expecting === undefined) this.#lanes.remove(execution, bucket, seat)
    else this.#unexpect(execution, bucket)
    execution.seat = undefined
    this.tenants.unqueued(seat)
    this.demand.count('queued', -1, execution.requirement, bucket.group.signature)
    this.#size--
    if (bucket.arrivals.size > 0) return undefined
    this.#close(bucket)
    return bucket
  }

  /** Call this after the priority of a waiting execution improved. */
  raised(execution: Execution): void {
    const { seat } = execution
    if (seat === undefined) return
    this.#rank(execution)
    const bucket = this.bucketOf(execution.requirement)
    if (bucket !== undefined && execution.expecting === undefined) this.#lanes.raised(execution, bucket, seat)
  }

  /** Whether a waiting execution of this requirement may start on any capable worker. */
  hasWaiting(requirement: Requirement): boolean {
    const bucket = this.bucketOf(requirement)
    return bucket !== undefined && bucket.arrivals.size > bucket.expecting
  }

  /** From now on any capable worker takes it. Its `expecting` ends. */
  expectsNoMore(execution: Execution): void {
    const { seat } = execution
    const bucket = this.bucketOf(execution.requirement)
    if (bucket === undefined || seat === undefined) return
    this.#unexpect(execution, bucket)
    this.#lanes.add(execution, bucket, seat)
  }

  #expect(execution: Execution, bucket: Bucket): void {
    bucket.expecting++
    this.#expecting.add(execution)
  }

  #unexpect(execution: Execution, bucket: Bucket): void {
    execution.expecting = undefined
    bucket.expecting--
    this.#expecting.remove(execution)
  }

  /** Adds a class of workers. Returns the buckets that had no capable worker before. */
  addClass(workers: WorkerClass): Bucket[] {
    const matched: Bucket[] = []
    const groups = [...this.#groups.values()].filter(({ least }) => workers.isCapable(least))
    this.#groupsOf.set(workers, new Set(groups))
    for (const { capable } of groups) capable.add(workers)
    for (const bucket of this.#buckets.values()) {
      if (!workers.isCapable(bucket.requirement)) continue
      bucket.capable.add(workers)
      if (bucket.capable.size === 1) matched.push(bucket)
    }
    return matched
  }

  /** Removes a class of workers. Returns the buckets that have no capable worker now. */
  removeClass(workers: WorkerClass): Bucket[] {
    const unmatched: Bucket[] = []
    for (const bucket of this.#buckets.values())
      if (bucket.capable.delete(workers) && bucket.capable.size === 0) unmatched.push(bucket)
    for (const { capable } of this.#groupsOf.get(workers) ?? []) capable.delete(workers)
    this.#groupsOf.delete(workers)
    return unmatched
  }

  mayRun(instanceName: string): boolean {
    return this.tenants.runningOf(instanceName) < this.#settings.maxRunningPerInstance
  }

  /**
   * The execution that this worker should start next, among those that it has room for now or soon. The cost
   * does not grow with the number of distinct amounts.
   */
  bestFor(worker: Worker, nowMs: number): Execution | undefined {
    const workerClass = this.#index.classOf(worker)
    if (workerClass === undefined || !mayWait(worker)) return undefined
    const { heldFor } = worker
    const held = heldFor === undefined ? undefined : this.#buckets.get(heldFor)
    if (heldFor !== undefined && (held === undefined || !hasRoomSoon(worker, held.requirement))) return undefined
    const expecting = this.#expectingOf(worker, workerClass, held)
    for (const tenant of this.tenants.inLine()) {
      this.#steps++
      if (tenant.running >= this.#settings.maxRunningPerInstance) return undefined
      const best =
        held === undefined
          ? this.#firstOf(tenant, { worker, workerClass, expecting }, nowMs)
          : this.#firstIn(held, tenant, nowMs)
      if (best !== undefined) return this.#warmest(best, worker, nowMs)
    }
    return undefined
  }

  /** Of what waits for a worker like this one, what it has room for. */
  #expectingOf(worker: Worker, workerClass: WorkerClass, held: Bucket | undefined): readonly Execution[] {
    if (held !== undefined) return []
    const found = this.#expecting.of(worker)
    this.#steps += found.length
    return found.filter(({ requirement }) => workerClass.isCapable(requirement) && hasRoomSoon(worker, requirement))
  }

  /**
   * Of an invocation's executions of one priority that could start in place of `best`, the one for which the worker is warmest.
   * `best` is passed over for `warmWorkerWaitMs` at most, from the first time on.
   */
  #warmest(best: Execution, worker: Worker, nowMs: number): Execution {
    const { seat, warmKeys, priority } = best
    if (warmKeys.length === 0 || seat === undefined || worker.warm.size === 0) return best
    if (nowMs >= (best.warmUntilMs ?? nowMs + this.#settings.warmWorkerWaitMs)) return best
    const lane = this.bucketOf(best.requirement)?.lanes.get(seat.tenant)?.get(seat.share)
    let warm = best
    let most = warmthOf(worker, warmKeys)
    for (const one of lane?.someFirst ?? []) {
      this.#steps++
      if (one.priority !== priority) continue
      const warmth = warmthOf(worker, one.warmKeys)
      if (warmth < most || (warmth === most && (warm === best || !isSooner(one, warm)))) continue
      warm = one
      most = warmth
    }
    if (warm === best) return best
    best.warmUntilMs ??= nowMs + this.#settings.warmWorkerWaitMs
    return warm
  }

  #firstOf(tenant: Tenant, { worker, workerClass, expecting }: Looking, nowMs: number): Execution | undefined {
    const fronts: Front[] = []
    const found: Found = { best: undefined, urgent: Number.POSITIVE_INFINITY, steps: 0 }
    const waiting = this.#lanes.of(tenant)
    for (const group of this.#groupsOf.get(workerClass) ?? []) {
      found.steps++
      const shares = waiting?.get(group)
      if (shares === undefined) continue
      const room = group.roomOf(worker)
      for (const [share, lanes] of shares) {
        found.best = undefined
        lanes.search(room, found)
        if (found.best !== undefined) fronts.push({ share, execution: found.best })
      }
    }
    for (const execution of expecting) {
      if (execution.seat?.tenant !== tenant) continue
      fronts.push({ share: execution.seat.share, execution })
      found.urgent = Math.min(found.urgent, execution.priority)
    }
    this.#steps += found.steps
    return this.#bestOf(fronts, found.urgent, nowMs)
  }

  #firstIn({ lanes }: Bucket, tenant: Tenant, nowMs: number): Execution | undefined {
    const fronts: Front[] = []
    let urgent = Number.POSITIVE_INFINITY
    for (const [share, { first }] of lanes.get(tenant) ?? []) {
      this.#steps++
      if (first === undefined) continue
      fronts.push({ share, execution: first })
      urgent = Math.min(urgent, first.priority)
    }
    return this.#bestOf(fronts, urgent, nowMs)
  }

  /** Of several executions of one share, `fronts` needs only the soonest: ageing does not change their order. */
  #bestOf(fronts: readonly Front[], urgent: number, nowMs: number): Execution | undefined {
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
    const group = this.#groupOf(requirement)
    const bucket = new Bucket(requirement, group)
    group.buckets++
    this.#buckets.set(requirement.signature, bucket)
    for (const workers of this.#index.capable(requirement)) bucket.capable.add(workers)
    return bucket
  }

  #close(bucket: Bucket): void {
    const { group } = bucket
    this.#buckets.delete(bucket.requirement.signature)
    if (--group.buckets > 0) return
    this.#groups.delete(group.signature)
    for (const workers of group.capable) this.#groupsOf.get(workers)?.delete(group)
  }

  #groupOf(requirement: Requirement): Group {
    const signature = withoutAmounts(requirement)
    const known = this.#groups.get(signature)
    if (known !== undefined) return known
    const group = new Group(signature, requirement)
    this.#groups.set(signature, group)
    for (const workers of this.#index.capable(group.least)) {
      group.capable.add(workers)
      this.#groupsOf.get(workers)?.add(group)
    }
    return group
  }
}

interface Looking {
  readonly worker: Worker
  readonly workerClass: WorkerClass
  /** For which the worker holds something warm. */
  readonly expecting: readonly Execution[]
}

interface Front {
  readonly share: Share
  readonly execution: Execution
}
