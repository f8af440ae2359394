/**
 * How an action runs, for whoever reads this room first.
 *
 * A client's request is an **operation**. It has a name that only its client knows, `{instance name}/operations/{uuid}`,
 * and goes through the stages of REAPI: CACHE_CHECK (`open`), QUEUED and EXECUTING (`enqueue`), COMPLETED. What is
 * queued is an **execution**: identical shareable actions of one instance wait for one execution, each client with its
 * own operation, so cancelling ends one client's operation and the run only when nobody is left. Each run of an
 * execution on a worker is an **attempt**; a lost worker, a worker's error or a stuck attempt leads to another one until
 * `max_job_retries`; then the last error is the outcome.
 *
 * `simple.ts` decides all this as a state machine: events with a time go in, commands come out. `host.ts` feeds it the
 * clock and carries out its commands:
 *
 *   publish      show an operation's new state to those who watch it
 *   settle       do what must be done before a result is shown; abandon: that will not be needed
 *   joined       tell a request that it waits for a run that is in the trace of another
 *   start        send an attempt to a worker; kill: have it stopped; acknowledge: its result has arrived
 *   drain        ask a worker to finish; evict: close its connection
 *   log          tell the operator
 *
 * In there: `operations.ts` is the clients' half (names, listeners, retention), `dispatch.ts` and `workers.ts` the
 * workers' half, `queue.ts` what waits, by requirement, and `unmatched.ts` what no worker can run.
 */
import type { HealthProbe } from '../base/health.js'
import type { StatusError } from '../base/status-error.js'
import type { ExecuteResponse } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../reapi/digest.js'
import type { PlatformProperty } from '../reapi/platform.js'
import type { ActionRequest, OperationState, Outcome, StartAttempt, WorkerOffer } from './simple/state/state.js'

export type { ActionRequest, OperationState, Outcome, Stage, StartAttempt, WorkerOffer } from './simple/state/state.js'

/** What is done with a result before clients see it, once an execution. Must end in bounded time. */
export type Settle = (response: ExecuteResponse) => Promise<ExecuteResponse>

/** What services ask of a scheduler. Everything is in memory: nothing here waits except `watch`. */
export interface Scheduler {
  /** How often a worker should be heard of, at the least. */
  readonly keepAliveIntervalMs: number
  readonly probe: HealthProbe

  /** INVALID_ARGUMENT names a property that is not declared, and an amount that is no whole number. */
  checkPlatform(properties: readonly PlatformProperty[]): void

  /** Begins a client's operation in the stage CACHE_CHECK. `name` is new and ends in a slash and an id of its own. */
  open(name: string, instanceName: string, actionDigest: Digest): void

  /**
   * Queues the operation, or lets it join a run under way. What cannot be queued (RESOURCE_EXHAUSTED, UNAVAILABLE, both
   * with RetryInfo) completes the operation with that error.
   */
  enqueue(name: string, request: ActionRequest, settle: Settle): void

  /** Ends an operation that is not queued, with a cached result or an error. Nothing happens when it has ended. */
  complete(name: string, outcome: Outcome): void

  /**
   * The operation as it is now, at once, then each further state up to COMPLETED; a slow reader sees the newest only.
   * Counts as a client that listens. undefined when there is no such operation. Ends early, without an error, when
   * `signal` aborts; fails with UNAVAILABLE when the scheduler stops.
   */
  watch(name: string, signal: AbortSignal): AsyncGenerator<OperationState> | undefined

  /** The operation as it is now; asking counts as a client that came and went. */
  get(name: string): OperationState | undefined

  /** Oldest first. Not to be kept across events. */
  operations(): Iterable<OperationState>

  /** False when there is no such operation. A finished one stays as it is. */
  cancel(name: string): boolean

  /** False when there is no such operation. Deleting does not cancel. */
  delete(name: string): boolean

  /**
   * A worker said Hello. `previous` is what its last connection was given (`''` for none) and the attempts it still runs
   * or has results of. INVALID_ARGUMENT when an amount it offers is no whole number.
   */
  connectWorker(
    offer: WorkerOffer,
    previous: { readonly workerId: string; readonly attemptIds: readonly string[] },
    link: WorkerLink,
  ): WorkerSession

  /** Starts nothing any more: queues refuse, workers are asked to finish. */
  drain(): void
}

/** How the scheduler reaches a worker. `welcome` comes first, nothing comes after `close` or `disconnected`. */
export interface WorkerLink {
  welcome(workerId: string): void
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
  goingAway(): void
  disconnected(): void
}
