// Written by `npm run generate` from protos/. Do not edit.
import type * as google_protobuf from './google.protobuf.js'

export interface BuildEvent {
  eventTime: google_protobuf.Timestamp | null
  invocationAttemptStarted: BuildEventInvocationAttemptStarted | null
  invocationAttemptFinished: BuildEventInvocationAttemptFinished | null
  buildEnqueued: BuildEventBuildEnqueued | null
  buildFinished: BuildEventBuildFinished | null
  consoleOutput: BuildEventConsoleOutput | null
  componentStreamFinished: BuildEventBuildComponentStreamFinished | null
  bazelEvent: google_protobuf.Any | null
  buildExecutionEvent: google_protobuf.Any | null
  sourceFetchEvent: google_protobuf.Any | null
  /** Which one is set. */
  readonly event: 'invocationAttemptStarted' | 'invocationAttemptFinished' | 'buildEnqueued' | 'buildFinished' | 'consoleOutput' | 'componentStreamFinished' | 'bazelEvent' | 'buildExecutionEvent' | 'sourceFetchEvent' | undefined
}

export interface BuildEventInput {
  eventTime?: google_protobuf.TimestampInput | null | undefined
  invocationAttemptStarted?: BuildEventInvocationAttemptStartedInput | null | undefined
  invocationAttemptFinished?: BuildEventInvocationAttemptFinishedInput | null | undefined
  buildEnqueued?: BuildEventBuildEnqueuedInput | null | undefined
  buildFinished?: BuildEventBuildFinishedInput | null | undefined
  consoleOutput?: BuildEventConsoleOutputInput | null | undefined
  componentStreamFinished?: BuildEventBuildComponentStreamFinishedInput | null | undefined
  bazelEvent?: google_protobuf.AnyInput | null | undefined
  buildExecutionEvent?: google_protobuf.AnyInput | null | undefined
  sourceFetchEvent?: google_protobuf.AnyInput | null | undefined
}

export interface BuildEventBuildComponentStreamFinished {
  type: number
}

export interface BuildEventBuildComponentStreamFinishedInput {
  type?: number | undefined
}

export const BuildEventBuildComponentStreamFinishedFinishType = {
  FINISH_TYPE_UNSPECIFIED: 0,
  FINISHED: 1,
  EXPIRED: 2,
} as const

export interface BuildEventBuildEnqueued {
  details: google_protobuf.Any | null
}

export interface BuildEventBuildEnqueuedInput {
  details?: google_protobuf.AnyInput | null | undefined
}

export interface BuildEventBuildFinished {
  status: BuildStatus | null
  details: google_protobuf.Any | null
}

export interface BuildEventBuildFinishedInput {
  status?: BuildStatusInput | null | undefined
  details?: google_protobuf.AnyInput | null | undefined
}

export interface BuildEventConsoleOutput {
  type: number
  textOutput: string
  binaryOutput: Buffer
  /** Which one is set. */
  readonly output: 'textOutput' | 'binaryOutput' | undefined
}

export interface BuildEventConsoleOutputInput {
  type?: number | undefined
  textOutput?: string | undefined
  binaryOutput?: Uint8Array | undefined
}

export interface BuildEventInvocationAttemptFinished {
  invocationStatus: BuildStatus | null
  details: google_protobuf.Any | null
}

export interface BuildEventInvocationAttemptFinishedInput {
  invocationStatus?: BuildStatusInput | null | undefined
  details?: google_protobuf.AnyInput | null | undefined
}

export interface BuildEventInvocationAttemptStarted {
  attemptNumber: number
  details: google_protobuf.Any | null
}

export interface BuildEventInvocationAttemptStartedInput {
  attemptNumber?: number | undefined
  details?: google_protobuf.AnyInput | null | undefined
}

export interface StreamId {
  buildId: string
  component: number
  invocationId: string
}

export interface StreamIdInput {
  buildId?: string | undefined
  component?: number | undefined
  invocationId?: string | undefined
}

export const StreamIdBuildComponent = {
  UNKNOWN_COMPONENT: 0,
  CONTROLLER: 1,
  WORKER: 2,
  TOOL: 3,
} as const

export const ConsoleOutputStream = {
  UNKNOWN: 0,
  STDOUT: 1,
  STDERR: 2,
} as const

export interface BuildStatus {
  result: number
  details: google_protobuf.Any | null
  finalInvocationId: string
  buildToolExitCode: google_protobuf.Int32Value | null
  errorMessage: string
}

export interface BuildStatusInput {
  result?: number | undefined
  details?: google_protobuf.AnyInput | null | undefined
  finalInvocationId?: string | undefined
  buildToolExitCode?: google_protobuf.Int32ValueInput | null | undefined
  errorMessage?: string | undefined
}

export const BuildStatusResult = {
  UNKNOWN_STATUS: 0,
  COMMAND_SUCCEEDED: 1,
  COMMAND_FAILED: 2,
  USER_ERROR: 3,
  SYSTEM_ERROR: 4,
  RESOURCE_EXHAUSTED: 5,
  INVOCATION_DEADLINE_EXCEEDED: 6,
  CANCELLED: 7,
  REQUEST_DEADLINE_EXCEEDED: 8,
} as const

export interface OrderedBuildEvent {
  streamId: StreamId | null
  sequenceNumber: number
  event: BuildEvent | null
}

export interface OrderedBuildEventInput {
  streamId?: StreamIdInput | null | undefined
  sequenceNumber?: number | undefined
  event?: BuildEventInput | null | undefined
}

export interface PublishBuildToolEventStreamRequest {
  orderedBuildEvent: OrderedBuildEvent | null
  notificationKeywords: string[]
  projectId: string
  checkPrecedingLifecycleEventsPresent: boolean
}

export interface PublishBuildToolEventStreamRequestInput {
  orderedBuildEvent?: OrderedBuildEventInput | null | undefined
  notificationKeywords?: readonly string[] | undefined
  projectId?: string | undefined
  checkPrecedingLifecycleEventsPresent?: boolean | undefined
}

export interface PublishBuildToolEventStreamResponse {
  streamId: StreamId | null
  sequenceNumber: number
}

export interface PublishBuildToolEventStreamResponseInput {
  streamId?: StreamIdInput | null | undefined
  sequenceNumber?: number | undefined
}

export interface PublishLifecycleEventRequest {
  serviceLevel: number
  buildEvent: OrderedBuildEvent | null
  streamTimeout: google_protobuf.Duration | null
  notificationKeywords: string[]
  projectId: string
  checkPrecedingLifecycleEventsPresent: boolean
}

export interface PublishLifecycleEventRequestInput {
  serviceLevel?: number | undefined
  buildEvent?: OrderedBuildEventInput | null | undefined
  streamTimeout?: google_protobuf.DurationInput | null | undefined
  notificationKeywords?: readonly string[] | undefined
  projectId?: string | undefined
  checkPrecedingLifecycleEventsPresent?: boolean | undefined
}

export const PublishLifecycleEventRequestServiceLevel = {
  NONINTERACTIVE: 0,
  INTERACTIVE: 1,
} as const
