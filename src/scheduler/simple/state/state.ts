import type { StatusError } from '../../../base/status-error.js'
import type { TraceContext } from '../../../base/trace.js'
import type { ExecuteResponse } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../../reapi/digest.js'
import type { ExecutionRequest, OperationState, Outcome, Stage, StartAttempt, WorkerOffer } from '../../request.js'
import type { Seat } from '../queue/tenants.js'
import { Deadline } from './deadlines.js'
import type { Requirement } from './requirement.js'
import { type AttemptState, after, type EventOf, type ExecutionState, type WorkerState } from './transitions.js'

/** What the machine wants done. Whoever applies commands does so in order. */
export type Command =
  | { readonly kind: 'publish'; readonly state: OperationState }
  | {
      readonly kind: 'settle'
      readonly executionId: string
      readonly request: ExecutionRequest
      readonly response: ExecuteResponse
    }
  | { readonly kind: 'start'; readonly workerId: string; readonly start: StartAttempt }
  | { readonly kind: 'kill'; readonly workerId: string; readonly attemptId: string }
  | { readonly kind: 'acknowledge'; readonly workerId: string; readonly attemptId: string }
  | { readonly kind: 'drain'; readonly workerId: string }
  | { readonly kind: 'evict'; readonly workerId: string; readonly error: StatusError }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn'; readonly message: string }

/** One client's request. It lives on for a while after it completed. */
export class Operation {
  readonly name: string
  readonly sequence: number
  readonly instanceName: string
  readonly actionDigest: Digest
  stage: Stage = 'CACHE_CHECK'
  outcome: Outcome | undefined
  execution: Execution | undefined
  /** The trace of the run of another operation that it waits for. */
  joined: TraceContext | undefined
  /** Streams that show this operation now. */
  clients = 0
  /** Deleted by its client: it goes on, but nobody can ask for it. */
  isHidden = false
  /** While unfinished: nobody listens; when finished: forget it. */
  readonly deadline = new Deadline()

  constructor(name: string, sequence: number, instanceName: string, actionDigest: Digest) {
    this.name = name
    this.sequence = sequence
    this.instanceName = instanceName
    this.actionDigest = actionDigest
  }
}

/** What one or more operations wait for: an action on its way through queue and workers. */
export class Execution {
  heapIndex = -1
  readonly id: string
  /** Identical actions join the execution under this key; undefined: nobody may join. */
  readonly sharingKey: string | undefined
  readonly request: ExecutionRequest
  readonly requirement: Requirement
  readonly first: Operation
  readonly operations = new Set<Operation>()
  priority: number
  /** Its place in the queue of its invocation: lower is sooner. */
  rank = 0
  /** Whose it is, while it waits. */
  seat: Seat | undefined
  /** Order of arrival: kept when it is queued again. */
  readonly sequence: number
  readonly queuedMs: number
  /** Since when it is in the queue, this time. */
  waitingSinceMs: number
  #state: ExecutionState = 'new'
  attempt: Attempt | undefined
  attempts = 0
  failures = 0
  readonly failedOn = new Set<string>()
  refusedSinceMs: number | undefined

  constructor(first: Operation, request: ExecutionRequest, requirement: Requirement, sequence: number, nowMs: number) {
    this.id = first.name
    this.first = first
    this.request = request
    this.requirement = requirement
    this.priority = request.priority
    this.sequence = sequence
    this.queuedMs = nowMs
    this.waitingSinceMs = nowMs
    this.sharingKey = request.doNotCache ? undefined : JSON.stringify([first.instanceName, first.actionDigest.key])
  }

  get state(): ExecutionState {
    return this.#state
  }

  enter(event: EventOf<'execution'>): void {
    this.#state = after('execution', this.#state, event)
  }
}

/** One run of an execution on one worker. Without an execution it is being killed, or nobody here knows it. */
export class Attempt {
  readonly id: string
  /** Replaced when the worker connects anew. */
  worker: Worker
  execution: Execution | undefined
  /** What it reserves on its worker; undefined when a worker brought it along from before our time. */
  readonly requirement: Requirement | undefined
  /** The command has ended and what it reserved is free again. */
  hasReleased = false
  progress = 0
  startedMs = 0
  #state: AttemptState = 'running'
  /** Whose share it takes, until its place is free again. */
  seat: Seat | undefined
  /** While it is an execution's: stuck; else: the kill was not confirmed. */
  readonly deadline = new Deadline()

  constructor(id: string, worker: Worker, execution?: Execution) {
    this.id = id
    this.worker = worker
    this.execution = execution
    this.requirement = execution?.requirement
  }

  get state(): AttemptState {
    return this.#state
  }

  enter(event: EventOf<'attempt'>): void {
    this.#state = after('attempt', this.#state, event)
  }
}

export class Worker {
  heapIndex = -1
  readonly id: string
  readonly offer: WorkerOffer
  /** What is left of each `minimum` property. */
  readonly left: Map<string, number>
  readonly total: ReadonlyMap<string, number>
  readonly attempts: Set<Attempt>
  /** Attempts that hold a place or wait for one there: those that have not released it. */
  inflight = 0
  /** What ended there last was over so soon that more may wait there. */
  isQuick = false
  #state: WorkerState = 'connected'
  isPaused = false
  /** By an operator, until that one says otherwise. */
  isKeptFree = false
  /** The requirement, by signature, that it is kept free for. */
  heldFor: string | undefined
  heardMs: number
  lastUsed = 0
  /** Counts workers in the order they came. */
  ordinal = 0
  readonly liveness = new Deadline()
  readonly pause = new Deadline()

  constructor(id: string, offer: WorkerOffer, total: ReadonlyMap<string, number>, nowMs: number) {
    this.id = id
    this.offer = offer
    this.total = total
    this.left = new Map(total)
    this.attempts = new Set()
    this.heardMs = nowMs
  }

  get isConnected(): boolean {
    return this.#state === 'connected' || this.#state === 'draining'
  }

  /** Takes nothing new. */
  get isDraining(): boolean {
    return this.#state === 'draining' || this.#state === 'departed'
  }

  get state(): WorkerState {
    return this.#state
  }

  enter(event: EventOf<'worker'>): void {
    this.#state = after('worker', this.#state, event)
  }
}
