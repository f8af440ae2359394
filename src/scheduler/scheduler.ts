/**
 * What runs actions, for whoever reads this room first.
 *
 * A client's request is an **operation**, named `{instance name}/operations/{scheduler}/{id}`; only its client knows the
 * id. It goes through the stages of REAPI: CACHE_CHECK, QUEUED, EXECUTING, COMPLETED. A scheduler takes requests, tells
 * of its operations, and is one of the kinds of `kinds.ts`: `kind/` has a file for each. Some wrap another scheduler and
 * change what passes (`forwarding.ts`); `grpc` asks another server; `simple` is where actions are queued and handed to
 * workers (`simple/host.ts`). Only data passes in and out, and nothing is answered at once: what is behind this interface
 * may be in another process.
 */

import type { StatusError } from '../base/status-error.js'
import type { ActionResult, ExecuteResponse } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { PlatformProperty } from '../reapi/platform.js'
import type {
  ExecutionRequest,
  ListedOperation,
  OperationState,
  StartAttempt,
  WorkerOffer,
  WorkerPast,
} from './request.js'

export type * from './request.js'

export interface Scheduler {
  /** Where workers connect; undefined where workers belong to another server. */
  readonly workers: WorkerPool | undefined

  /** For operators; undefined where queue and workers belong to another server. */
  readonly operator: SchedulerOperator | undefined

  /** Rejects with INVALID_ARGUMENT for properties that nobody here can ever have. */
  checkPlatform(properties: readonly PlatformProperty[]): Promise<void>

  /** Begins an operation and answers its name. From there on everything is told in the operation. */
  execute(request: ExecutionRequest): Promise<string>

  /**
   * The operation as it is now, at once, then each further state up to COMPLETED; a slow reader sees the newest only.
   * Counts as a client that listens. Ends early, without an error, when `signal` aborts; fails with NOT_FOUND when there is
   * no such operation, and with UNAVAILABLE when the scheduler stops.
   */
  watch(name: string, signal: AbortSignal): AsyncGenerator<OperationState>

  /** The operation as it is now; asking counts as a client that came and went. */
  get(name: string): Promise<OperationState | undefined>

  /** The operations of an instance, oldest first, behind the one with that cursor; '' is the beginning. */
  operations(instanceName: string, after: string): AsyncIterable<ListedOperation>

  /** False when there is no such operation. A finished one stays as it is. */
  cancel(name: string): Promise<boolean>

  /** False when there is no such operation. Deleting does not cancel. */
  delete(name: string): Promise<boolean>

  /** Starts nothing any more: queues refuse, workers are asked to finish. */
  drain(): void

  /** Resolves when nothing runs any more and every outcome is there, or after `limitMs`. */
  idle(limitMs: number): Promise<void>

  /** Ends every watch and connection with UNAVAILABLE. */
  close(): void
}

/** The results of actions, as the instances of the process keep them: the one place where schedulers read and write them. */
export interface ActionResults {
  /** A result from before; undefined for none. Never rejects: an action cache that does not work costs a run. */
  find(request: ExecutionRequest): Promise<ActionResult | undefined>

  /** Keeps what a worker answered, where it may be kept, and answers what clients are shown. Never rejects. */
  keep(request: ExecutionRequest, response: ExecuteResponse): Promise<ExecuteResponse>
}

/** What operators see and do beyond operations. */
export interface SchedulerOperator {
  overview(): SchedulerOverview
  /** The worker takes nothing new; what it runs goes on. False when there is no such worker. */
  drainWorker(workerId: string): boolean
  /** It takes actions again. False when there is no such worker, or when it is leaving by itself. */
  undrainWorker(workerId: string): boolean
}

export interface SchedulerOverview {
  readonly workers: readonly WorkerOverview[]
  readonly queued: number
  /** What waits, at most the first thousand of each requirement by arrival. */
  readonly queue: readonly QueuedOverview[]
}

export interface WorkerOverview {
  readonly id: string
  readonly name: string
  readonly state: string
  /** Attempts that have a place. */
  readonly running: number
  /** Those that wait there for one. */
  readonly waiting: number
  /** Null for no limit. */
  readonly places: number | null
  readonly properties: Readonly<Record<string, readonly string[]>>
  /** What is left of each `minimum` property. */
  readonly left: Readonly<Record<string, number>>
  readonly heardMs: number
  readonly attempts: readonly AttemptOverview[]
}

export interface AttemptOverview {
  readonly id: string
  readonly operation: string | null
  readonly state: string
  readonly startedMs: number
}

export interface QueuedOverview {
  readonly operation: string
  readonly instance: string
  readonly action: string
  readonly priority: number
  readonly attempts: number
  readonly queuedMs: number
  readonly waitsFor: string
}

export interface WorkerPool {
  /** How often a worker should be heard of, at the least. */
  readonly keepAliveIntervalMs: number

  /**
   * A worker said Hello. What it ran before and this scheduler knows goes on; so does, for a while after a start, what the
   * scheduler before this one had given it. INVALID_ARGUMENT when an amount it offers is no whole number.
   */
  connectWorker(offer: WorkerOffer, previous: WorkerPast, link: WorkerLink): WorkerSession
}

/** How the scheduler reaches a worker. `welcome` comes first, nothing comes after `close` or `disconnected`. */
export interface WorkerLink {
  /** `workerKey` shows in the worker's next Hello that the id is its own. */
  welcome(workerId: string, workerKey: string): void
  start(attempt: StartAttempt): void
  kill(attemptId: string): void
  acknowledge(attemptId: string): void
  drain(): void
  /** The scheduler gave the worker up, or another connection took its place. */
  close(error: StatusError): void
}

/** What a worker says. */
export interface WorkerSession {
  readonly workerId: string
  keepAlive(): void
  /** Fetching inputs 1, running 2, uploading outputs 3. */
  progress(attemptId: string, stage: number): void
  report(attemptId: string, response: ExecuteResponse): void
  workerError(attemptId: string, error: StatusError): void
  refuse(attemptId: string, error: StatusError): void
  /** It had no place for it in time, and has not begun it. */
  giveBack(attemptId: string): void
  goingAway(): void
  disconnected(): void
}
