/**
 * The contract of schedulers. Start here.
 *
 * A client's request is an **operation**, named `{instance name}/operations/{scheduler}/{id}`; only its
 * client knows the id. An operation passes through the REAPI stages CACHE_CHECK, QUEUED, EXECUTING and
 * COMPLETED. A scheduler accepts requests and reports the state of its operations. `kinds.ts` lists the
 * kinds; `kind/` has one file for each. Some kinds wrap another scheduler and change requests
 * (`forwarding.ts`). `grpc` forwards to another server. `simple` queues actions and sends them to workers
 * (`simple/host.ts`). All calls exchange only data and are asynchronous, because the implementation may be in
 * another process.
 */

import type { Readable, Writable } from 'node:stream'
import type { StatusError } from '../base/status-error.js'
import type { ActionResult, ExecuteResponse } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { FrontHello, FrontMessage } from '../proto/generated/remexec.scheduler.v1.js'
import type { PlatformProperty } from '../reapi/platform.js'
import type {
  ExecutionRequest,
  HandedOperation,
  Keeps,
  ListedOperation,
  OperationState,
  StartAttempt,
  WorkerOffer,
  WorkerPast,
} from './request.js'

export type * from './request.js'

export interface Scheduler {
  /** Workers connect here; undefined if they belong to another server. */
  readonly workers: WorkerPool | undefined

  /** For operators; undefined if queue and workers belong to another server. */
  readonly operator: SchedulerOperator | undefined

  /** What that other server tells of them. */
  readonly elsewhere?: QueueElsewhere | undefined

  /** The door for the other servers that have one queue with this one. */
  readonly peers?: PeerDoor | undefined

  /** Rejects with INVALID_ARGUMENT if no worker of this scheduler can ever have these properties. */
  checkPlatform(properties: readonly PlatformProperty[]): Promise<void>

  /**
   * Starts an operation and returns its name. Later errors are reported in the operation. An operation that was handed in
   * before goes on.
   */
  execute(request: ExecutionRequest, handed?: HandedOperation): Promise<string>

  /** The name of the operation of that id (`HandedOperation`), whether or not there is one. */
  nameOf(instanceName: string, id: string): string

  /**
   * Yields the current state, then each new state up to COMPLETED. A slow reader sees only the newest state.
   * The reader counts as a waiting client. Ends early, without an error, when `signal` aborts. Fails with
   * NOT_FOUND if the operation does not exist, and with UNAVAILABLE when the scheduler stops.
   */
  watch(name: string, signal: AbortSignal): AsyncGenerator<OperationState>

  /** The current state. Counts as a client that came and left: the operation's client timeout starts anew. */
  get(name: string): Promise<OperationState | undefined>

  /** The operations of an instance after the cursor, oldest first; '' starts at the beginning. */
  operations(instanceName: string, after: string): AsyncIterable<ListedOperation>

  /** False if the operation does not exist. Does not change a finished one. */
  cancel(name: string): Promise<boolean>

  /** Deletes the operation without cancelling its run. False if it does not exist. */
  delete(name: string): Promise<boolean>

  /** Stops accepting actions: queues reject, workers are asked to finish. */
  drain(): void

  /** Resolves when nothing runs and every outcome is settled, or after `limitMs`. */
  idle(limitMs: number): Promise<void>

  /** Ends every watch and every worker connection with UNAVAILABLE. */
  close(): void
}

/** The action results of the process's instances. Schedulers read and write results only through this interface. */
export interface ActionResults {
  /** A cached result; undefined for none. Never rejects: a failing action cache costs a run. */
  find(request: ExecutionRequest): Promise<ActionResult | undefined>

  /**
   * Caches a worker's response if that is allowed, and returns the response for clients. The result of a caller with a scope is
   * for everybody only if the run `isConfined`. Never rejects.
   */
  keep(request: ExecutionRequest, response: ExecuteResponse, run: RunFacts): Promise<ExecuteResponse>
}

