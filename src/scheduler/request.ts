import type { StatusError } from '../base/status-error.js'
import type { TraceContext } from '../base/trace.js'
import type { ExecuteResponse } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../reapi/digest.js'
import type { PlatformProperty } from '../reapi/platform.js'

/** What a client wants to have run: data only, so that whoever runs it may be another process. */
export interface ExecutionRequest {
  readonly instanceName: string
  readonly actionDigest: Digest
  readonly properties: readonly PlatformProperty[]
  /** The Action itself, where it is small, for its worker. */
  readonly actionBytes?: Buffer | undefined
  /** Where the paths of its outputs start, relative to the input root; undefined where nobody told. */
  readonly workingDirectory?: string | undefined
  /** Lower runs sooner; 0 is usual. */
  readonly priority: number
  /** The action runs for this client alone, and its result is not kept. */
  readonly doNotCache: boolean
  /** No result from before the request will do; one that is being made does. */
  readonly skipCacheLookup: boolean
  /** Action caches that are asked beside the one of the instance, and before it: names of stores. */
  readonly lookUpIn?: readonly string[]
  /** The build that it is a part of, as its client calls it; empty where it calls it nothing. */
  readonly invocation: string
  /** What is built, and by what kind of action, as the client calls them. */
  readonly target?: string
  readonly mnemonic?: string
  /** What the run is a piece of, where that is traced. Of several clients the first is asked. */
  readonly trace?: TraceContext | undefined
  /** The REAPI RequestMetadata of the client, as it came. */
  readonly metadata?: Buffer | undefined
  /** Who asks, where results are to say so. */
  readonly identity?: string | undefined
  /** Why it cannot be run: its operation is over when it begins. */
  readonly refusal?: StatusError
}

export type Stage = 'CACHE_CHECK' | 'QUEUED' | 'EXECUTING' | 'COMPLETED'

/** How an operation ended: with what a worker or the action cache answered, or with an error of ours. */
export type Outcome = { readonly response: ExecuteResponse } | { readonly error: StatusError }

/** What a client sees of its operation. `outcome` is there exactly when the stage is COMPLETED. */
export interface OperationState {
  readonly name: string
  readonly instanceName: string
  readonly actionDigest: Digest
  readonly stage: Stage
  readonly outcome: Outcome | undefined
  /** The trace of another client's run that this one waits for. */
  readonly joined?: TraceContext | undefined
  /** For who asks for it, while it is under way. */
  readonly progress?: Progress | undefined
}

/** Where an operation is and why it is not further. */
export interface Progress {
  /** In words; empty when it does not wait. */
  readonly waitsFor: string
  /** While it waits: how many of equal requirements are ahead (at most 100), and how many wait altogether. */
  readonly position: number
  readonly queueLength: number
  /** Which try this is, from 1; 0 before the first. */
  readonly attempt: number
  /** Empty where it runs nowhere. */
  readonly workerId: string
  readonly queuedMs: number | undefined
  readonly startedMs: number | undefined
}

/** An operation in a list, and where the list goes on behind it. */
export interface ListedOperation {
  readonly state: OperationState
  readonly cursor: string
}

/** Where an action is run: what a worker is told. */
export interface StartAttempt {
  readonly attemptId: string
  /** The operation that asked first, for logs and directory names. */
  readonly operationName: string
  readonly request: ExecutionRequest
  readonly queuedMs: number
  /** Since when it was in the queue, this time. */
  readonly waitingSinceMs: number
}

/** An attempt as its worker tells of it to a scheduler that may not know it. */
export type BroughtAttempt = Pick<StartAttempt, 'attemptId' | 'operationName' | 'request' | 'queuedMs'>

/** What a worker that connects again had before. */
export interface WorkerPast {
  /** What its last connection was given; '' for none. */
  readonly workerId: string
  /** What shows that this id is its own; '' for nothing. */
  readonly workerKey?: string
  /** The attempts it still runs or has results of. */
  readonly attemptIds: readonly string[]
  /** What those were started with, as far as it tells, by their ids. */
  readonly brought?: ReadonlyMap<string, BroughtAttempt>
}

export interface WorkerOffer {
  readonly name: string
  /** Every value satisfies `exact`; of a `minimum` property the largest counts. */
  readonly properties: ReadonlyMap<string, readonly string[]>
  /** Infinity for no limit. */
  readonly maxInflightAttempts: number
  /** How many more may wait there for a place. Default 0. */
  readonly maxWaitingAttempts?: number
}
