import { Ledger } from '../../base/ledger/ledger.js'
import { StatusError } from '../../base/status-error.js'
import { retryInfo } from '../../proto/error-details.js'
import type { ExecuteResponse } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type {
  BroughtAttempt,
  ExecutionRequest,
  ListedOperation,
  OperationState,
  Outcome,
  Progress,
  WorkerOffer,
} from '../request.js'
import type { ActiveExecution, SchedulerActivity, SchedulerMeter } from './meter.js'
import { positionOf, whyItWaits } from './queue/why.js'
import type { SimpleSettings } from './settings.js'
import { Context } from './state/context.js'
import { Operations, stateOf } from './state/operations.js'
import { requirementIfAny, requirementOf } from './state/requirement.js'
import { type Command, Execution, type Operation, type Worker } from './state/state.js'
import { Dispatch } from './workers/dispatch.js'
import { waitingThere } from './workers/pool.js'
import { type Past, Workers } from './workers/workers.js'

const QUEUE_FULL_RETRY_MS = 1_000

/**
 * The scheduler `simple`: a state machine without I/O, timers or randomness. Each method is an event at a time; its
 * answer is what must be done about it, in order. Names and ids come in. What is deferred happens in `tick`.
 */
export class SimpleScheduler {
  readonly #context: Context
  readonly #operations: Operations
  readonly #dispatch: Dispatch
  readonly #workers: Workers
  readonly #executions = new Map<string, Execution>()
  readonly #inFlight = new Map<string, Execution>()
  #matchedMs = 0
  /** The time of the first event. */
  #firstMs = Number.POSITIVE_INFINITY
  #sequence = 0

