import { StatusError } from '../../../base/status-error.js'
import { isOfThirdParty } from '../../../proto/error-details.js'
import type { ExecuteResponse } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import type { BroughtAttempt, Keeps, WorkerOffer, WorkerPast } from '../../request.js'
import type { RunFacts } from '../../scheduler.js'
import type { Context } from '../state/context.js'
import { workerFailure } from '../state/standing.js'
import { Attempt, Worker } from '../state/state.js'
import type { Dispatch } from './dispatch.js'
import { Pauses } from './pauses.js'
import { newWorker, reserve } from './pool.js'
import { Remembered } from './remembered.js'
import { resultFault } from './result-fault.js'
import { Standings } from './standings.js'

/** Values of Progress.Stage in the worker protocol. */
const RUNNING = 2
const UPLOADING_OUTPUTS = 3
const PAUSE_MS = 1_000
/** How long workers may keep rejecting an action if `no_worker_timeout_s` sets no limit. */
const REFUSALS_MS = 60_000

/** What a worker reports about the time before it connected. */
export type Past = Pick<WorkerPast, 'attemptIds' | 'brought'>

/** Workers by id: they connect, leave, and report on their attempts. */
export class Workers {
  readonly #byId = new Map<string, Worker>()
  readonly #context: Context
  readonly #dispatch: Dispatch
  readonly #remembered = new Remembered()
  readonly #standings: Standings
  readonly #pauses: Pauses
  #isDraining = false

  readonly #adoptForeign: (worker: Worker, brought: BroughtAttempt) => boolean

  /** `adopt` turns an attempt of another scheduler into one of this scheduler, or returns false. */
  constructor(context: Context, dispatch: Dispatch, adopt: (worker: Worker, brought: BroughtAttempt) => boolean) {
    this.#context = context
    this.#dispatch = dispatch
    this.#standings = new Standings(context, dispatch)
    this.#pauses = new Pauses(context, dispatch, (worker) => this.#byId.get(worker.id) === worker)
    this.#adoptForeign = adopt
  }

