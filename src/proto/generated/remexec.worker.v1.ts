// Written by `npm run generate` from protos/. Do not edit.
import type * as build_bazel_remote_execution_v2 from './build.bazel.remote.execution.v2.js'
import type * as google_protobuf from './google.protobuf.js'
import type * as google_rpc from './google.rpc.js'

export interface HistoricalExecuteResponse {
  actionDigest: build_bazel_remote_execution_v2.Digest | null
  executeResponse: build_bazel_remote_execution_v2.ExecuteResponse | null
}

export interface HistoricalExecuteResponseInput {
  actionDigest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  executeResponse?: build_bazel_remote_execution_v2.ExecuteResponseInput | null | undefined
}

export interface ContainerImage {
  asked: string
  digest: string
  warning: string
}

export interface ContainerImageInput {
  asked?: string | undefined
  digest?: string | undefined
  warning?: string | undefined
}

export interface PersistentWorker {
  process: string
  request: number
}

export interface PersistentWorkerInput {
  process?: string | undefined
  request?: number | undefined
}

export interface CommandUsage {
  userTime: google_protobuf.Duration | null
  systemTime: google_protobuf.Duration | null
  peakResidentBytes: number
  memoryPeakBytes: number
  memoryLimitBytes: number
  memoryExceeded: boolean
}

export interface CommandUsageInput {
  userTime?: google_protobuf.DurationInput | null | undefined
  systemTime?: google_protobuf.DurationInput | null | undefined
  peakResidentBytes?: number | undefined
  memoryPeakBytes?: number | undefined
  memoryLimitBytes?: number | undefined
  memoryExceeded?: boolean | undefined
}

export interface WorkerMessage {
  hello: Hello | null
  keepAlive: KeepAlive | null
  progress: Progress | null
  result: Result | null
  goingAway: GoingAway | null
  storeRequest: StoreRequest | null
  health: WorkerHealth | null
  printedOutput: PrintedOutput | null
  warm: WarmChange | null
  persistentWorkers: PersistentWorkers | null
  keptRoots: KeptRoots | null
  /** Which one is set. */
  readonly message: 'hello' | 'keepAlive' | 'progress' | 'result' | 'goingAway' | 'storeRequest' | 'health' | 'printedOutput' | 'warm' | 'persistentWorkers' | 'keptRoots' | undefined
}

export interface WorkerMessageInput {
  hello?: HelloInput | null | undefined
  keepAlive?: KeepAliveInput | null | undefined
  progress?: ProgressInput | null | undefined
  result?: ResultInput | null | undefined
  goingAway?: GoingAwayInput | null | undefined
  storeRequest?: StoreRequestInput | null | undefined
  health?: WorkerHealthInput | null | undefined
  printedOutput?: PrintedOutputInput | null | undefined
  warm?: WarmChangeInput | null | undefined
  persistentWorkers?: PersistentWorkersInput | null | undefined
  keptRoots?: KeptRootsInput | null | undefined
}

export interface SchedulerMessage {
  welcome: Welcome | null
  start: Start | null
  kill: Kill | null
  resultAck: ResultAck | null
  drain: Drain | null
  storeResponse: StoreResponse | null
  readPrinted: ReadPrinted | null
  /** Which one is set. */
  readonly message: 'welcome' | 'start' | 'kill' | 'resultAck' | 'drain' | 'storeResponse' | 'readPrinted' | undefined
}

export interface SchedulerMessageInput {
  welcome?: WelcomeInput | null | undefined
  start?: StartInput | null | undefined
  kill?: KillInput | null | undefined
  resultAck?: ResultAckInput | null | undefined
  drain?: DrainInput | null | undefined
  storeResponse?: StoreResponseInput | null | undefined
  readPrinted?: ReadPrintedInput | null | undefined
}

export interface Hello {
  protocolVersion: number
  name: string
  properties: OfferedProperty[]
  maxInflightAttempts: number
  workerId: string
  attemptIds: string[]
  storeKey: string
  attempts: Start[]
  workerKey: string
  maxWaitingAttempts: number
  sick: string
  confined: boolean
  knowsScopes: boolean
  highestEpoch: number
  termKey: string
  containerImages: boolean
  warmKeys: string[]
}

export interface HelloInput {
  protocolVersion?: number | undefined
  name?: string | undefined
  properties?: readonly OfferedPropertyInput[] | undefined
  maxInflightAttempts?: number | undefined
  workerId?: string | undefined
  attemptIds?: readonly string[] | undefined
  storeKey?: string | undefined
  attempts?: readonly StartInput[] | undefined
  workerKey?: string | undefined
  maxWaitingAttempts?: number | undefined
  sick?: string | undefined
  confined?: boolean | undefined
  knowsScopes?: boolean | undefined
  highestEpoch?: number | undefined
  termKey?: string | undefined
  containerImages?: boolean | undefined
  warmKeys?: readonly string[] | undefined
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
  workerKey: string
  epoch: number
  termKey: string
}

