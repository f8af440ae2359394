import { StatusError } from '../../base/status-error.js'
import { Ledger } from '../../ledger/ledger.js'
import type { ExecuteResponse } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type {
  ExecutionRequest,
  Keeps,
  ListedOperation,
  OperationPast,
  OperationState,
  Outcome,
  WorkerOffer,
} from '../request.js'
import { OPERATION_BYTES } from '../request-size.js'
import { type RunFacts, UNCONFINED } from '../scheduler.js'
import { activityOf } from './activity.js'
import type { SchedulerActivity, SchedulerMeter } from './meter.js'
import { checkRoom, drainingNow } from './queue/room.js'
import { progressOf } from './queue/why.js'
import { Runs } from './runs.js'
import type { SimpleSettings } from './settings.js'
import { Context } from './state/context.js'
import { Operations, stateOf } from './state/operations.js'
import { requirementOf } from './state/requirement.js'
import { isFor } from './state/shared-runs.js'
import type { Command, Execution, Operation } from './state/state.js'
import { TakeOver } from './take-over.js'
import { Dispatch } from './workers/dispatch.js'
import { type Past, Workers } from './workers/workers.js'

/**
 * The `simple` scheduler as a state machine without I/O, timers or randomness. Each method is an event at a
 * given time; it returns the commands to execute, in order. The caller supplies names and ids. `tick` runs
 * everything that is deferred.
 */
export class SimpleScheduler {
  readonly #context: Context
  readonly #operations: Operations
  readonly #dispatch: Dispatch
  readonly #workers: Workers
  readonly #takeOver: TakeOver
  readonly #runs: Runs
  #matchedMs = 0

