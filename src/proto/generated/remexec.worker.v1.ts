// Written by `npm run generate` from protos/. Do not edit.
import type * as build_bazel_remote_execution_v2 from './build.bazel.remote.execution.v2.js'
import type * as google_protobuf from './google.protobuf.js'
import type * as google_rpc from './google.rpc.js'

export interface WorkerMessage {
  hello: Hello | null
  keepAlive: KeepAlive | null
  progress: Progress | null
  result: Result | null
  goingAway: GoingAway | null
  /** Which one is set. */
  readonly message: 'hello' | 'keepAlive' | 'progress' | 'result' | 'goingAway' | undefined
}

export interface WorkerMessageInput {
  hello?: HelloInput | null | undefined
  keepAlive?: KeepAliveInput | null | undefined
  progress?: ProgressInput | null | undefined
  result?: ResultInput | null | undefined
  goingAway?: GoingAwayInput | null | undefined
}

export interface SchedulerMessage {
  welcome: Welcome | null
  start: Start | null
  kill: Kill | null
  resultAck: ResultAck | null
  drain: Drain | null
  /** Which one is set. */
  readonly message: 'welcome' | 'start' | 'kill' | 'resultAck' | 'drain' | undefined
}

export interface SchedulerMessageInput {
  welcome?: WelcomeInput | null | undefined
  start?: StartInput | null | undefined
  kill?: KillInput | null | undefined
  resultAck?: ResultAckInput | null | undefined
  drain?: DrainInput | null | undefined
}

export interface Hello {
  protocolVersion: number
  name: string
  properties: OfferedProperty[]
  maxInflightAttempts: number
  workerId: string
  attemptIds: string[]
}

export interface HelloInput {
  protocolVersion?: number | undefined
  name?: string | undefined
  properties?: readonly OfferedPropertyInput[] | undefined
  maxInflightAttempts?: number | undefined
  workerId?: string | undefined
  attemptIds?: readonly string[] | undefined
}

export interface OfferedProperty {
  name: string
  values: string[]
}

export interface OfferedPropertyInput {
  name?: string | undefined
  values?: readonly string[] | undefined
}

export interface Welcome {
  workerId: string
  keepAliveIntervalMs: number
}

export interface WelcomeInput {
  workerId?: string | undefined
  keepAliveIntervalMs?: number | undefined
}

export interface KeepAlive {
}

export interface KeepAliveInput {
}

export interface Start {
  attemptId: string
  operationName: string
  instanceName: string
  actionDigest: build_bazel_remote_execution_v2.Digest | null
  digestFunction: number
  properties: build_bazel_remote_execution_v2.PlatformProperty[]
  queuedTimestamp: google_protobuf.Timestamp | null
  traceparent: string
  tracestate: string
}

export interface StartInput {
  attemptId?: string | undefined
  operationName?: string | undefined
  instanceName?: string | undefined
  actionDigest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  digestFunction?: number | undefined
  properties?: readonly build_bazel_remote_execution_v2.PlatformPropertyInput[] | undefined
  queuedTimestamp?: google_protobuf.TimestampInput | null | undefined
  traceparent?: string | undefined
  tracestate?: string | undefined
}

export interface Progress {
  attemptId: string
  stage: number
}

export interface ProgressInput {
  attemptId?: string | undefined
  stage?: number | undefined
}

export const ProgressStage = {
  STAGE_UNSPECIFIED: 0,
  FETCHING_INPUTS: 1,
  RUNNING: 2,
  UPLOADING_OUTPUTS: 3,
} as const

export interface Result {
  attemptId: string
  executeResponse: build_bazel_remote_execution_v2.ExecuteResponse | null
  workerError: google_rpc.Status | null
  refused: google_rpc.Status | null
  /** Which one is set. */
  readonly outcome: 'executeResponse' | 'workerError' | 'refused' | undefined
}

export interface ResultInput {
  attemptId?: string | undefined
  executeResponse?: build_bazel_remote_execution_v2.ExecuteResponseInput | null | undefined
  workerError?: google_rpc.StatusInput | null | undefined
  refused?: google_rpc.StatusInput | null | undefined
}

export interface ResultAck {
  attemptIds: string[]
}

export interface ResultAckInput {
  attemptIds?: readonly string[] | undefined
}

export interface Kill {
  attemptId: string
}

export interface KillInput {
  attemptId?: string | undefined
}

export interface Drain {
}

export interface DrainInput {
}

export interface GoingAway {
}

export interface GoingAwayInput {
}
