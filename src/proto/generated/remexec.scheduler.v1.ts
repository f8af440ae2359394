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
}

export interface ResultOriginInput {
  identity?: string | undefined
  workerId?: string | undefined
  workerIdentity?: string | undefined
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
