import type { StatusError } from '../../../base/status-error.js'
import type { Reservation } from '../../../ledger/reservation.js'
import type { ExecuteResponse } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../../reapi/digest.js'
import type { TraceContext } from '../../../rpc/trace.js'
import type {
  ExecutionRequest,
  KeptRoots,
  OperationPast,
  OperationState,
  Outcome,
  PersistentWorkers,
  Stage,
  StartAttempt,
  WorkerOffer,
} from '../../request.js'
import type { RunFacts } from '../../scheduler.js'
import type { Seat } from '../queue/tenants.js'
import type { Need } from '../sizes/learned-sizes.js'
import { type WarmKey, warmKeysOf } from '../warm/keys.js'
import { Deadline } from './deadlines.js'
import type { Requirement } from './requirement.js'
import { Standing } from './standing.js'
import { type AttemptState, after, type EventOf, type ExecutionState, type WorkerState } from './transitions.js'

/** A command of the machine. The host executes commands in order. */
export type Command =
  | { readonly kind: 'publish'; readonly state: OperationState }
  | {
      readonly kind: 'settle'
      readonly executionId: string
      readonly request: ExecutionRequest
      readonly response: ExecuteResponse
      readonly run: RunFacts
    }
  | { readonly kind: 'start'; readonly workerId: string; readonly start: StartAttempt }
  | { readonly kind: 'kill'; readonly workerId: string; readonly attemptId: string }
  | { readonly kind: 'acknowledge'; readonly workerId: string; readonly attemptId: string }
  | { readonly kind: 'drain'; readonly workerId: string }
  | { readonly kind: 'evict'; readonly workerId: string; readonly error: StatusError }
  | { readonly kind: 'ended'; readonly ended: EndedExecution }
  /** A deadline is due before the next regular tick. */
  | { readonly kind: 'wake'; readonly atMs: number }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn'; readonly message: string }

/** A result that a worker reported, and keeps until it is acknowledged. */
export interface Reported {
  readonly workerId: string
  readonly attemptId: string
}

/** An execution that no client waits for any more, because it has an outcome. */
export interface EndedExecution {
  readonly operationName: string
  readonly request: ExecutionRequest
  readonly outcome: Outcome
  /** How often it was given to a worker. */
  readonly attempts: number
  /** The one that had it last; empty if none had it. */
  readonly workerId: string
  readonly queuedMs: number
  readonly endedMs: number
  /** What its next run would reserve by its past; undefined if nothing is known. */
  readonly need?: Need | undefined
}

/** One client's request. It is retained for a while after it completed. */
export class Operation {
  readonly name: string
  readonly sequence: number
  readonly instanceName: string
  readonly actionDigest: Digest
  stage: Stage = 'CACHE_CHECK'
  outcome: Outcome | undefined
  execution: Execution | undefined
  /** As queued: it may have joined the run of another scope. */
  request: ExecutionRequest | undefined
  /** What it takes in the ledger until it is finished. */
  reservation: Reservation | undefined
  /** Trace of the run that this operation joined. */
  joined: TraceContext | undefined
  /** Open watches of this operation. */
  clients = 0
  /** Deleted by a client: it continues, but clients cannot see it. */
  isHidden = false
  /** Unfinished: no client waits. Finished: the retention ends. */
  readonly deadline = new Deadline()

  constructor(name: string, sequence: number, instanceName: string, actionDigest: Digest) {
    this.name = name
    this.sequence = sequence
    this.instanceName = instanceName
    this.actionDigest = actionDigest
  }
}

/** What an execution is made of. */
export interface ToRun {
  readonly request: ExecutionRequest
  readonly requirement: Requirement
  readonly need?: Need | undefined
  readonly past?: OperationPast | undefined
}

