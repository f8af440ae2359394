import { StatusError } from '../../../base/status-error.js'
import type { ExecuteResponse } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import { idOfOperation } from '../../../reapi/operation-name.js'
import type { ExecutionRequest } from '../../request.js'
import { Holds } from '../queue/holds.js'
import { Queue } from '../queue/queue.js'
import { Unmatched } from '../queue/unmatched.js'
import type { Sized } from '../sizes/learned-sizes.js'
import type { Context } from '../state/context.js'
import { Deadline } from '../state/deadlines.js'
import { type Requirement, requirementOf } from '../state/requirement.js'
import { Attempt, type Execution, type Worker } from '../state/state.js'
import { Holders, warmthOf } from '../warm/holders.js'
import { worthAWait } from '../warm/keys.js'
import { couldRun, hasRoom, release, reserve } from './pool.js'
import { WorkerIndex } from './worker-index.js'

/** Notified when an execution's stage changes or the execution fails for good. */
export interface Progressed {
  onStage(execution: Execution): void
  onFailed(execution: Execution, error: StatusError): void
}

/** Workers are stopped one after the other where nodes are replaced; an action that stops its worker must come to an end. */
const MAX_PREEMPTIONS = 10

/** The workers' half: assigns executions to workers, and handles failed attempts. */
export class Dispatch {
  readonly queue: Queue
  readonly index: WorkerIndex
  readonly attempts = new Map<string, Attempt>()
  readonly holders = new Holders()
  readonly #unmatched: Unmatched
  readonly #holds: Holds
  readonly #context: Context
  readonly #progressed: Progressed
  readonly #onOverdueKill: (worker: Worker, error: StatusError) => void
  #uses = 0
  #mayMoreRun = false