  get all(): Iterable<Worker> {
    return this.#byId.values()
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  get count(): { readonly connected: number; readonly running: number } {
    let connected = 0
    for (const worker of this.#byId.values()) connected += Number(worker.isConnected)
    return { connected, running: this.#dispatch.attempts.size }
  }

  /** Whether every worker confines its actions, so that a result is as good for one scope as for another. */
  get areConfined(): boolean {
    for (const { offer } of this.#byId.values()) if (offer.isConfined !== true) return false
    return this.#byId.size > 0
  }

  connected(workerId: string, offer: WorkerOffer, { attemptIds, brought }: Past): void {
    const { settings, nowMs, meter } = this.#context
    const worker = newWorker(workerId, offer, settings.supportedPlatformProperties, nowMs)
    const before = this.#byId.get(workerId)
    worker.standing =
      before?.standing ?? this.#remembered.take(workerId, offer.name, nowMs, this.#byId.values()) ?? worker.standing
    worker.standing.sick = offer.sick ?? ''
    if (worker.standing.sick !== '') this.#context.log('warn', `worker ${workerId} is sick: ${worker.standing.sick}`)
    this.#byId.set(workerId, worker)
    this.#dispatch.holders.told(worker, offer.warmKeys ?? [])
    if (offer.runsImages === true) this.#context.imagesSeenMs = nowMs
    if (before?.isConnected === true) meter.worker('disconnected')
    meter.worker('connected')
    this.#awaitNews(worker)
    worker.isKeptFree = before?.isKeptFree === true
    if (this.#isDraining || worker.isKeptFree) worker.enter('leave')
    worker.isPaused = true
    if (this.#isDraining) this.#context.emit({ kind: 'drain', workerId })
    else this.#dispatch.place(worker)
    if (before !== undefined) this.#retire(before)
    this.#standings.awaitTrial(worker)
    for (const attemptId of new Set(attemptIds)) this.#adopt(worker, before, attemptId, brought?.get(attemptId))
    if (before !== undefined) {
      worker.lastUsed = before.lastUsed
      const error = new StatusError('UNAVAILABLE', `worker ${workerId} came back without this attempt`)
      // It has kept what it began: the start was lost with the connection.
      this.#lose(before, error, true)
    }
    worker.isPaused = false
    this.#dispatch.index.changed(worker)
    this.#dispatch.feed(worker)
  }

  disconnected(workerId: string): void {
    const worker = this.#byId.get(workerId)
    if (worker === undefined) return
    if (worker.isConnected) this.#context.meter.worker('disconnected')
    worker.enter('disconnect')
    this.#dispatch.index.changed(worker)
    if (worker.attempts.size === 0) this.#remove(worker)
    else this.heard(workerId)
  }

  /**
   * A worker of an earlier scheduler, as one that lost its connection: it has `worker_timeout_s` to come. Undefined if it is
   * connected here.
   */
  expected(workerId: string): Worker | undefined {
    const known = this.#byId.get(workerId)
    if (known !== undefined) return known.isConnected ? undefined : known
    const offer = { name: workerId, properties: new Map(), maxInflightAttempts: 0 }
    const worker = new Worker(workerId, offer, new Map(), this.#context.nowMs)
    worker.enter('disconnect')
    this.#byId.set(workerId, worker)
    this.#awaitNews(worker)
    return worker
  }

  heard(workerId: string): void {
    const worker = this.#byId.get(workerId)
    if (worker !== undefined) worker.heardMs = this.#context.nowMs
  }

  has(workerId: string): boolean {
    return this.#byId.has(workerId)
  }

  /** Whether only an operator keeps the worker from accepting attempts, not the worker itself or a shutdown. */
  mayResume(workerId: string): boolean {
    const worker = this.#byId.get(workerId)
    return worker?.isKeptFree === true && worker.isConnected && !this.#isDraining
  }

  keepFree(workerId: string): void {
    const worker = this.#byId.get(workerId)
    if (worker === undefined || worker.isDraining) return
    worker.isKeptFree = true
    worker.enter('leave')
    this.#dispatch.dismiss(worker)
  }

  resume(workerId: string): void {
    const worker = this.#byId.get(workerId)
    if (worker === undefined) return
    worker.isKeptFree = false
    worker.enter('resume')
    this.#dispatch.place(worker)
    this.#dispatch.feed(worker)
  }

  goingAway(workerId: string): void {
    const worker = this.#byId.get(workerId)
    if (worker === undefined) return
    this.heard(workerId)
    worker.isKeptFree = false
    worker.isGoing = true
    worker.enter('leave')
    this.#dispatch.dismiss(worker)
  }

  drain(): void {
    this.#isDraining = true
    for (const worker of this.#byId.values()) {
      this.goingAway(worker.id)
      this.#context.emit({ kind: 'drain', workerId: worker.id })
    }
  }

  evict(worker: Worker, error: StatusError): void {
    this.#context.meter.worker('timeout')
    this.#context.log('warn', error.message)
    this.#context.emit({ kind: 'evict', workerId: worker.id, error })
    this.#remove(worker)
    this.#lose(worker, error)
  }

  warm(workerId: string, added: readonly string[], dropped: readonly string[]): void {
    this.heard(workerId)
    const worker = this.#byId.get(workerId)
    if (worker !== undefined) this.#dispatch.toldWarm(worker, added, dropped)
  }

  progress(workerId: string, attemptId: string, stage: number, waitsFor: string): void {
    this.heard(workerId)
    const attempt = this.#attemptOf(workerId, attemptId)
    const worker = this.#byId.get(workerId)
    if (attempt === undefined) {
      if (worker !== undefined) this.#dispatch.sendKill(worker, attemptId)
      return
    }
    attempt.waitsFor = waitsFor
    if (waitsFor !== '') this.#dispatch.watchProgress(attempt)
    if (stage <= attempt.progress || stage > UPLOADING_OUTPUTS) return
    attempt.progress = stage
    this.#dispatch.watchProgress(attempt)
    if (stage >= RUNNING && attempt.execution !== undefined) attempt.execution.refusedSinceMs = undefined
    if (stage === UPLOADING_OUTPUTS && attempt.state === 'running') attempt.enter('upload')
    if (stage === UPLOADING_OUTPUTS) this.#dispatch.releaseAndFeed(attempt)
  }

  report(workerId: string, attemptId: string, response: ExecuteResponse, { isConfined }: RunFacts): void {
    this.#end(workerId, attemptId, ({ execution, worker }) => {
      const fault = execution && resultFault(response, execution.request)
      if (execution === undefined || fault !== undefined) this.#acknowledge(workerId, attemptId)
      if (execution !== undefined && fault !== undefined) {
        this.#dispatch.failed(execution, worker, fault.withPrefix(`worker ${workerId}`))
        return
      }
      this.#context.meter.reported(response)
      if (response.result !== null) this.#standings.proved(worker)
      if (execution === undefined) return
      execution.need = this.#context.sizes.learn(execution.request, response) ?? execution.need
      if (this.#dispatch.enlarged(execution, response)) {
        this.#acknowledge(workerId, attemptId)
        return
      }
      execution.reported = { workerId, attemptId }
      this.#context.acknowledgements.keep(execution.reported)
      execution.enter('report')
      const { id: executionId, request } = execution
      const run = { isConfined: isConfined && worker.offer.isConfined === true }
      this.#context.emit({ kind: 'settle', executionId, request, response, run })
    })
  }

  failed(workerId: string, attemptId: string, error: StatusError): void {
    this.#end(workerId, attemptId, ({ execution, worker }) => {
      this.#acknowledge(workerId, attemptId)
      if (execution === undefined) return
      const failure = workerFailure(workerId, error)
      // A client may name a registry that does not exist: that must not set workers aside.
      if (!isOfThirdParty(error)) this.#standings.failed(worker, execution.id, failure)
      this.#dispatch.failed(execution, worker, failure)
      this.#pauses.leaveToOthers(worker, execution)
    })
  }

  /** What the worker says of itself. */
  health(workerId: string, sick: string): void {
    this.heard(workerId)
    const worker = this.#byId.get(workerId)
    if (worker !== undefined) this.#standings.told(worker, sick)
  }

  keeps(workerId: string, told: Keeps): void {
    this.heard(workerId)
    const worker = this.#byId.get(workerId)
    if (worker !== undefined) Object.assign(worker.keeps, told)
    if ('roots' in told) this.#context.meter.roots(told.roots)
    else this.#context.meter.persistent(told.persistent.events)
  }

  refused(workerId: string, attemptId: string, error: StatusError): void {
    this.#end(workerId, attemptId, ({ execution, worker }) => {
      this.#acknowledge(workerId, attemptId)
      this.#pauses.pause(worker, PAUSE_MS)
      if (execution === undefined) return
      const { settings, nowMs } = this.#context
      execution.refusedSinceMs ??= nowMs
      const limitMs = settings.noWorkerTimeoutMs ?? REFUSALS_MS
      const prefix = `workers refused this action for ${limitMs / 1000} s, the last one (${workerId})`
      if (nowMs - execution.refusedSinceMs < limitMs) this.#dispatch.submit(execution)
      else this.#dispatch.giveUp(execution, error.withPrefix(prefix))
    })
  }

  /**
   * The attempt goes to another worker or back to the queue. A worker that gives an attempt back despite a
   * free slot rejects it.
   */
  gaveBack(workerId: string, attemptId: string): void {
    const worker = this.#byId.get(workerId)
    if (worker !== undefined && worker.inflight <= worker.offer.maxInflightAttempts) {
      this.refused(workerId, attemptId, new StatusError('UNAVAILABLE', 'the worker has a free slot and did not begin'))
      return
    }
    this.#end(workerId, attemptId, ({ execution }) => {
      this.#acknowledge(workerId, attemptId)
      if (execution !== undefined) this.#dispatch.submit(execution)
    })
  }

  /** The worker stops, and has ended the attempt for that. */
  preempted(workerId: string, attemptId: string): void {
    this.#end(workerId, attemptId, ({ execution, worker }) => {
      this.#acknowledge(workerId, attemptId)
      if (execution !== undefined) this.#dispatch.preempted(execution, worker, stopped(worker))
    })
  }

  /**
   * Ends an attempt, whatever its result. `then` runs before the slot is released: a retried execution tries
   * other workers first, and then waits in the queue for this one. It acknowledges the result, or leaves that to its execution.
   */
  #end(workerId: string, attemptId: string, then: (attempt: Attempt) => void): void {
    this.heard(workerId)
    const attempt = this.#attemptOf(workerId, attemptId)
    if (attempt === undefined) {
      this.#acknowledge(workerId, attemptId)
      return
    }
    this.#dispatch.close(attempt)
    then(attempt)
    this.#dispatch.releaseAndFeed(attempt)
    if (!attempt.worker.isConnected && attempt.worker.attempts.size === 0) this.#remove(attempt.worker)
  }

  /** The worker may forget the result, unless its outcome is still on its way to the clients. */
  #acknowledge(workerId: string, attemptId: string): void {
    const isKept = this.#context.acknowledgements.isPending(attemptId)
    if (this.#byId.has(workerId) && !isKept) this.#context.emit({ kind: 'acknowledge', workerId, attemptId })
  }

  #attemptOf(workerId: string, attemptId: string): Attempt | undefined {
    const attempt = this.#dispatch.attempts.get(attemptId)
    return attempt?.worker.id === workerId ? attempt : undefined
  }

  /** Takes over an attempt that a worker reports as running. */
  #adopt(worker: Worker, before: Worker | undefined, attemptId: string, brought: BroughtAttempt | undefined): void {
    const known = this.#dispatch.attempts.get(attemptId)
    if (known === undefined && this.#context.acknowledgements.isPending(attemptId)) return
    if (known === undefined && brought !== undefined && this.#adoptForeign(worker, brought)) return
    if (known === undefined) {
      const stranger = new Attempt(attemptId, worker)
      this.#dispatch.attempts.set(attemptId, stranger)
      reserve(stranger)
      this.#dispatch.kill(stranger)
    } else if (before !== undefined && known.worker === before) {
      before.attempts.delete(known)
      known.worker = worker
      known.isExpected = false
      reserve(known)
      if (known.execution === undefined) this.#dispatch.sendKill(worker, attemptId)
    } else this.#dispatch.sendKill(worker, attemptId)
  }

  /** Fails the attempts that still run on a removed worker. */
  #lose(worker: Worker, error: StatusError, hasNotBegun = false): void {
    for (const attempt of [...worker.attempts]) {
      const { execution, isExpected } = attempt
      this.#dispatch.close(attempt)
      if (execution !== undefined && isExpected) this.#dispatch.submit(execution)
      else if (execution !== undefined && hasNotBegun) this.#dispatch.preempted(execution, worker, error)
      else if (execution !== undefined && worker.isGoing) this.#dispatch.preempted(execution, worker, stopped(worker))
      else if (execution !== undefined) this.#dispatch.failed(execution, worker, error)
    }
  }

  #remove(worker: Worker): void {
    this.#byId.delete(worker.id)
    if (worker.offer.runsImages === true) this.#context.imagesSeenMs = this.#context.nowMs
    this.#remembered.left(worker, this.#context.nowMs)
    this.#retire(worker)
  }

  #retire(worker: Worker): void {
    worker.enter('remove')
    this.#dispatch.holders.forget(worker)
    this.#dispatch.dismiss(worker)
    this.#context.deadlines.clear(worker.liveness)
    this.#context.deadlines.clear(worker.pause)
    this.#context.deadlines.clear(worker.standing.backoff)
  }

  #awaitNews(worker: Worker): void {
    const { workerTimeoutMs } = this.#context.settings
    worker.liveness.onDue = () => {
      if (this.#context.nowMs - worker.heardMs < workerTimeoutMs) {
        this.#awaitNews(worker)
        return
      }
      const message = `worker ${worker.id} is lost: not heard of for ${workerTimeoutMs / 1000} s (worker_timeout_s)`
      this.evict(worker, new StatusError('UNAVAILABLE', message))
    }
    this.#context.deadlines.set(worker.liveness, worker.heardMs + workerTimeoutMs)
  }
}

const stopped = ({ id }: Worker): StatusError =>
  new StatusError('UNAVAILABLE', `worker ${id} was stopped while it ran this`)