/** Where the other servers with one queue join the one that leads. */
export interface PeerDoor {
  /** Of the scheduler. */
  readonly name: string
  /** Serves the server until its stream ends. Rejects with UNAVAILABLE if this server does not lead. */
  join(peer: Peer): Promise<void>
}

/** A server that speaks for its clients and relays its workers. */
export interface Peer {
  readonly hello: FrontHello
  readonly messages: AsyncIterator<FrontMessage>
  readonly responses: Writable
  readonly signal: AbortSignal
  /** Throws PERMISSION_DENIED if it may not speak for the callers of that instance. */
  readonly checkInstance: (instanceName: string) => void
  /** Ends its stream. */
  readonly fail: (error: StatusError) => void
}

/** How an attempt ran, as its worker says. */
export interface RunFacts {
  /** With no network and no way to change anything but its outputs, from verified inputs out of the CAS. */
  readonly isConfined: boolean
}

export const UNCONFINED: RunFacts = { isConfined: false }

/** The queue and the workers of a scheduler in another process. */
export interface QueueElsewhere extends TellsPrinted {
  /** Whether that process can say what attempts print: not if it is another program. */
  readonly tellsPrinted: boolean
  /** As told last, with `elsewhere`. Asks that process again unless the answer is fresh. */
  overview(): SchedulerOverview
  /** Waits a moment for a fresh answer. Never rejects. */
  refresh(): Promise<void>
}

export interface StateElsewhere {
  readonly address: string
  /** Operations that ended there, by result. */
  readonly results: Readonly<Record<string, number>>
  /** Why nothing is known: `unknown_to_it` if the server there is another program or an older release. */
  readonly trouble:
    | { readonly kind: 'unreachable' | 'refused' | 'unknown_to_it'; readonly sinceMs: number; readonly reason: string }
    | undefined
}

/** Knows what running attempts print. */
export interface TellsPrinted {
  /** The last bytes that the attempt has printed so far. Undefined if nobody can say it. */
  printed(attemptId: string, offsets: PrintedOffsets): Promise<PrintedOutput | undefined>
  /** The same for an operation, with the attempt that runs for it now; undefined if none does. */
  printedBy(operation: string, offsets: PrintedOffsets): Promise<PrintedByOperation | undefined>
}

/** The operator's view of queue and workers. */
export interface SchedulerOperator extends TellsPrinted {
  overview(): SchedulerOverview
  /** The worker receives nothing new; its running attempts continue. False if the worker does not exist. */
  drainWorker(workerId: string): boolean
  /** The worker receives actions again. False if the worker does not exist or drains on its own request. */
  undrainWorker(workerId: string): boolean
}

/** Nothing before these positions is wanted. */
export interface PrintedOffsets {
  readonly stdoutOffset: number
  readonly stderrOffset: number
}

/** The end of what a command has printed, and how much that was in all. */
export interface PrintedOutput {
  readonly stdout: { readonly bytes: Buffer; readonly sizeBytes: number }
  readonly stderr: { readonly bytes: Buffer; readonly sizeBytes: number }
}

export interface PrintedByOperation {
  readonly attemptId: string
  /** Undefined if its worker does not tell. */
  readonly printed: PrintedOutput | undefined
}

export interface SchedulerOverview {
  readonly workers: readonly WorkerOverview[]
  readonly queued: number
  /** Actions that no connected worker can run, and why one of them waits. Undefined if there are none. */
  readonly stuck: () => StuckActions | undefined
  /**
   * Queued actions, the first of each requirement before the second of any. Read it in turns of the event loop: there
   * may be hundreds of thousands, and they may come and go meanwhile.
   */
  readonly queue: Iterable<QueuedAction>
  /** The latest actions that did not succeed, newest first; at most 100. */
  readonly failed: readonly FailedAction[]
  /** What waits and runs, by what it asks of a worker. */
  readonly demand: readonly PlatformDemand[]
  /** Undefined if another process does not tell it. */
  readonly learned?: LearnedOverview
  /** Set if queue and workers are in another process. */
  readonly elsewhere?: StateElsewhere
}

