// Written by `npm run generate` from protos/. Do not edit.
import type * as build_bazel_remote_execution_v2 from './build.bazel.remote.execution.v2.js'
import type * as google_protobuf from './google.protobuf.js'

export interface KeptResponse {
  digest: build_bazel_remote_execution_v2.Digest | null
}

export interface KeptResponseInput {
  digest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
}

export interface ResultOrigin {
  identity: string
  workerId: string
  workerIdentity: string
  scope: string
  isConfined: boolean
  storedMs: number
}

export interface ResultOriginInput {
  identity?: string | undefined
  workerId?: string | undefined
  workerIdentity?: string | undefined
  scope?: string | undefined
  isConfined?: boolean | undefined
  storedMs?: number | undefined
}

export interface OperationProgress {
  waitsFor: string
  queuePosition: number
  queueLength: number
  attempt: number
  worker: string
  queuedTimestamp: google_protobuf.Timestamp | null
  attemptStartTimestamp: google_protobuf.Timestamp | null
}

export interface OperationProgressInput {
  waitsFor?: string | undefined
  queuePosition?: number | undefined
  queueLength?: number | undefined
  attempt?: number | undefined
  worker?: string | undefined
  queuedTimestamp?: google_protobuf.TimestampInput | null | undefined
  attemptStartTimestamp?: google_protobuf.TimestampInput | null | undefined
}

export interface GetStateRequest {
}

export interface GetStateRequestInput {
}

export interface StatePart {
  nowMs: number
  queued: number
  results: Count[]
  workers: WorkerState[]
  queue: QueuedAction[]
  failed: FailedAction[]
}

export interface StatePartInput {
  nowMs?: number | undefined
  queued?: number | undefined
  results?: readonly CountInput[] | undefined
  workers?: readonly WorkerStateInput[] | undefined
  queue?: readonly QueuedActionInput[] | undefined
  failed?: readonly FailedActionInput[] | undefined
}

export interface Count {
  name: string
  value: number
}

export interface CountInput {
  name?: string | undefined
  value?: number | undefined
}

export interface ActionFacts {
  instance: string
  action: string
  target: string
  mnemonic: string
  invocation: string
  tool: string
  identity: string
}

export interface ActionFactsInput {
  instance?: string | undefined
  action?: string | undefined
  target?: string | undefined
  mnemonic?: string | undefined
  invocation?: string | undefined
  tool?: string | undefined
  identity?: string | undefined
}

export interface WorkerState {
  id: string
  name: string
  state: string
  trouble: string
  isDrainedByOperator: boolean
  running: number
  waiting: number
  places: number
  properties: Property[]
  left: Count[]
  heardMs: number
  attempts: AttemptState[]
}

export interface WorkerStateInput {
  id?: string | undefined
  name?: string | undefined
  state?: string | undefined
  trouble?: string | undefined
  isDrainedByOperator?: boolean | undefined
  running?: number | undefined
  waiting?: number | undefined
  places?: number | undefined
  properties?: readonly PropertyInput[] | undefined
  left?: readonly CountInput[] | undefined
  heardMs?: number | undefined
  attempts?: readonly AttemptStateInput[] | undefined
}

export interface Property {
  name: string
  values: string[]
}

export interface PropertyInput {
  name?: string | undefined
  values?: readonly string[] | undefined
}

export interface AttemptState {
  id: string
  operation: string
  state: string
  startedMs: number
  facts: ActionFacts | null
}

export interface AttemptStateInput {
  id?: string | undefined
  operation?: string | undefined
  state?: string | undefined
  startedMs?: number | undefined
  facts?: ActionFactsInput | null | undefined
}

export interface QueuedAction {
  facts: ActionFacts | null
  operation: string
  priority: number
  attempts: number
  queuedMs: number
  waitsFor: string
}

export interface QueuedActionInput {
  facts?: ActionFactsInput | null | undefined
  operation?: string | undefined
  priority?: number | undefined
  attempts?: number | undefined
  queuedMs?: number | undefined
  waitsFor?: string | undefined
}

export interface FailedAction {
  facts: ActionFacts | null
  operation: string
  result: string
  hasExitCode: boolean
  exitCode: number
  worker: string
  code: string
  reason: string
  stdout: string
  stderr: string
  response: string
  attempts: number
  endedMs: number
  tookMs: number
}

export interface FailedActionInput {
  facts?: ActionFactsInput | null | undefined
  operation?: string | undefined
  result?: string | undefined
  hasExitCode?: boolean | undefined
  exitCode?: number | undefined
  worker?: string | undefined
  code?: string | undefined
  reason?: string | undefined
  stdout?: string | undefined
  stderr?: string | undefined
  response?: string | undefined
  attempts?: number | undefined
  endedMs?: number | undefined
  tookMs?: number | undefined
}