  constructor(
    context: Context,
    progressed: Progressed,
    workers: () => Iterable<Worker>,
    onOverdueKill: (worker: Worker, error: StatusError) => void,
  ) {
    this.#context = context
    this.#progressed = progressed
    this.#onOverdueKill = onOverdueKill
    const { allocationStrategy } = context.settings
    this.index = new WorkerIndex(allocationStrategy)
    this.queue = new Queue(this.index, context.settings)
    this.#holds = new Holds(context, (worker) => this.feed(worker))
    this.#unmatched = new Unmatched(context, workers, (execution, error) => {
      this.#leaveQueue(execution)
      progressed.onFailed(execution, error)
    })
  }

  /** Starts an execution, or queues it if no capable worker has room. */
  submit(execution: Execution): void {
    const { requirement } = execution
    execution.waitingSinceMs = this.#context.nowMs
    const { isHeld } = this.#context
    if (!isHeld && !this.queue.hasWaiting(requirement) && this.queue.mayRun(execution.first.instanceName)) {
      const worker = this.#warmWorker(execution) ?? this.index.choose(requirement, execution.failedOn)
      if (worker !== undefined) {
        const warmth = worthAWait(warmthOf(worker, execution.warmKeys))
        if (!this.#mayExpect(execution, warmth)) {
          this.#start(execution, worker)
          return
        }
        this.#expect(execution, warmth)
      }
    }
    execution.enter('queue')
    const opened = this.queue.add(execution)
    if (opened?.capable.size === 0) this.#unmatched.began(opened)
    if (opened !== undefined) this.#holds.began(opened)
    this.#progressed.onStage(execution)
  }

  /** The warmest of those that have room and hold something warm for it, among equals the preferred one. */
  #warmWorker({ warmKeys, requirement, failedOn }: Execution): Worker | undefined {
    let best: Worker | undefined
    let most = 0
    for (const worker of this.holders.of(warmKeys)) {
      const warmth = warmthOf(worker, warmKeys)
      const isBetter = best === undefined || warmth > most || (warmth === most && this.index.isPreferred(worker, best))
      if (!isBetter || !this.#couldTake(worker, requirement, failedOn) || !hasRoom(worker, requirement)) continue
      best = worker
      most = warmth
    }
    return best
  }

  /** Whether a worker that has no room now is warmer for it than that, and it has not waited for such a one yet. */
  #mayExpect({ warmKeys, requirement, failedOn, warmUntilMs }: Execution, warmth: number): boolean {
    const { settings, nowMs } = this.#context
    if (nowMs >= (warmUntilMs ?? nowMs + settings.warmWorkerWaitMs)) return false
    for (const worker of this.holders.of(warmKeys)) {
      const isWarmer = worthAWait(warmthOf(worker, warmKeys)) > warmth
      if (isWarmer && this.#couldTake(worker, requirement, failedOn)) return true
    }
    return false
  }

  #couldTake(worker: Worker, requirement: Requirement, failedOn: ReadonlySet<string>): boolean {
    const workers = this.index.classOf(worker)
    const isFine = worker.isConnected && !worker.isPaused && !failedOn.has(worker.id)
    return isFine && worker.heldFor === undefined && workers?.isCapable(requirement) === true
  }

  /** Has it wait for a worker that is warmer for it than those that have room. */
  #expect(execution: Execution, warmth: number): void {
    const { settings, deadlines, nowMs } = this.#context
    execution.warmerThan = warmth
    execution.warmUntilMs ??= nowMs + settings.warmWorkerWaitMs
    execution.expecting = new Deadline(() => {
      this.queue.expectsNoMore(execution)
      const worker = this.index.choose(execution.requirement, execution.failedOn)
      if (worker !== undefined) this.feed(worker)
    })
    deadlines.set(execution.expecting, execution.warmUntilMs)
    this.#context.emit({ kind: 'wake', atMs: execution.warmUntilMs })
  }

  /** The worker says what it holds warm since it told last, and what no more. */
  toldWarm(worker: Worker, added: readonly string[], dropped: readonly string[]): void {
    this.holders.told(worker, added, dropped)
    this.feed(worker)
  }

  /** The last operation of the execution ended. */
  withdraw(execution: Execution): void {
    if (execution.state === 'queued') this.#leaveQueue(execution)
    if (execution.attempt !== undefined) this.kill(execution.attempt)
    execution.enter('withdraw')
  }

  /** Starts queued executions on a worker until it has no room. */
  feed(worker: Worker): void {
    const { nowMs, isHeld } = this.#context
    if (isHeld) return
    for (let next = this.queue.bestFor(worker, nowMs); next !== undefined; next = this.queue.bestFor(worker, nowMs)) {
      this.#start(next, worker)
    }
  }

  /** Call this when it may have changed whether the worker accepts attempts. */
  place(worker: Worker): void {
    const accepts = !worker.isDraining && worker.standing.takesActions
    if (accepts === (this.index.classOf(worker) !== undefined)) this.index.changed(worker)
    else if (accepts) this.#admit(worker)
    else this.dismiss(worker)
  }

  #admit(worker: Worker): void {
    const opened = this.index.add(worker)
    if (opened === undefined) return
    for (const bucket of this.queue.addClass(opened)) this.#unmatched.ended(bucket)
  }

  /** The worker accepts no more attempts. */
  dismiss(worker: Worker): void {
    const closed = this.index.remove(worker)
    const unmatched = closed === undefined ? [] : this.queue.removeClass(closed)
    for (const bucket of unmatched) this.#unmatched.began(bucket)
    const held = worker.heldFor === undefined ? undefined : this.queue.bySignature(worker.heldFor)
    if (held !== undefined) this.#holds.lost(held)
  }

  /** Removes an ended attempt, without releasing its reservation. */
  close(attempt: Attempt): void {
    attempt.enter('end')
    this.attempts.delete(attempt.id)
    attempt.worker.attempts.delete(attempt)
    this.#leaveSeat(attempt)
    this.#context.deadlines.clear(attempt.deadline)
    if (attempt.execution?.attempt === attempt) attempt.execution.attempt = undefined
  }

  /** An execution's attempt failed: the execution is retried, or fails with the last error. */
  failed(execution: Execution, worker: Worker, error: StatusError): void {
    const { settings } = this.#context
    execution.failures++
    execution.failedOn.add(worker.id)
    if (execution.failures > settings.maxJobRetries) {
      const tries = `${execution.failures} of ${settings.maxJobRetries + 1} tries failed, the last one`
      this.#progressed.onFailed(execution, error.withPrefix(tries))
      return
    }
    this.#context.meter.retried()
    this.#context.log('info', `${execution.id} is queued again: ${error.message}`)
    this.submit(execution)
  }

  /** What a request requires, with what is known of its past. */
  sized(request: ExecutionRequest): Sized {
    return this.#context.sizes.sized(request, (requirement) => this.#canRun(requirement))
  }

  #canRun(requirement: Requirement): boolean {
    for (const _ of this.index.capable(requirement)) return true
    return false
  }

  /** Has an execution run again with more memory, if its end says that it needs more and a worker has as much. */
  enlarged(execution: Execution, response: ExecuteResponse): boolean {
    const { sizes, settings, meter } = this.#context
    const request = sizes.afterEnd(execution.request, response, execution.memoryRaises)
    if (request === undefined) return false
    const requirement = requirementOf(request.properties, settings.supportedPlatformProperties)
    if (!this.#canRun(requirement)) return false
    execution.memoryRaises++
    execution.request = request
    execution.requirement = requirement
    meter.retried()
    this.#context.log('info', `${execution.id} is queued again with more memory: ${response.status?.message ?? ''}`)
    this.submit(execution)
    return true
  }

  /** The worker was taken away, or never heard of it: that is no try of the action, unless it happens so often that the action may be why. */
  preempted(execution: Execution, worker: Worker, error: StatusError): void {
    if (++execution.preemptions > MAX_PREEMPTIONS) {
      this.failed(execution, worker, error)
      return
    }
    this.#context.meter.retried()
    this.#context.log('info', `${execution.id} is queued again: ${error.message}`)
    this.submit(execution)
  }

  /** Fails an execution that is neither queued nor running. */
  giveUp(execution: Execution, error: StatusError): void {
    this.#progressed.onFailed(execution, error)
  }

  /**
   * Detaches an attempt from its execution and tells the worker to stop it. Its slot stays taken until the
   * worker confirms.
   */
  kill(attempt: Attempt): void {
    const { settings, deadlines, nowMs } = this.#context
    attempt.enter('kill')
    if (attempt.execution !== undefined) attempt.execution.attempt = undefined
    attempt.execution = undefined
    if (attempt.worker.isConnected) this.sendKill(attempt.worker, attempt.id)
    attempt.deadline.onDue = () => {
      const seconds = settings.unacknowledgedKillTimeoutMs / 1000
      const message = `worker ${attempt.worker.id} did not confirm a kill within ${seconds} s`
      this.#onOverdueKill(attempt.worker, new StatusError('UNAVAILABLE', message))
    }
    deadlines.set(attempt.deadline, nowMs + settings.unacknowledgedKillTimeoutMs)
  }

  sendKill(worker: Worker, attemptId: string): void {
    this.#context.emit({ kind: 'kill', workerId: worker.id, attemptId })
  }

  /** Starts the timeout of the attempt's current stage (`max_action_executing_timeout_s`). */
  watchProgress(attempt: Attempt): void {
    const { settings, deadlines, nowMs } = this.#context
    const limitMs = settings.maxActionExecutingTimeoutMs
    if (limitMs === undefined || attempt.execution === undefined) return
    attempt.deadline.onDue = () => {
      const { execution, worker } = attempt
      this.kill(attempt)
      const limit = `${limitMs / 1000} s (max_action_executing_timeout_s)`
      const error = new StatusError('DEADLINE_EXCEEDED', `no progress on worker ${worker.id} within ${limit}`)
      if (execution !== undefined) this.failed(execution, worker, error)
    }
    deadlines.set(attempt.deadline, nowMs + limitMs)
  }

  /** Whether the worker could ever run this. It may be one that accepts no further attempts because it is sick or set aside. */
  isCapable({ isDraining, offer, total }: Worker, requirement: Requirement): boolean {
    return !isDraining && couldRun({ properties: offer.properties, total }, requirement)
  }

  /** The worker already runs this, whether or not it has room. */
  adopt(execution: Execution, worker: Worker, attemptId: string): void {
    // It counts as lost already, or as failed if the worker did not hear that this is known: one attempt is one try.
    const wasCounted = isOf(execution, attemptId) && triesIn(attemptId) <= execution.attempts
    if (wasCounted && execution.failures > 0) execution.failures--
    this.#goesOn(execution, worker, attemptId)
  }

  /** An earlier scheduler said that this worker runs it. The worker is not here yet. */
  expect(execution: Execution, worker: Worker, attemptId: string): void {
    this.#goesOn(execution, worker, attemptId).isExpected = true
  }

  #goesOn(execution: Execution, worker: Worker, attemptId: string): Attempt {
    // Attempts started here get higher numbers, also where the operation of another client was queued first.
    execution.attempts = Math.max(execution.attempts, triesIn(attemptId))
    return this.#begin(execution, worker, attemptId)
  }

  #start(execution: Execution, worker: Worker): void {
    const { first, request, queuedMs, waitingSinceMs } = execution
    this.#context.meter.dequeued(this.#context.nowMs - waitingSinceMs)
    // The leader of an earlier term may have started one of the same number, of which nobody has told.
    const ofTerm = this.#context.epoch === 0 ? '' : `${this.#context.epoch}-`
    const attemptId = `${prefixOf(execution)}${ofTerm}${++execution.attempts}`
    const start = { attemptId, operationName: first.name, request, queuedMs, waitingSinceMs }
    this.#context.emit({ kind: 'start', workerId: worker.id, start })
    this.#begin(execution, worker, attemptId)
  }

  #begin(execution: Execution, worker: Worker, attemptId: string): Attempt {
    const seat = this.queue.tenants.seat(execution.first.instanceName, execution.request.invocation)
    this.queue.tenants.started(seat)
    const bucket = this.queue.bucketOf(execution.requirement)
    if (bucket !== undefined) this.#holds.started(bucket, worker)
    this.queue.demand.count('running', 1, execution.requirement, bucket?.group.signature)
    this.#leaveQueue(execution)
    const attempt = new Attempt(attemptId, worker, execution)
    attempt.seat = seat
    attempt.startedMs = this.#context.nowMs
    execution.lastWorker = worker
    this.attempts.set(attemptId, attempt)
    reserve(attempt)
    worker.lastUsed = ++this.#uses
    this.index.changed(worker)
    execution.attempt = attempt
    execution.enter('start')
    this.watchProgress(attempt)
    this.#progressed.onStage(execution)
    return attempt
  }

  /** Releases what an attempt reserved, and starts waiting executions there. */
  releaseAndFeed(attempt: Attempt): void {
    release(attempt, this.#context.nowMs)
    this.index.changed(attempt.worker)
    this.#leaveSeat(attempt)
    this.feed(attempt.worker)
  }

  /** At the end of an event: if an instance fell below its cap, its executions may start on any free worker. */
  eventEnded(): void {
    if (!this.#mayMoreRun) return
    this.#mayMoreRun = false
    for (const workers of this.index.classes) for (const worker of [...workers.free.items]) this.feed(worker)
  }

  #leaveSeat(attempt: Attempt): void {
    const { seat, requirement } = attempt
    attempt.seat = undefined
    if (seat === undefined) return
    if (requirement !== undefined) this.queue.demand.count('running', -1, requirement)
    this.#mayMoreRun ||= !this.queue.mayRun(seat.tenant.name)
    this.queue.tenants.ended(seat)
  }

  /** Whether a worker takes actions that could run this and on which it has not failed. */
  hasOther({ requirement, failedOn }: Execution): boolean {
    for (const { workers } of this.index.capable(requirement))
      for (const { id, isConnected } of workers) if (isConnected && !failedOn.has(id)) return true
    return false
  }

  #leaveQueue(execution: Execution): void {
    execution.onLeft?.()
    execution.onLeft = undefined
    if (execution.expecting !== undefined) this.#context.deadlines.clear(execution.expecting)
    const closed = this.queue.remove(execution)
    if (closed === undefined) return
    this.#unmatched.ended(closed)
    this.#holds.ended(closed)
  }
}

const prefixOf = ({ first }: Execution): string => `${idOfOperation(first.name)}-`

const isOf = (execution: Execution, attemptId: string): boolean => attemptId.startsWith(prefixOf(execution))

/** How often its execution had been given to a worker with it. */
const triesIn = (attemptId: string): number => Number(/-(\d{1,9})$/.exec(attemptId)?.[1] ?? '1')