/** One action in the queue or on a worker. One or more operations wait for it. */
export class Execution {
  heapIndex = -1
  readonly id: string
  /** Identical actions may join executions of this key; undefined: no action may join. */
  readonly sharingKey: string | undefined
  /** The callers whose result it is. */
  readonly scope: string
  /** With the properties that its next attempt gets. */
  request: ExecutionRequest
  /** Changes only while it neither waits nor runs. */
  requirement: Requirement
  /** What it, or its next run, needs by its past; undefined if nothing is known. */
  need: Need | undefined
  readonly first: Operation
  readonly operations = new Set<Operation>()
  priority: number
  /** Order in the queue of its invocation: lower is sooner. */
  rank = 0
  /** Its owner, while it waits. */
  seat: Seat | undefined
  /** Order of arrival; a retry keeps it. */
  readonly sequence: number
  /** Also with an earlier scheduler. */
  queuedMs: number
  /** When it entered the queue for the next attempt; retries count anew. */
  waitingSinceMs: number
  #state: ExecutionState = 'new'
  attempt: Attempt | undefined
  attempts = 0
  failures = 0
  /** How often it was given more memory, because it was ended for lack of it. */
  memoryRaises = 0
  /** Attempts whose worker was stopped meanwhile. */
  preemptions = 0
  readonly failedOn = new Set<string>()
  /** An earlier scheduler had it: workers need time to come here too. */
  readonly isTakenOver: boolean
  refusedSinceMs: number | undefined
  /** Called once when it no longer waits in the queue. */
  onLeft: (() => void) | undefined
  /** What it would find ready at workers that hold it: the keys of `Worker.warm`. */
  readonly warmKeys: readonly WarmKey[]
  /** Set once it waits for such a worker, or was passed over for one: no longer than until then. */
  warmUntilMs: number | undefined
  /** While only workers take it that hold more for it than `warmerThan`. */
  expecting: Deadline | undefined
  warmerThan = 0
  /** The result that a worker has reported and keeps. */
  reported: Reported | undefined
  /** The worker of its latest attempt. */
  lastWorker: Pick<Worker, 'id'> | undefined

  /** `past`: with an earlier scheduler. */
  constructor(
    first: Operation,
    { request, requirement, need, past }: ToRun,
    { sequence, nowMs }: { readonly sequence: number; readonly nowMs: number },
  ) {
    this.id = first.name
    this.first = first
    this.request = request
    this.requirement = requirement
    this.need = need
    this.priority = request.priority
    this.scope = request.scope ?? ''
    this.sequence = sequence
    this.queuedMs = Math.min(past?.queuedMs ?? nowMs, nowMs)
    this.isTakenOver = past !== undefined
    this.attempts = past?.attempts ?? 0
    this.failures = past?.failures ?? 0
    this.waitingSinceMs = nowMs
    this.warmKeys = warmKeysOf(request)
    this.sharingKey = request.doNotCache ? undefined : JSON.stringify([first.instanceName, first.actionDigest.key])
  }

  get state(): ExecutionState {
    return this.#state
  }

  enter(event: EventOf<'execution'>): void {
    this.#state = after('execution', this.#state, event)
  }
}

/** One run of an execution on one worker. Without an execution it is being killed or unknown here. */
export class Attempt {
  readonly id: string
  /** Replaced when the worker reconnects. */
  worker: Worker
  execution: Execution | undefined
  /** An earlier scheduler started it, and its worker has not come yet: what becomes of it is no failure. */
  isExpected = false
  /** What it reserves on its worker; undefined for an unknown attempt that a worker reported. */
  readonly requirement: Requirement | undefined
  /** The command has ended and its reservation is released. */
  hasReleased = false
  progress = 0
  /** What its worker waits for before it begins, as the worker says; empty for nothing. */
  waitsFor = ''
  startedMs = 0
  #state: AttemptState = 'running'
  /** The share that it counts against until its slot is free. */
  seat: Seat | undefined
  /** With an execution: the attempt is stuck. Without: the kill was not confirmed. */
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
  /** Unreserved amount of each `minimum` property. */
  readonly left: Map<string, number>
  readonly total: ReadonlyMap<string, number>
  readonly attempts: Set<Attempt>
  /** Attempts that hold a slot or wait for one at the worker, until their release. */
  inflight = 0
  /** The last attempt that ended there was short, so further attempts may wait there. */
  isQuick = false
  #state: WorkerState = 'connected'
  isPaused = false
  /** It said that it stops: what it does not finish is no failure. */
  isGoing = false
  /** Drained by an operator, until the operator ends it. */
  isKeptFree = false
  /** Signature of the requirement that the worker is held for. */
  heldFor: string | undefined
  /** What it holds ready for actions that ask for it. Only `Holders` changes it. */
  readonly warm = new Set<string>()
  heardMs: number
  lastUsed = 0
  /** As it told last. */
  readonly keeps: { persistent?: PersistentWorkers; roots?: KeptRoots } = {}
  /** Number of the worker in order of arrival. */
  ordinal = 0
  readonly liveness = new Deadline()
  readonly pause = new Deadline()
  /** Of an earlier connection of the same worker, if that is known. */
  standing = new Standing()

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

  /** Accepts no new attempts. */
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