  /** `ledger` counts the outcomes of finished operations. */
  constructor(settings: SimpleSettings, meter?: SchedulerMeter, ledger = new Ledger()) {
    this.#context = new Context(settings, ledger, meter)
    this.#operations = new Operations(this.#context, (operation, error) => this.#leave(operation, error))
    this.#dispatch = new Dispatch(
      this.#context,
      {
        onStage: (execution) => {
          const stage = execution.state === 'queued' ? 'QUEUED' : 'EXECUTING'
          for (const operation of execution.operations) this.#operations.advance(operation, stage)
        },
        onFailed: (execution, error) => this.#finish(execution, { error }),
      },
      () => this.#workers.all,
      (worker, error) => this.#workers.evict(worker, error),
    )
    this.#workers = new Workers(this.#context, this.#dispatch, (worker, brought) => this.#adopt(worker, brought))
  }

  /** INVALID_ARGUMENT when these properties can never be matched here. */
  checkPlatform(properties: readonly PlatformProperty[]): void {
    requirementOf(properties, this.#context.settings.supportedPlatformProperties)
  }

  get(name: string): OperationState | undefined {
    const operation = this.#operations.get(name)
    return operation && stateOf(operation)
  }

  /** The same, with where it is and why it is not further: for who asks. */
  explained(name: string): OperationState | undefined {
    const operation = this.#operations.get(name)
    return operation && this.#explained(operation)
  }

  /** The operations of an instance that may be asked for, oldest first; those behind a cursor of this scheduler. */
  *operations(instanceName: string, after = ''): Iterable<ListedOperation> {
    for (const operation of this.#operations.all(Number(after))) {
      if (operation.instanceName !== instanceName) continue
      yield { state: this.#explained(operation), cursor: String(operation.sequence) }
    }
  }

  /** `unmatched` are those queued that no connected worker can ever run. */
  get workers(): {
    readonly connected: number
    readonly running: number
    readonly queued: number
    readonly unmatched: number
  } {
    const { queue } = this.#dispatch
    let unmatched = 0
    for (const { capable, arrivals } of queue.buckets) if (capable.size === 0) unmatched += arrivals.size
    return { ...this.#workers.count, queued: queue.size, unmatched }
  }

  /** What occupies the queue and the workers at `nowMs`. */
  activity(nowMs: number): SchedulerActivity {
    return {
      executions: this.#active(),
      oldestQueuedMs: this.#dispatch.queue.oldestMs(nowMs),
      workers: this.#workers.list(),
    }
  }

  /** A client's operation begins, with the cache check. `name` ends in a slash and an id of its own. */
  open(nowMs: number, name: string, instanceName: string, actionDigest: Digest): Command[] {
    return this.#event(nowMs, () => this.#operations.open(name, instanceName, actionDigest))
  }

  /** The operation ended without being queued. */
  complete(nowMs: number, name: string, outcome: Outcome): Command[] {
    return this.#event(nowMs, () => {
      const operation = this.#operations.unfinished(name)
      if (operation !== undefined) this.#operations.complete(operation, outcome)
    })
  }

  /** The operation needs a run. RESOURCE_EXHAUSTED when the queue is full, UNAVAILABLE while draining. */
  enqueue(nowMs: number, name: string, request: ExecutionRequest): Command[] {
    return this.#event(nowMs, () => {
      const operation = this.#operations.unfinished(name)
      if (operation === undefined) return
      const requirement = requirementOf(request.properties, this.#context.settings.supportedPlatformProperties)
      const execution = new Execution(operation, request, requirement, ++this.#sequence, nowMs)
      const shared = this.#underWay(execution)
      if (shared !== undefined) {
        this.#join(operation, shared, request)
        return
      }
      this.#checkRoom(operation.instanceName)
      this.#enter(execution)
      this.#dispatch.submit(execution)
    })
  }

  /** What was to be done with a result before clients see it is done. */
  settled(nowMs: number, executionId: string, outcome: Outcome): Command[] {
    return this.#event(nowMs, () => {
      const execution = this.#executions.get(executionId)
      if (execution?.state === 'settling') this.#finish(execution, outcome)
    })
  }

  clientAttached(nowMs: number, name: string): Command[] {
    return this.#event(nowMs, () => this.#operations.attach(name))
  }

  clientDetached(nowMs: number, name: string): Command[] {
    return this.#event(nowMs, () => this.#operations.detach(name))
  }

  /** A client asked for the operation without staying. */
  touched(nowMs: number, name: string): Command[] {
    return this.#onOperation(nowMs, name, (operation) => this.#operations.touch(operation))
  }

  /** The client wants no result: its operation ends, and the run too when no other client waits for it. */
  cancel(nowMs: number, name: string): Command[] {
    return this.#onOperation(nowMs, name, (operation) => {
      if (operation.outcome !== undefined) return
      this.#leave(operation, new StatusError('CANCELLED', `${operation.name} was cancelled`))
    })
  }

  /** Nobody may ask for the operation any more. An unfinished one is not cancelled. */
  delete(nowMs: number, name: string): Command[] {
    return this.#onOperation(nowMs, name, (operation) => this.#operations.delete(operation))
  }

  /**
   * A worker connected, again or for the first time. Attempts it names and we still wait for go on, and those that it
   * brought along from the scheduler before this one, for a while; others it is told to kill. INVALID_ARGUMENT when an amount
   * it offers is no whole number.
   */
  workerConnected(nowMs: number, workerId: string, offer: WorkerOffer, past: Past): Command[] {
    return this.#event(nowMs, () => this.#workers.connected(workerId, offer, past))
  }

  hasWorker(workerId: string): boolean {
    return this.#workers.has(workerId)
  }

  workerDisconnected(nowMs: number, workerId: string): Command[] {
    return this.#event(nowMs, () => this.#workers.disconnected(workerId))
  }

  keepAlive(nowMs: number, workerId: string): Command[] {
    return this.#event(nowMs, () => this.#workers.heard(workerId))
  }

  /** `stage` counts up: fetching inputs 1, running 2, uploading outputs 3. */
  progress(nowMs: number, workerId: string, attemptId: string, stage: number): Command[] {
    return this.#event(nowMs, () => this.#workers.progress(workerId, attemptId, stage))
  }

  /** The final result of an attempt. */
  report(nowMs: number, workerId: string, attemptId: string, response: ExecuteResponse): Command[] {
    return this.#event(nowMs, () => this.#workers.report(workerId, attemptId, response))
  }

  /** The worker could not run the attempt: a failure that counts. */
  workerError(nowMs: number, workerId: string, attemptId: string, error: StatusError): Command[] {
    return this.#event(nowMs, () => this.#workers.failed(workerId, attemptId, error))
  }

  /** The worker does not want the attempt now: it goes elsewhere, and the worker gets a pause. */
  refuse(nowMs: number, workerId: string, attemptId: string, error: StatusError): Command[] {
    return this.#event(nowMs, () => this.#workers.refused(workerId, attemptId, error))
  }

  /** The attempt waited for a place on the worker in vain: it goes elsewhere, or waits its turn here. */
  giveBack(nowMs: number, workerId: string, attemptId: string): Command[] {
    return this.#event(nowMs, () => this.#workers.gaveBack(workerId, attemptId))
  }

  goingAway(nowMs: number, workerId: string): Command[] {
    return this.#event(nowMs, () => this.#workers.goingAway(workerId))
  }

  /** An operator wants nothing new on the worker. It is not told: it would end. Undefined when there is none. */
  drainWorker(nowMs: number, workerId: string): Command[] | undefined {
    if (!this.#workers.has(workerId)) return undefined
    return this.#event(nowMs, () => this.#workers.keepFree(workerId))
  }

  /** Undefined when there is none, or when it leaves by itself. */
  undrainWorker(nowMs: number, workerId: string): Command[] | undefined {
    if (!this.#workers.mayResume(workerId)) return undefined
    return this.#event(nowMs, () => this.#workers.resume(workerId))
  }

  /** Nothing is started any more; what runs may end. */
  drain(nowMs: number): Command[] {
    return this.#event(nowMs, () => this.#workers.drain())
  }

  /** Time passed. */
  tick(nowMs: number): Command[] {
    return this.#event(nowMs, () => {
      this.#context.deadlines.expire(nowMs)
      const intervalMs = this.#context.settings.fallbackMatchIntervalMs
      if (intervalMs === undefined || nowMs < this.#matchedMs + intervalMs) return
      this.#matchedMs = nowMs
      for (const worker of this.#workers.all) this.#dispatch.feed(worker)
    })
  }

  /** The parts, for tests of what must hold between them. */
  inspect() {
    const { deadlines } = this.#context
    return { executions: this.#executions.values(), dispatch: this.#dispatch, workers: this.#workers, deadlines }
  }

  #explained(operation: Operation): OperationState {
    const { execution } = operation
    const state = stateOf(operation)
    if (execution === undefined) return state
    const { queue } = this.#dispatch
    const { attempt, attempts, queuedMs } = execution
    const bucket = execution.state === 'queued' ? queue.bucketOf(execution.requirement) : undefined
    const progress: Progress = {
      waitsFor: bucket === undefined ? '' : whyItWaits(execution, queue, this.#workers.all),
      position: bucket === undefined ? 0 : positionOf(execution, bucket),
      queueLength: bucket === undefined ? 0 : queue.size,
      attempt: attempts,
      workerId: attempt?.worker.id ?? '',
      queuedMs,
      startedMs: attempt?.startedMs,
    }
    return { ...state, progress }
  }

  *#active(): Iterable<ActiveExecution> {
    const waiting = new Set([...this.#workers.all].flatMap(waitingThere))
    for (const { state, priority, attempt } of this.#executions.values()) {
      if (state === 'queued' || (attempt !== undefined && waiting.has(attempt)))
        yield { stage: 'queued', priority, workerId: '' }
      else if (attempt !== undefined) yield { stage: 'executing', priority, workerId: attempt.worker.id }
    }
  }

  /**
   * A run that a worker brought along from the scheduler before this one goes on as a run of ours: for the client that asks
   * for its operation again, and for those that have asked for the same action since. False where nobody needs it.
   */
  #adopt(worker: Worker, { attemptId, operationName: name, request }: BroughtAttempt): boolean {
    const { settings, nowMs } = this.#context
    if (nowMs >= this.#firstMs + settings.adoptForMs || this.#workers.isDraining) return false
    if (this.#operations.has(name)) return false
    const requirement = requirementIfAny(request.properties, settings.supportedPlatformProperties)
    if (requirement === undefined || !this.#dispatch.isCapable(worker, requirement)) return false
    this.#operations.open(name, request.instanceName, request.actionDigest)
    const operation = this.#operations.unfinished(name)
    if (operation === undefined) return false
    const own = new Execution(operation, request, requirement, ++this.#sequence, nowMs)
    const shared = this.#underWay(own)
    if (shared !== undefined) this.#join(operation, shared, request)
    else this.#enter(own)
    const execution = shared ?? own
    if (execution.state !== 'new' && execution.state !== 'queued') return false
    this.#context.log('info', `${name} goes on as attempt ${attemptId}, which worker ${worker.id} had from before`)
    this.#dispatch.adopt(execution, worker, attemptId)
    return true
  }

  /** The run that an equal action may join: for who wants no older result, one whose result nobody has yet. */
  #underWay({ sharingKey, request }: Execution): Execution | undefined {
    const shared = sharingKey === undefined ? undefined : this.#inFlight.get(sharingKey)
    return request.skipCacheLookup && shared?.state === 'settling' ? undefined : shared
  }

  #enter(execution: Execution): void {
    const { first, sharingKey } = execution
    if (sharingKey !== undefined) this.#inFlight.set(sharingKey, execution)
    this.#executions.set(execution.id, execution)
    first.execution = execution
    execution.operations.add(first)
  }

  #join(operation: Operation, execution: Execution, { priority }: ExecutionRequest): void {
    operation.joined = execution.request.trace
    operation.execution = execution
    execution.operations.add(operation)
    if (priority < execution.priority) {
      execution.priority = priority
      if (execution.state === 'queued') this.#dispatch.queue.raised(execution)
    }
    this.#operations.advance(operation, execution.state === 'queued' ? 'QUEUED' : 'EXECUTING')
  }

  #checkRoom(instanceName: string): void {
    const { maxQueuedActions, maxQueuedActionsPerInstance: ofInstance } = this.#context.settings
    const details = [retryInfo(QUEUE_FULL_RETRY_MS)]
    if (this.#workers.isDraining) {
      throw new StatusError('UNAVAILABLE', 'the scheduler is shutting down and queues no actions', { details })
    }
    const { queue } = this.#dispatch
    const isFullFor = queue.tenants.queuedOf(instanceName) >= ofInstance
    if (queue.size < maxQueuedActions && !isFullFor) return
    const message = isFullFor
      ? `the queue is full for instance ${JSON.stringify(instanceName)}: ${ofInstance} of its actions wait (max_queued_actions_per_instance)`
      : `the queue is full: ${maxQueuedActions} actions wait (max_queued_actions)`
    throw new StatusError('RESOURCE_EXHAUSTED', message, { details })
  }

  /** One operation ends without a result; its execution too when it was the last. */
  #leave(operation: Operation, error: StatusError): void {
    const { execution } = operation
    this.#operations.complete(operation, { error }, 'cancelled')
    if (execution === undefined) return
    execution.operations.delete(operation)
    if (execution.operations.size > 0) return
    this.#dispatch.withdraw(execution)
    this.#forget(execution)
  }

  #finish(execution: Execution, outcome: Outcome): void {
    execution.enter('finish')
    this.#forget(execution)
    for (const operation of execution.operations) this.#operations.complete(operation, outcome)
  }

  #forget(execution: Execution): void {
    this.#executions.delete(execution.id)
    const { sharingKey } = execution
    if (sharingKey !== undefined && this.#inFlight.get(sharingKey) === execution) this.#inFlight.delete(sharingKey)
  }

  #onOperation(nowMs: number, name: string, event: (operation: Operation) => void): Command[] {
    return this.#event(nowMs, () => {
      const operation = this.#operations.get(name)
      if (operation !== undefined) event(operation)
    })
  }

  #event(nowMs: number, event: () => void): Command[] {
    this.#context.nowMs = nowMs
    this.#firstMs = Math.min(this.#firstMs, nowMs)
    event()
    this.#dispatch.eventEnded()
    return this.#context.take()
  }
}