export interface WelcomeInput {
  workerId?: string | undefined
  keepAliveIntervalMs?: number | undefined
  workerKey?: string | undefined
  epoch?: number | undefined
  termKey?: string | undefined
}

export interface WorkerHealth {
  sick: string
}

export interface WorkerHealthInput {
  sick?: string | undefined
}

export interface WarmChange {
  added: string[]
  dropped: string[]
}

export interface WarmChangeInput {
  added?: readonly string[] | undefined
  dropped?: readonly string[] | undefined
}

export interface KeepAlive {
}

export interface KeepAliveInput {
}

export interface PersistentWorkers {
  idle: number
  busy: number
  residentBytes: number
  events: PersistentWorkerEvents[]
}

export interface PersistentWorkersInput {
  idle?: number | undefined
  busy?: number | undefined
  residentBytes?: number | undefined
  events?: readonly PersistentWorkerEventsInput[] | undefined
}

export interface KeptRoots {
  kept: number
  fileBytes: number
  equal: number
  changed: number
  fresh: number
  placedFiles: number
  untouchedFiles: number
}

export interface KeptRootsInput {
  kept?: number | undefined
  fileBytes?: number | undefined
  equal?: number | undefined
  changed?: number | undefined
  fresh?: number | undefined
  placedFiles?: number | undefined
  untouchedFiles?: number | undefined
}

export interface PersistentWorkerEvents {
  kind: number
  reason: string
  count: number
}

export interface PersistentWorkerEventsInput {
  kind?: number | undefined
  reason?: string | undefined
  count?: number | undefined
}

export const PersistentWorkerEventsKind = {
  KIND_UNSPECIFIED: 0,
  REUSED: 1,
  STARTED: 2,
  RETRIED: 3,
  FELL_BACK: 4,
  ENDED: 5,
} as const

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
  isolated: boolean
  origin: google_protobuf.Any | null
  doNotCache: boolean
  priority: number
  action: Buffer
  scope: CallerScope | null
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
  isolated?: boolean | undefined
  origin?: google_protobuf.AnyInput | null | undefined
  doNotCache?: boolean | undefined
  priority?: number | undefined
  action?: Uint8Array | undefined
  scope?: CallerScopeInput | null | undefined
}

export interface CallerScope {
  name: string
}

export interface CallerScopeInput {
  name?: string | undefined
}

export interface Progress {
  attemptId: string
  stage: number
  waitsFor: string
}

export interface ProgressInput {
  attemptId?: string | undefined
  stage?: number | undefined
  waitsFor?: string | undefined
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
  givenBack: GivenBack | null
  confined: boolean
  /** Which one is set. */
  readonly outcome: 'executeResponse' | 'workerError' | 'refused' | 'givenBack' | undefined
}

export interface ResultInput {
  attemptId?: string | undefined
  executeResponse?: build_bazel_remote_execution_v2.ExecuteResponseInput | null | undefined
  workerError?: google_rpc.StatusInput | null | undefined
  refused?: google_rpc.StatusInput | null | undefined
  givenBack?: GivenBackInput | null | undefined
  confined?: boolean | undefined
}

export interface GivenBack {
  stops: boolean
}

export interface GivenBackInput {
  stops?: boolean | undefined
}

export interface ResultAck {
  attemptIds: string[]
}

export interface ResultAckInput {
  attemptIds?: readonly string[] | undefined
}

export interface ReadPrinted {
  id: number
  attemptId: string
  maxBytes: number
  stdoutOffset: number
  stderrOffset: number
}

export interface ReadPrintedInput {
  id?: number | undefined
  attemptId?: string | undefined
  maxBytes?: number | undefined
  stdoutOffset?: number | undefined
  stderrOffset?: number | undefined
}

export interface PrintedOutput {
  id: number
  runs: boolean
  stdout: Buffer
  stdoutSize: number
  stderr: Buffer
  stderrSize: number
}