  /** `ledger` counts the outcomes of finished operations; `epoch` is the term of the leader of several servers. */
  constructor(settings: SimpleSettings, meter?: SchedulerMeter, ledger = new Ledger(), epoch = 0) {
    this.#context = new Context(settings, ledger, meter, epoch)
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
    this.#workers = new Workers(this.#context, this.#dispatch, (worker, brought) =>
      this.#takeOver.adopt(worker, brought),
    )
    this.#runs = new Runs(this.#context, this.#operations, this.#dispatch)
    this.#takeOver = new TakeOver(this.#context, {
      operations: this.#operations,
      dispatch: this.#dispatch,
      workers: this.#workers,
      runs: this.#runs,
    })
  }

  /** Throws INVALID_ARGUMENT if these properties can never be matched here. */
  checkPlatform(properties: readonly PlatformProperty[]): void {
    requirementOf(properties, this.#context.settings.supportedPlatformProperties)
  }

  get(name: string): OperationState | undefined {
    const operation = this.#operations.get(name)
    return operation && stateOf(operation)
  }

  /** The state with `progress`: where the operation is and why it waits. */
  explained(name: string): OperationState | undefined {
    const operation = this.#operations.get(name)
    return operation && this.#explained(operation)
  }

  /** The attempt that runs for an operation; undefined if none does. */
  attemptOf(name: string): { readonly id: string; readonly workerId: string } | undefined {
    const attempt = this.#operations.get(name)?.execution?.attempt
    return attempt && { id: attempt.id, workerId: attempt.worker.id }
  }

  /** The visible operations of an instance after the cursor, oldest first. */
  *operations(instanceName: string, after = ''): Iterable<ListedOperation> {
    for (const operation of this.#operations.all(Number(after))) {
      if (operation.instanceName !== instanceName) continue
      yield { state: this.#explained(operation), cursor: String(operation.sequence) }
    }
  }

  /** `unmatched` counts queued executions that no connected worker can ever run. */
  get workers(): Readonly<Record<'connected' | 'running' | 'queued' | 'unmatched', number>> {
    const { queue } = this.#dispatch
    let unmatched = 0
    for (const { capable, arrivals } of queue.buckets) if (capable.size === 0) unmatched += arrivals.size
    return { ...this.#workers.count, queued: queue.size, unmatched }
  }

  /** What the queue and the workers are busy with at `nowMs`. */
  activity(nowMs: number): SchedulerActivity {
    return activityOf({ runs: this.#runs.all, queue: this.#dispatch.queue, workers: this.#workers }, nowMs)
  }

  /** Opens a client's operation in CACHE_CHECK. `name` ends in a slash and a unique id. RESOURCE_EXHAUSTED if they take too much. */
  open(
    nowMs: number,
    name: string,
    instanceName: string,
    actionDigest: Digest,
    sizeBytes = OPERATION_BYTES,
  ): Command[] {
    return this.#event(nowMs, () => this.#operations.open(name, instanceName, actionDigest, sizeBytes))
  }

  /** Completes an operation that was not queued. */
  complete(nowMs: number, name: string, outcome: Outcome): Command[] {
    return this.#event(nowMs, () => {
      const operation = this.#operations.unfinished(name)
      if (operation !== undefined) this.#operations.complete(operation, outcome)
    })
  }

  /**
   * Queues or joins a run for the operation. RESOURCE_EXHAUSTED if the queue is full, UNAVAILABLE while
   * draining. `past`: an earlier scheduler had queued it already, so there is room for it.
   */
  enqueue(nowMs: number, name: string, request: ExecutionRequest, past?: OperationPast): Command[] {
    return this.#event(nowMs, () => {
      const operation = this.#operations.unfinished(name)
      if (operation === undefined) return
      const sized = this.#dispatch.sized(request)
      const check = (): void => this.#checkRoom(operation.instanceName, past !== undefined)
      const toRun = { ...sized, past }
      const { execution, isNew } = this.#runs.joinable(operation, toRun, this.#workers.areConfined, check)
      if (past?.running !== undefined && this.#takeOver.expect(execution, past.running)) return
      if (isNew) this.#dispatch.submit(execution)
    })
  }

  /** The host has cached the result: clients may see it. */
  settled(nowMs: number, executionId: string, outcome: Outcome, run = UNCONFINED): Command[] {
    return this.#event(nowMs, () => {
      const execution = this.#runs.get(executionId)
      if (execution?.state === 'settling') this.#finish(execution, outcome, run)
    })
  }

  clientAttached(nowMs: number, name: string): Command[] {
    return this.#event(nowMs, () => this.#operations.attach(name))
  }

  clientDetached(nowMs: number, name: string): Command[] {
    return this.#event(nowMs, () => this.#operations.detach(name))
  }

  /** A client asked for the operation without waiting for it. */
  touched(nowMs: number, name: string): Command[] {
    return this.#onOperation(nowMs, name, (operation) => this.#operations.touch(operation))
  }

  /** Ends the client's operation, and the run if no other operation waits for it. */
  cancel(nowMs: number, name: string): Command[] {
    return this.#onOperation(nowMs, name, (operation) => {
      if (operation.outcome !== undefined) return
      this.#leave(operation, new StatusError('CANCELLED', `${operation.name} was cancelled`))
    })
  }

  /** Hides the operation from clients without cancelling it. */
  delete(nowMs: number, name: string): Command[] {
    return this.#onOperation(nowMs, name, (operation) => this.#operations.delete(operation))
  }

  /**
   * A worker connected, again or for the first time. Attempts in its Hello continue if they are still needed;
   * for a while after the start, this includes attempts of the previous scheduler process. The worker is told
   * to kill all others. Throws INVALID_ARGUMENT if an amount in the offer is no whole number.
   */
  workerConnected(nowMs: number, workerId: string, offer: WorkerOffer, past: Past): Command[] {
    return this.#event(nowMs, () => this.#workers.connected(workerId, offer, past))
  }

  /** Whether the name is in use, also by a deleted operation. */
  has(name: string): boolean {
    return this.#operations.has(name)
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

  /**
   * `stage` only increases: fetching inputs 1, running 2, uploading outputs 3. `waitsFor`: what the worker waits for before it begins;
   * '' for nothing.
   */
  progress(nowMs: number, workerId: string, attemptId: string, stage: number, waitsFor = ''): Command[] {
    return this.#event(nowMs, () => this.#workers.progress(workerId, attemptId, stage, waitsFor))
  }

  /** A worker reported the final result of an attempt. */
  report(nowMs: number, workerId: string, attemptId: string, response: ExecuteResponse, run = UNCONFINED): Command[] {
    return this.#event(nowMs, () => this.#workers.report(workerId, attemptId, response, run))
  }

  /** The worker could not run the attempt. Counts as a failure. */
  workerError(nowMs: number, workerId: string, attemptId: string, error: StatusError): Command[] {
    return this.#event(nowMs, () => this.#workers.failed(workerId, attemptId, error))
  }

  /**
   * The worker rejects the attempt for now: another worker gets it, and this worker pauses. No failure is
   * counted.
   */
  refuse(nowMs: number, workerId: string, attemptId: string, error: StatusError): Command[] {
    return this.#event(nowMs, () => this.#workers.refused(workerId, attemptId, error))
  }

  /**
   * The attempt found no free slot at the worker in time, or the worker `stops`: another worker gets it, or it returns to the queue.
   */
  giveBack(nowMs: number, workerId: string, attemptId: string, stops = false): Command[] {
    return this.#event(nowMs, () => {
      if (stops) this.#workers.preempted(workerId, attemptId)
      else this.#workers.gaveBack(workerId, attemptId)
    })
  }

  /** The worker can run nothing for this reason; '' when it can again. */
  health(nowMs: number, workerId: string, sick: string): Command[] {
    return this.#event(nowMs, () => this.#workers.health(workerId, sick))
  }

  keeps(nowMs: number, workerId: string, told: Keeps): Command[] {
    return this.#event(nowMs, () => this.#workers.keeps(workerId, told))
  }

  /** What the worker holds ready for actions since it told last, and what it holds no more. */
  warm(nowMs: number, workerId: string, added: readonly string[], dropped: readonly string[]): Command[] {
    return this.#event(nowMs, () => this.#workers.warm(workerId, added, dropped))
  }

  goingAway(nowMs: number, workerId: string): Command[] {
    return this.#event(nowMs, () => this.#workers.goingAway(workerId))
  }

  /**
   * An operator drains the worker. The worker is not told, because it would exit. Undefined if it does not
   * exist.
   */
  drainWorker(nowMs: number, workerId: string): Command[] | undefined {
    if (!this.#workers.has(workerId)) return undefined
    return this.#event(nowMs, () => this.#workers.keepFree(workerId))
  }

  /** Undefined if the worker does not exist or drains on its own request. */
  undrainWorker(nowMs: number, workerId: string): Command[] | undefined {
    if (!this.#workers.mayResume(workerId)) return undefined
    return this.#event(nowMs, () => this.#workers.resume(workerId))
  }

  /** Starts nothing, and takes whatever is queued, until `release`: servers and workers still tell what they had before. */
  hold(): void {
    this.#context.isHeld = true
  }

  release(nowMs: number): Command[] {
    return this.#event(nowMs, () => {
      this.#context.isHeld = false
      for (const worker of this.#workers.all) this.#dispatch.feed(worker)
    })
  }

  /** Stops starting attempts; running ones may end. */
  drain(nowMs: number): Command[] {
    return this.#event(nowMs, () => this.#workers.drain())
  }

  /** The process did nothing for so long: what workers sent meanwhile has not been read, so that time does not count as their silence. */
  heldUp(forMs: number): void {
    for (const worker of this.#workers.all) worker.heardMs += forMs
  }

  /** Runs due deadlines and, if configured, the fallback matching. */
  tick(nowMs: number): Command[] {
    return this.#event(nowMs, () => {
      this.#context.deadlines.expire(nowMs)
      const intervalMs = this.#context.settings.fallbackMatchIntervalMs
      if (intervalMs === undefined || nowMs < this.#matchedMs + intervalMs) return
      this.#matchedMs = nowMs
      for (const worker of this.#workers.all) this.#dispatch.feed(worker)
    })
  }

  /** The parts, for tests of the invariants between them. */
  inspect() {
    const { deadlines, sizes } = this.#context
    return { executions: this.#runs.all, dispatch: this.#dispatch, workers: this.#workers, deadlines, sizes }
  }

  #explained(operation: Operation): OperationState {
    const { execution } = operation
    const state = stateOf(operation)
    if (execution === undefined) return state
    return { ...state, progress: progressOf(execution, this.#dispatch.queue, this.#workers.all) }
  }

  #checkRoom(instanceName: string, isKnown: boolean): void {
    const { settings, isHeld } = this.#context
    if (this.#workers.isDraining) throw drainingNow()
    if (!isKnown && !isHeld) checkRoom(this.#dispatch.queue, instanceName, settings)
  }

  /** Ends one operation without a result, and its execution if it was the last one. */
  #leave(operation: Operation, error: StatusError): void {
    const { execution } = operation
    this.#operations.complete(operation, { error }, 'cancelled')
    if (execution === undefined) return
    execution.operations.delete(operation)
    if (execution.operations.size > 0) return
    this.#dispatch.withdraw(execution)
    this.#runs.forget(execution)
    this.#delivered(execution, [])
    this.#ended(execution, { error })
  }

  /** `run` is how a worker got the result; undefined for an error of the server. */
  #finish(execution: Execution, outcome: Outcome, run?: RunFacts): void {
    execution.enter('finish')
    this.#runs.forget(execution)
    const others = [...execution.operations].filter(({ request }) => !isFor(request, execution, run))
    for (const operation of others) execution.operations.delete(operation)
    this.#delivered(execution, execution.operations)
    for (const operation of execution.operations) this.#operations.complete(operation, outcome)
    this.#ended(execution, outcome)
    for (const operation of others) this.#runAgain(operation)
  }

  /** The run that it joined was that of another scope, and was not confined after all. */
  #runAgain(operation: Operation): void {
    const { request } = operation
    if (request === undefined) return
    try {
      const check = (): void => this.#checkRoom(operation.instanceName, false)
      const { execution, isNew } = this.#runs.ofScope(operation, this.#dispatch.sized(request), check)
      if (isNew) this.#dispatch.submit(execution)
    } catch (error) {
      this.#operations.complete(operation, { error: StatusError.from(error) })
    }
  }

  #delivered({ reported }: Execution, operations: Iterable<Operation>): void {
    if (reported !== undefined) this.#context.acknowledgements.deliver(reported, operations)
  }

  #ended({ id, request, attempts, queuedMs, lastWorker, need }: Execution, outcome: Outcome): void {
    const workerId = lastWorker?.id ?? ''
    const { nowMs: endedMs } = this.#context
    const ended = { operationName: id, request, outcome, attempts, workerId, queuedMs, endedMs, need }
    this.#context.emit({ kind: 'ended', ended })
  }

  #onOperation(nowMs: number, name: string, event: (operation: Operation) => void): Command[] {
    return this.#event(nowMs, () => {
      const operation = this.#operations.get(name)
      if (operation !== undefined) event(operation)
    })
  }

  #event(nowMs: number, event: () => void): Command[] {
    this.#context.nowMs = nowMs
    this.#takeOver.began(nowMs)
    event()
    this.#dispatch.eventEnded()
    return this.#context.take()
  }
}
