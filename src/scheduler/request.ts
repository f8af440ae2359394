import type { StatusError } from '../base/status-error.js'
import type { ExecuteResponse } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../reapi/digest.js'
import type { PlatformProperty } from '../reapi/platform.js'
import type { TraceContext } from '../rpc/trace.js'

/** A client's request to run an action. Only data, because another process may run it. */
export interface ExecutionRequest {
  readonly instanceName: string
  readonly actionDigest: Digest
  readonly properties: readonly PlatformProperty[]
  /** The encoded Action for the worker, if it is small. */
  readonly actionBytes?: Buffer | undefined
  /** What names its input root at workers that keep it or a similar one: `reapi/root-keys.ts`. */
  readonly rootKeys?: readonly string[] | undefined
  /** Base of the output paths, relative to the input root; undefined if unknown. */
  readonly workingDirectory?: string | undefined
  /** As in REAPI: lower runs sooner, 0 is the default. */
  readonly priority: number
  /** The action runs for this client alone, and its result is not cached. */
  readonly doNotCache: boolean
  /** Accepts no result from before the request, but may join a run in progress. */
  readonly skipCacheLookup: boolean
  /** Names of stores: action caches asked before the instance's own. */
  readonly lookUpIn?: readonly string[]
  /** `tool_invocation_id` of the client's build; empty if the client sent none. */
  readonly invocation: string
  /** `target_id` and `action_mnemonic`, as the client sent them. */
  readonly target?: string
  readonly mnemonic?: string
  /** Parent of the run's trace. If several clients wait for one run, the first one's trace is used. */
  readonly trace?: TraceContext | undefined
  /** The client's REAPI RequestMetadata, encoded as received. */
  readonly metadata?: Buffer | undefined
  /** Name of the caller's scope; absent for a trusted caller. Its result is for everybody only if the run was confined. */
  readonly scope?: string | undefined
  /** The caller's identity, if results must record it. */
  readonly identity?: string | undefined
  /** Why the action cannot run. The operation completes with this error at once. */
  readonly refusal?: StatusError
}

/** An operation that another server has for its client, and hands in for it. */
export interface HandedOperation {
  /** Last part of the operation's name. Handed in once more, it is the same operation. */
  readonly id: string
  /** Set if a scheduler had it before, perhaps another process. */
  readonly past?: OperationPast | undefined
  /** The server that hands it in has just looked for a result. */
  readonly wasLookedUp?: boolean
}

/** What a scheduler has to know of an operation that it takes over. */
export interface OperationPast {
  /** When it was queued first. */
  readonly queuedMs: number
  /** How often its action was given to a worker. */
  readonly attempts: number
  /** How many of these attempts counted as failures. */
  readonly failures: number
  /** The attempt that a worker has, as far as is known. */
  readonly running?: RunningAttempt | undefined
}

export interface RunningAttempt {
  readonly attemptId: string
  readonly workerId: string
  /** Of the run: an operation may have joined that of other callers. */
  readonly scope: string
}

export type Stage = 'CACHE_CHECK' | 'QUEUED' | 'EXECUTING' | 'COMPLETED'

/** How an operation ended: a response of a worker or an action cache, or an error of the server. */
export type Outcome = { readonly response: ExecuteResponse } | { readonly error: StatusError }

/** A client's view of its operation. `outcome` is set if and only if the stage is COMPLETED. */
export interface OperationState {
  readonly name: string
  readonly instanceName: string
  readonly actionDigest: Digest
  readonly stage: Stage
  readonly outcome: Outcome | undefined
  /** Trace of another client's run, if this operation joined that run. */
  readonly joined?: TraceContext | undefined
  /** What another scheduler would have to know to take it over, as of this state; undefined before it was queued. */
  readonly past?: OperationPast | undefined
  /** Details of an operation in progress. Absent from the updates of a running `watch`. */
  readonly progress?: Progress | undefined
}

/** Where an operation is, and why it is waiting. */
export interface Progress {
  /** The reason as text, also while its worker waits for something before it begins; empty if the operation is not waiting. */
  readonly waitsFor: string
  /** For waiting operations: actions of the same requirement ahead (at most 100), and all queued actions. */
  readonly position: number
  readonly queueLength: number
  /** Number of the current attempt, from 1; 0 before the first. */
  readonly attempt: number
  /** Empty if no worker runs it. */
  readonly workerId: string
  readonly queuedMs: number | undefined
  readonly startedMs: number | undefined
}

/** An operation in a list, and the cursor of the page that follows it. */
export interface ListedOperation {
  readonly state: OperationState
  readonly cursor: string
}

/** What a worker receives to start an attempt. */
export interface StartAttempt {
  readonly attemptId: string
  /** Operation of the first client, for logs and directory names. */
  readonly operationName: string
  readonly request: ExecutionRequest
  readonly queuedMs: number
  /** When it entered the queue for this attempt; retries count anew. */
  readonly waitingSinceMs: number
}

/** A running attempt as its worker describes it to a scheduler that may not know it. */
export type BroughtAttempt = Pick<StartAttempt, 'attemptId' | 'operationName' | 'request' | 'queuedMs'>

/** What a reconnecting worker had before. */
export interface WorkerPast {
  /** The id its last connection received; '' for none. */
  readonly workerId: string
  /** Proves that the worker owns `workerId`; '' for none. */
  readonly workerKey?: string
  /** Attempts that it still runs or whose results it still holds. */
  readonly attemptIds: readonly string[]
  /** How those attempts were started, by attempt id, as far as the worker reports it. */
  readonly brought?: ReadonlyMap<string, BroughtAttempt>
  /** The highest term of a leader that it has heard of. */
  readonly highestEpoch?: number
  /** Proves that there was such a term. */
  readonly termKey?: string
}

export interface WorkerOffer {
  readonly name: string
  /** Each value satisfies `exact`; for `minimum` the largest value counts. */
  readonly properties: ReadonlyMap<string, readonly string[]>
  /** Number of slots; Infinity for no limit. */
  readonly maxInflightAttempts: number
  /** How many further attempts may wait at the worker for a slot. Default 0. */
  readonly maxWaitingAttempts?: number
  /** Why the worker can run nothing now; empty while it is fine. */
  readonly sick?: string
  /** Whether its actions can change nothing but their outputs, and have no network. */
  readonly isConfined?: boolean
  /** Whether it runs actions in the images that they name. */
  readonly runsImages?: boolean
  /** What it holds ready for actions that ask for it: keys of `simple/warm/keys.ts`. */
  readonly warmKeys?: readonly string[]
}

/** The persistent worker processes of a worker. */
export interface PersistentWorkers {
  readonly idle: number
  readonly busy: number
  readonly residentBytes: number
  /** Since it said so last. */
  readonly events: readonly PersistentEvent[]
}

export interface PersistentEvent {
  readonly kind: 'reused' | 'started' | 'retried' | 'fell_back' | 'ended'
  /** One word; empty where there is none to tell. */
  readonly reason: string
  readonly count: number
}

/** The input roots that a worker keeps. */
export interface KeptRoots {
  readonly kept: number
  readonly fileBytes: number
  /** Since it said so last: input roots of attempts, by how they came about, and their files. */
  readonly equal: number
  readonly changed: number
  readonly fresh: number
  readonly placedFiles: number
  readonly untouchedFiles: number
}

/** What a worker tells of what it keeps between actions. */
export type Keeps = { readonly persistent: PersistentWorkers } | { readonly roots: KeptRoots }