export interface PrintedOutputInput {
  id?: number | undefined
  runs?: boolean | undefined
  stdout?: Uint8Array | undefined
  stdoutSize?: number | undefined
  stderr?: Uint8Array | undefined
  stderrSize?: number | undefined
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

export interface StoreRequest {
  id: number
  digestFunction: number
  findMissing: Digests | null
  read: ReadBlobs | null
  put: PutBlobs | null
  lease: LeaseBlobs | null
  release: ReleaseLease | null
  locate: LocateFiles | null
  populate: BlobName | null
  populateTree: BlobName | null
  drop: BlobName | null
  reserve: BlobName | null
  adopt: AdoptFile | null
  remove: RemoveBlob | null
  limits: StoreLimits | null
  apart: InstanceName | null
  traceparent: string
  tracestate: string
  /** Which one is set. */
  readonly request: 'findMissing' | 'read' | 'put' | 'lease' | 'release' | 'locate' | 'populate' | 'populateTree' | 'drop' | 'reserve' | 'adopt' | 'remove' | 'limits' | undefined
}

export interface StoreRequestInput {
  id?: number | undefined
  digestFunction?: number | undefined
  findMissing?: DigestsInput | null | undefined
  read?: ReadBlobsInput | null | undefined
  put?: PutBlobsInput | null | undefined
  lease?: LeaseBlobsInput | null | undefined
  release?: ReleaseLeaseInput | null | undefined
  locate?: LocateFilesInput | null | undefined
  populate?: BlobNameInput | null | undefined
  populateTree?: BlobNameInput | null | undefined
  drop?: BlobNameInput | null | undefined
  reserve?: BlobNameInput | null | undefined
  adopt?: AdoptFileInput | null | undefined
  remove?: RemoveBlobInput | null | undefined
  limits?: StoreLimitsInput | null | undefined
  apart?: InstanceNameInput | null | undefined
  traceparent?: string | undefined
  tracestate?: string | undefined
}

export interface StoreLimits {
}

export interface StoreLimitsInput {
}

export interface InstanceName {
  name: string
}

export interface InstanceNameInput {
  name?: string | undefined
}

export interface Digests {
  digests: build_bazel_remote_execution_v2.Digest[]
}

export interface DigestsInput {
  digests?: readonly build_bazel_remote_execution_v2.DigestInput[] | undefined
}

export interface BlobName {
  digest: build_bazel_remote_execution_v2.Digest | null
}

export interface BlobNameInput {
  digest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
}

export interface RemoveBlob {
  digest: build_bazel_remote_execution_v2.Digest | null
  isWrong: boolean
}

export interface RemoveBlobInput {
  digest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  isWrong?: boolean | undefined
}

export interface ReadBlobs {
  parts: WantedPart[]
}

export interface ReadBlobsInput {
  parts?: readonly WantedPartInput[] | undefined
}

export interface WantedPart {
  digest: build_bazel_remote_execution_v2.Digest | null
  offset: number
  maxBytes: number
}

export interface WantedPartInput {
  digest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  offset?: number | undefined
  maxBytes?: number | undefined
}

export interface BlobPart {
  data: Buffer
  failure: google_rpc.Status | null
}

export interface BlobPartInput {
  data?: Uint8Array | undefined
  failure?: google_rpc.StatusInput | null | undefined
}

export interface PutBlobs {
  blobs: NamedBytes[]
  into: number
}

export interface PutBlobsInput {
  blobs?: readonly NamedBytesInput[] | undefined
  into?: number | undefined
}

export const BlobPlace = {
  CAS: 0,
  RESULTS: 1,
  HISTORY: 2,
} as const

export interface NamedBytes {
  digest: build_bazel_remote_execution_v2.Digest | null
  data: Buffer
}

export interface NamedBytesInput {
  digest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  data?: Uint8Array | undefined
}

export interface LeaseBlobs {
  leaseId: number
  digests: build_bazel_remote_execution_v2.Digest[]
}

export interface LeaseBlobsInput {
  leaseId?: number | undefined
  digests?: readonly build_bazel_remote_execution_v2.DigestInput[] | undefined
}

export interface ReleaseLease {
  leaseId: number
}

export interface ReleaseLeaseInput {
  leaseId?: number | undefined
}

export interface LocateFiles {
  files: WantedFile[]
}

export interface LocateFilesInput {
  files?: readonly WantedFileInput[] | undefined
}

export interface WantedFile {
  digest: build_bazel_remote_execution_v2.Digest | null
  isExecutable: boolean
}

export interface WantedFileInput {
  digest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  isExecutable?: boolean | undefined
}

export interface LocatedFile {
  data: Buffer
  path: string
  sizeBytes: number
  mtimeMs: number
  failure: google_rpc.Status | null
  isOnlyCopy: boolean
}

export interface LocatedFileInput {
  data?: Uint8Array | undefined
  path?: string | undefined
  sizeBytes?: number | undefined
  mtimeMs?: number | undefined
  failure?: google_rpc.StatusInput | null | undefined
  isOnlyCopy?: boolean | undefined
}

export interface AdoptFile {
  digest: build_bazel_remote_execution_v2.Digest | null
  path: string
  sizeBytes: number
  checksum: number
  mtimeMs: number
}

export interface AdoptFileInput {
  digest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  path?: string | undefined
  sizeBytes?: number | undefined
  checksum?: number | undefined
  mtimeMs?: number | undefined
}

export interface StoreResponse {
  id: number
  failure: google_rpc.Status | null
  missing: Digests | null
  parts: BlobPart[]
  outcomes: google_rpc.Status[]
  located: LocatedFile[]
  place: ReservedPlace | null
  maxBlobBytes: number
}

export interface StoreResponseInput {
  id?: number | undefined
  failure?: google_rpc.StatusInput | null | undefined
  missing?: DigestsInput | null | undefined
  parts?: readonly BlobPartInput[] | undefined
  outcomes?: readonly google_rpc.StatusInput[] | undefined
  located?: readonly LocatedFileInput[] | undefined
  place?: ReservedPlaceInput | null | undefined
  maxBlobBytes?: number | undefined
}

export interface ReservedPlace {
  path: string
  isSynced: boolean
}

export interface ReservedPlaceInput {
  path?: string | undefined
  isSynced?: boolean | undefined
}
