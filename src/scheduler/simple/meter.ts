import type { ExecuteResponse } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import type { KeptRoots, PersistentEvent, PersistentWorkers } from '../request.js'
import type { PlatformDemand } from '../scheduler.js'

/** How a client's operation ended. `failure` covers failed commands and every other error. */
export type ExecutionResult = 'success' | 'failure' | 'timeout' | 'cache_hit' | 'cancelled'

/**
 * `timeout`: the worker was silent, or did not confirm a kill, for too long. `sick`: it said that it can run nothing.
 * `set_aside`: several actions in a row failed there by its own fault.
 */
export type WorkerEvent = 'connected' | 'disconnected' | 'timeout' | 'sick' | 'set_aside'

/** Counts each transition of the state machine once. */
export interface SchedulerMeter {
  /** A client's operation ended. Every opened operation ends once. */
  completed(result: ExecutionResult, actionDigest: Digest, instanceName: string): void
  /** An execution left the queue for a worker. */
  dequeued(waitedMs: number): void
  /** An attempt failed and its execution is retried. */
  retried(): void
  /** A worker reported a result; the response contains the timings. */
  reported(response: ExecuteResponse): void
  worker(event: WorkerEvent): void
  /** A worker told what happened to its persistent workers. */
  persistent(events: readonly PersistentEvent[]): void
  /** A worker told how its actions got their input roots. */
  roots(told: KeptRoots): void
}

export const unmetered: SchedulerMeter = {
  completed: () => {},
  dequeued: () => {},
  retried: () => {},
  reported: () => {},
  worker: () => {},
  persistent: () => {},
  roots: () => {},
}

/** What a server knows of the election of a scheduler that several servers have. */
export interface ElectionFacts {
  readonly scheduler: string
  readonly leads: boolean
  /** 0 if nobody is known to lead. */
  readonly term: number
  /** Joined to this leader, itself among them; 0 where another server leads. */
  readonly servers: number
  readonly engineSilentMs: number
  /** Of the present office here. */
  readonly rebuildMs: number | undefined
  readonly offices: number
  /** Leaders of earlier terms that were not obeyed. */
  readonly refused: number
  readonly handedInAgain: number
}

/** What the queue and the workers are busy with now. */
export interface SchedulerActivity {
  /** Queued ones are counted by priority, because a build may queue very many. */
  readonly executions: readonly ActiveExecutions[]
  /** Age of the oldest queued execution; 0 if the queue is empty. */
  readonly oldestQueuedMs: number
  readonly workers: readonly ActiveWorker[]
  readonly demand: readonly PlatformDemand[]
}

export interface ActiveExecutions {
  /** `queued` includes executions that wait at a worker for a slot. */
  readonly stage: 'queued' | 'executing'
  readonly priority: number
  /** Empty for queued executions. */
  readonly workerId: string
  readonly count: number
}

export interface ActiveWorker {
  readonly id: string
  readonly name: string
  readonly state: 'connected' | 'draining' | 'away' | 'sick' | 'set_aside'
  readonly running: number
  /** Infinity for no limit. */
  readonly maxInflightAttempts: number
  readonly heardMs: number
  readonly persistent?: Pick<PersistentWorkers, 'idle' | 'busy' | 'residentBytes'> | undefined
  readonly roots?: Pick<KeptRoots, 'kept'> | undefined
}