/** What actions have learned to need by their past. */
export interface LearnedOverview {
  /** `hint`: what follows from it is told, and changes nothing. */
  readonly use: 'off' | 'hint' | 'on'
  /** The properties for memory and processors that `supported_platform_properties` compares as amounts: others are not reserved. */
  readonly compared: readonly string[]
  /** The one used last first. Read it in turns of the event loop: there may be thousands. */
  readonly kinds: Iterable<LearnedKind>
}

/** The actions of one target and mnemonic, in one instance and scope. */
export interface LearnedKind extends Pick<ActionFacts, 'instance' | 'target' | 'mnemonic'> {
  readonly scope?: string
  /** Of the last runs; zeros if none has told it. */
  readonly memory: { readonly runs: number; readonly mostBytes: number; readonly nextBytes: number }
  readonly cpus: { readonly runs: number; readonly most: number; readonly next: number }
  /** What attempts ask for in place of less, since one was ended at its own limit of memory; 0 before. */
  readonly raisedBytes: number
}

/** The actions that ask for the same properties of a worker, but for amounts. There may be no such worker. */
export interface PlatformDemand {
  /** Names and values that have to be equal; `*` for any value. */
  readonly properties: readonly (readonly [name: string, value: string])[]
  readonly queued: number
  /** Given to a worker, where some may wait for a slot. */
  readonly running: number
  /** Sums of what they ask of `minimum` properties, by name. */
  readonly amounts: ReadonlyMap<string, { readonly queued: number; readonly running: number }>
}

/** What lists of queued actions have at most where they cannot be read to their end. */
export const MAX_LISTED_QUEUED = 2_000

export interface StuckActions {
  readonly count: number
  readonly reason: string
}

/** What an action is, and the build it belongs to. */
export interface ActionFacts {
  readonly instance: string
  /** The digest of the Action, `HASH-SIZE`. */
  readonly action: string
  /** `target_id`, `action_mnemonic` and `tool_invocation_id` of the client's metadata. */
  readonly target?: string
  readonly mnemonic?: string
  readonly invocation?: string
  /** Name and version of the client's tool. */
  readonly tool?: string
  /** The caller, if results must record it. */
  readonly identity?: string
}

export interface FailedAction extends ActionFacts {
  readonly operation: string
  /** `failure`: the command's exit code is not 0. */
  readonly result: 'failure' | 'timeout' | 'error'
  readonly exitCode?: number
  readonly worker?: string
  readonly code?: string
  readonly reason?: string
  /** Digests in the CAS, `HASH-SIZE`. */
  readonly stdout?: string
  readonly stderr?: string
  /** Of the response that is kept for pages. */
  readonly response?: string
  readonly attempts: number
  readonly endedMs: number
  /** Since it was queued. */
  readonly tookMs: number
}

export interface WorkerOverview {
  readonly id: string
  readonly name: string
  readonly state: string
  /** Why it gets no actions, if it is sick or set aside. */
  readonly trouble?: string
  /** Whether an operator has drained it, and may end that. */
  readonly isDrainedByOperator: boolean
  /** Attempts that hold a slot. */
  readonly running: number
  /** Attempts that wait at the worker for a slot. */
  readonly waiting: number
  /** Number of slots; null for no limit. */
  readonly places: number | null
  readonly properties: Readonly<Record<string, readonly string[]>>
  /** Unreserved amount of each `minimum` property. */
  readonly left: Readonly<Record<string, number>>
  readonly heardMs: number
  /** Persistent worker processes; absent if it has told of none. */
  readonly persistent?: { readonly idle: number; readonly busy: number; readonly residentBytes: number }
  /** Kept input roots; absent if it has told of none. */
  readonly roots?: { readonly kept: number; readonly fileBytes: number }
  readonly attempts: readonly AttemptOverview[]
}

