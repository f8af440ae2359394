// Written by `npm run generate` from protos/. Do not edit.
import type * as build_bazel_remote_execution_v2 from './build.bazel.remote.execution.v2.js'
import type * as google_protobuf from './google.protobuf.js'
import type * as google_rpc from './google.rpc.js'

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
  process: string
  processRequest: number
}

export interface ResultOriginInput {
  identity?: string | undefined
  workerId?: string | undefined
  workerIdentity?: string | undefined
  scope?: string | undefined
  isConfined?: boolean | undefined
  storedMs?: number | undefined
  process?: string | undefined
  processRequest?: number | undefined
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

export interface ReadPrintedRequest {
  operation: string
  attemptId: string
  stdoutOffset: number
  stderrOffset: number
}

export interface ReadPrintedRequestInput {
  operation?: string | undefined
  attemptId?: string | undefined
  stdoutOffset?: number | undefined
  stderrOffset?: number | undefined
}

export interface ReadPrintedResponse {
  attemptId: string
  isTold: boolean
  stdout: Buffer
  stdoutSize: number
  stderr: Buffer
  stderrSize: number
}

export interface ReadPrintedResponseInput {
  attemptId?: string | undefined
  isTold?: boolean | undefined
  stdout?: Uint8Array | undefined
  stdoutSize?: number | undefined
  stderr?: Uint8Array | undefined
  stderrSize?: number | undefined
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
  stuck: number
  stuckReason: string
  demand: PlatformDemand[]
}

export interface StatePartInput {
  nowMs?: number | undefined
  queued?: number | undefined
  results?: readonly CountInput[] | undefined
  workers?: readonly WorkerStateInput[] | undefined
  queue?: readonly QueuedActionInput[] | undefined
  failed?: readonly FailedActionInput[] | undefined
  stuck?: number | undefined
  stuckReason?: string | undefined
  demand?: readonly PlatformDemandInput[] | undefined
}

export interface PlatformDemand {
  properties: Property[]
  queued: number
  running: number
  queuedAmounts: Count[]
  runningAmounts: Count[]
}

export interface PlatformDemandInput {
  properties?: readonly PropertyInput[] | undefined
  queued?: number | undefined
  running?: number | undefined
  queuedAmounts?: readonly CountInput[] | undefined
  runningAmounts?: readonly CountInput[] | undefined
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

export interface FrontMessage {
  hello: FrontHello | null
  handIn: HandIn | null
  attend: Attend | null
  leave: Leave | null
  holdingEnded: HoldingEnded | null
  kept: Kept | null
  termSeen: TermSeen | null
  /** Which one is set. */
  readonly message: 'hello' | 'handIn' | 'attend' | 'leave' | 'holdingEnded' | 'kept' | 'termSeen' | undefined
}

export interface FrontMessageInput {
  hello?: FrontHelloInput | null | undefined
  handIn?: HandInInput | null | undefined
  attend?: AttendInput | null | undefined
  leave?: LeaveInput | null | undefined
  holdingEnded?: HoldingEndedInput | null | undefined
  kept?: KeptInput | null | undefined
  termSeen?: TermSeenInput | null | undefined
}

export interface SchedulingMessage {
  welcome: FrontWelcome | null
  stillThere: StillThere | null
  news: OperationNews | null
  end: OperationEnd | null
  notKnown: NotKnown | null
  /** Which one is set. */
  readonly message: 'welcome' | 'stillThere' | 'news' | 'end' | 'notKnown' | undefined
}

export interface SchedulingMessageInput {
  welcome?: FrontWelcomeInput | null | undefined
  stillThere?: StillThereInput | null | undefined
  news?: OperationNewsInput | null | undefined
  end?: OperationEndInput | null | undefined
  notKnown?: NotKnownInput | null | undefined
}

export interface FrontHello {
  protocolVersion: number
  saysKept: boolean
  scheduler: string
  serverId: string
  highestEpoch: number
  termKey: string
}

export interface FrontHelloInput {
  protocolVersion?: number | undefined
  saysKept?: boolean | undefined
  scheduler?: string | undefined
  serverId?: string | undefined
  highestEpoch?: number | undefined
  termKey?: string | undefined
}

export interface FrontWelcome {
  stillThereIntervalMs: number
  epoch: number
  leaderId: string
}

export interface FrontWelcomeInput {
  stillThereIntervalMs?: number | undefined
  epoch?: number | undefined
  leaderId?: string | undefined
}

export interface StillThere {
  asks: boolean
}

export interface StillThereInput {
  asks?: boolean | undefined
}

export interface TermSeen {
  highestEpoch: number
  termKey: string
}

export interface TermSeenInput {
  highestEpoch?: number | undefined
  termKey?: string | undefined
}

export interface HoldingEnded {
}

export interface HoldingEndedInput {
}

export interface Kept {
  id: string
}

export interface KeptInput {
  id?: string | undefined
}

export interface HandIn {
  id: string
  instanceName: string
  actionDigest: build_bazel_remote_execution_v2.Digest | null
  digestFunction: number
  properties: build_bazel_remote_execution_v2.PlatformProperty[]
  priority: number
  doNotCache: boolean
  skipCacheLookup: boolean
  action: Buffer
  workingDirectory: string
  hasWorkingDirectory: boolean
  metadata: Buffer
  invocation: string
  target: string
  mnemonic: string
  traceparent: string
  tracestate: string
  identity: string
  hasIdentity: boolean
  isAttended: boolean
  past: OperationPast | null
  scope: string
  wasLookedUp: boolean
  rootKeys: string[]
}

export interface HandInInput {
  id?: string | undefined
  instanceName?: string | undefined
  actionDigest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  digestFunction?: number | undefined
  properties?: readonly build_bazel_remote_execution_v2.PlatformPropertyInput[] | undefined
  priority?: number | undefined
  doNotCache?: boolean | undefined
  skipCacheLookup?: boolean | undefined
  action?: Uint8Array | undefined
  workingDirectory?: string | undefined
  hasWorkingDirectory?: boolean | undefined
  metadata?: Uint8Array | undefined
  invocation?: string | undefined
  target?: string | undefined
  mnemonic?: string | undefined
  traceparent?: string | undefined
  tracestate?: string | undefined
  identity?: string | undefined
  hasIdentity?: boolean | undefined
  isAttended?: boolean | undefined
  past?: OperationPastInput | null | undefined
  scope?: string | undefined
  wasLookedUp?: boolean | undefined
  rootKeys?: readonly string[] | undefined
}

export interface OperationPast {
  queuedForMs: number
  attempts: number
  failures: number
  attemptId: string
  workerId: string
  attemptScope: string
}

export interface OperationPastInput {
  queuedForMs?: number | undefined
  attempts?: number | undefined
  failures?: number | undefined
  attemptId?: string | undefined
  workerId?: string | undefined
  attemptScope?: string | undefined
}

export interface Attend {
  id: string
  instanceName: string
}

export interface AttendInput {
  id?: string | undefined
  instanceName?: string | undefined
}

export interface Leave {
  id: string
}

export interface LeaveInput {
  id?: string | undefined
}

export interface OperationNews {
  id: string
  name: string
  stage: number
  past: OperationPast | null
  joinedTraceparent: string
  joinedTracestate: string
  actionDigest: build_bazel_remote_execution_v2.Digest | null
  digestFunction: number
}

export interface OperationNewsInput {
  id?: string | undefined
  name?: string | undefined
  stage?: number | undefined
  past?: OperationPastInput | null | undefined
  joinedTraceparent?: string | undefined
  joinedTracestate?: string | undefined
  actionDigest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  digestFunction?: number | undefined
}

export interface OperationEnd {
  id: string
  name: string
  actionDigest: build_bazel_remote_execution_v2.Digest | null
  digestFunction: number
  executeResponse: build_bazel_remote_execution_v2.ExecuteResponse | null
  error: google_rpc.Status | null
  /** Which one is set. */
  readonly outcome: 'executeResponse' | 'error' | undefined
}

export interface OperationEndInput {
  id?: string | undefined
  name?: string | undefined
  actionDigest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  digestFunction?: number | undefined
  executeResponse?: build_bazel_remote_execution_v2.ExecuteResponseInput | null | undefined
  error?: google_rpc.StatusInput | null | undefined
}

export interface NotKnown {
  id: string
}

export interface NotKnownInput {
  id?: string | undefined
}
