import type { ExecuteResponse } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'

/** How a client's operation ended. `failure` is a command that failed, and whatever else is no other of these. */
export type ExecutionResult = 'success' | 'failure' | 'timeout' | 'cache_hit' | 'cancelled'

/** `timeout` is a worker that was not heard of, or did not confirm a kill, for too long. */
export type WorkerEvent = 'connected' | 'disconnected' | 'timeout'

/** Counts the transitions of the state machine, as they happen and each once. */
export interface SchedulerMeter {
  /** An operation of a client ended: every one that was opened does so once. */
  completed(result: ExecutionResult, actionDigest: Digest): void
  /** An execution left the queue for a worker after that long. */
  dequeued(waitedMs: number): void
  /** An attempt came to nothing and its execution is tried again. */
  retried(): void
  /** A worker reported how an attempt went: its response tells what took how long. */
  reported(response: ExecuteResponse): void
  worker(event: WorkerEvent): void
}

export const unmetered: SchedulerMeter = {
  completed: () => {},
  dequeued: () => {},
  retried: () => {},
  reported: () => {},
  worker: () => {},
}

/** What occupies the queue and the workers now. */
export interface SchedulerActivity {
  readonly executions: Iterable<ActiveExecution>
  /** Age of what has waited longest in the queue; 0 when it is empty. */
  readonly oldestQueuedMs: number
  readonly workers: readonly ActiveWorker[]
}

export interface ActiveExecution {
  /** `queued` also where it waits at a worker for a place. */
  readonly stage: 'queued' | 'executing'
  readonly priority: number
  /** Empty of one that waits. */
  readonly workerId: string
}

export interface ActiveWorker {
  readonly id: string
  readonly name: string
  readonly state: 'connected' | 'draining' | 'away'
  readonly running: number
  /** Infinity for no limit. */
  readonly maxInflightAttempts: number
  readonly heardMs: number
}