/** Without the facts if no client waits for the attempt any more. */
export interface AttemptOverview extends Partial<ActionFacts> {
  readonly id: string
  readonly operation: string | null
  readonly state: string
  readonly startedMs: number
}

/** A queued action, with what lists are filtered by. */
export interface QueuedAction extends Pick<ActionFacts, 'instance' | 'action' | 'invocation'> {
  /** All about it, which takes longer. */
  readonly overview: () => QueuedOverview
}

export interface QueuedOverview extends ActionFacts {
  readonly operation: string
  readonly priority: number
  readonly attempts: number
  readonly queuedMs: number
  /** Looks at every worker. */
  readonly waitsFor: () => string
}

export interface WorkerPool {
  /** Maximum time between two messages of a worker. */
  readonly keepAliveIntervalMs: number

  /**
   * Handles a worker's Hello. Known attempts of the worker continue. For a while after a start, attempts of
   * the previous scheduler process continue too. Throws INVALID_ARGUMENT if an amount in the offer is no
   * whole number.
   */
  connectWorker(offer: WorkerOffer, previous: WorkerPast, link: WorkerLink): WorkerSession

  /** The term of the leader of several servers; absent if there are no others. */
  readonly term?: { readonly epoch: number; readonly termKey: string } | undefined

  /**
   * The server whose workers these are, if another one leads: all that a worker says goes there. `identity` is that of the
   * worker's connection. Undefined if this server takes workers itself; rejects if nobody leads.
   */
  upstream?(identity: string | undefined, signal: AbortSignal): Promise<WorkerUpstream> | undefined
}

/** The header by which a server that relays a worker says who it is known as, in Base64. */
export const WORKER_IDENTITY = 'remexec-worker-identity'

/** The stream of a worker to the server that leads: its messages go in, those for it come out. */
export interface WorkerUpstream extends Readable {
  readonly writableNeedDrain?: boolean
  write(message: object): boolean
}

/** The connection to a worker. `welcome` comes first; no call follows `close` or `disconnected`. */
export interface WorkerLink {
  /** The worker sends `workerKey` in its next Hello to prove that it owns the id. */
  welcome(workerId: string, workerKey: string): void
  start(attempt: StartAttempt): void
  kill(attemptId: string): void
  acknowledge(attemptId: string): void
  /** Asks for what an attempt has printed; `WorkerSession.printed` gets the answer, if the worker gives one. */
  readPrinted(
    asked: { readonly id: number; readonly attemptId: string; readonly maxBytes: number } & PrintedOffsets,
  ): void
  drain(): void
  /** The scheduler gave the worker up, or a newer connection replaced this one. */
  close(error: StatusError): void
}

/** Events from a worker. */
export interface WorkerSession {
  readonly workerId: string
  keepAlive(): void
  /** `stage`: fetching inputs 1, running 2, uploading outputs 3. `waitsFor`: what it waits for before it begins. */
  progress(attemptId: string, stage: number, waitsFor?: string): void
  report(attemptId: string, response: ExecuteResponse, run?: RunFacts): void
  workerError(attemptId: string, error: StatusError): void
  refuse(attemptId: string, error: StatusError): void
  /** The worker had no free slot in time and did not start the attempt; or it `stops`, and has ended the attempt for that. */
  giveBack(attemptId: string, stops?: boolean): void
  /** The answer to `WorkerLink.readPrinted`; undefined if the attempt does not run there. */
  printed(id: number, printed: PrintedOutput | undefined): void
  /** The worker can run nothing for this reason; '' when it can again. */
  health(sick: string): void
  /** What the worker holds ready for actions since it told last, and what it holds no more. */
  warm(added: readonly string[], dropped: readonly string[]): void
  /** Its persistent worker processes or kept input roots, and what happened to them since it told last. */
  keeps(told: Keeps): void
  goingAway(): void
  disconnected(): void
}

/** Whom to ask what an action of this scheduler prints. */
export const tellerOf = (scheduler: Scheduler | undefined): TellsPrinted | undefined =>
  scheduler?.operator ?? scheduler?.elsewhere
