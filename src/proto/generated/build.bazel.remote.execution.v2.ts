// Written by `npm run generate` from protos/. Do not edit.
import type * as build_bazel_semver from './build.bazel.semver.js'
import type * as google_protobuf from './google.protobuf.js'
import type * as google_rpc from './google.rpc.js'

export interface Action {
  commandDigest: Digest | null
  inputRootDigest: Digest | null
  timeout: google_protobuf.Duration | null
  doNotCache: boolean
  salt: Buffer
  platform: Platform | null
}

export interface ActionInput {
  commandDigest?: DigestInput | null | undefined
  inputRootDigest?: DigestInput | null | undefined
  timeout?: google_protobuf.DurationInput | null | undefined
  doNotCache?: boolean | undefined
  salt?: Uint8Array | undefined
  platform?: PlatformInput | null | undefined
}

export interface ActionCacheUpdateCapabilities {
  updateEnabled: boolean
}

export interface ActionCacheUpdateCapabilitiesInput {
  updateEnabled?: boolean | undefined
}

export interface ActionResult {
  outputFiles: OutputFile[]
  outputDirectories: OutputDirectory[]
  exitCode: number
  stdoutRaw: Buffer
  stdoutDigest: Digest | null
  stderrRaw: Buffer
  stderrDigest: Digest | null
  executionMetadata: ExecutedActionMetadata | null
  /** @deprecated */
  outputFileSymlinks: OutputSymlink[]
  /** @deprecated */
  outputDirectorySymlinks: OutputSymlink[]
  outputSymlinks: OutputSymlink[]
}

export interface ActionResultInput {
  outputFiles?: readonly OutputFileInput[] | undefined
  outputDirectories?: readonly OutputDirectoryInput[] | undefined
  exitCode?: number | undefined
  stdoutRaw?: Uint8Array | undefined
  stdoutDigest?: DigestInput | null | undefined
  stderrRaw?: Uint8Array | undefined
  stderrDigest?: DigestInput | null | undefined
  executionMetadata?: ExecutedActionMetadataInput | null | undefined
  /** @deprecated */
  outputFileSymlinks?: readonly OutputSymlinkInput[] | undefined
  /** @deprecated */
  outputDirectorySymlinks?: readonly OutputSymlinkInput[] | undefined
  outputSymlinks?: readonly OutputSymlinkInput[] | undefined
}

export interface BatchReadBlobsRequest {
  instanceName: string
  digests: Digest[]
  acceptableCompressors: number[]
  digestFunction: number
}

export interface BatchReadBlobsRequestInput {
  instanceName?: string | undefined
  digests?: readonly DigestInput[] | undefined
  acceptableCompressors?: readonly number[] | undefined
  digestFunction?: number | undefined
}

export interface BatchReadBlobsResponse {
  responses: BatchReadBlobsResponseResponse[]
}

export interface BatchReadBlobsResponseInput {
  responses?: readonly BatchReadBlobsResponseResponseInput[] | undefined
}

export interface BatchReadBlobsResponseResponse {
  digest: Digest | null
  data: Buffer
  status: google_rpc.Status | null
  compressor: number
}

export interface BatchReadBlobsResponseResponseInput {
  digest?: DigestInput | null | undefined
  data?: Uint8Array | undefined
  status?: google_rpc.StatusInput | null | undefined
  compressor?: number | undefined
}

export interface BatchUpdateBlobsRequest {
  instanceName: string
  requests: BatchUpdateBlobsRequestRequest[]
  digestFunction: number
}

export interface BatchUpdateBlobsRequestInput {
  instanceName?: string | undefined
  requests?: readonly BatchUpdateBlobsRequestRequestInput[] | undefined
  digestFunction?: number | undefined
}

export interface BatchUpdateBlobsRequestRequest {
  digest: Digest | null
  data: Buffer
  compressor: number
}

export interface BatchUpdateBlobsRequestRequestInput {
  digest?: DigestInput | null | undefined
  data?: Uint8Array | undefined
  compressor?: number | undefined
}

export interface BatchUpdateBlobsResponse {
  responses: BatchUpdateBlobsResponseResponse[]
}

export interface BatchUpdateBlobsResponseInput {
  responses?: readonly BatchUpdateBlobsResponseResponseInput[] | undefined
}

export interface BatchUpdateBlobsResponseResponse {
  digest: Digest | null
  status: google_rpc.Status | null
}

export interface BatchUpdateBlobsResponseResponseInput {
  digest?: DigestInput | null | undefined
  status?: google_rpc.StatusInput | null | undefined
}

export interface CacheCapabilities {
  digestFunctions: number[]
  actionCacheUpdateCapabilities: ActionCacheUpdateCapabilities | null
  cachePriorityCapabilities: PriorityCapabilities | null
  maxBatchTotalSizeBytes: number
  symlinkAbsolutePathStrategy: number
  supportedCompressors: number[]
  supportedBatchUpdateCompressors: number[]
  maxCasBlobSizeBytes: number
  splitBlobSupport: boolean
  spliceBlobSupport: boolean
  fastCdc2020Params: FastCdc2020Params | null
  repMaxCdcParams: RepMaxCdcParams | null
}

export interface CacheCapabilitiesInput {
  digestFunctions?: readonly number[] | undefined
  actionCacheUpdateCapabilities?: ActionCacheUpdateCapabilitiesInput | null | undefined
  cachePriorityCapabilities?: PriorityCapabilitiesInput | null | undefined
  maxBatchTotalSizeBytes?: number | undefined
  symlinkAbsolutePathStrategy?: number | undefined
  supportedCompressors?: readonly number[] | undefined
  supportedBatchUpdateCompressors?: readonly number[] | undefined
  maxCasBlobSizeBytes?: number | undefined
  splitBlobSupport?: boolean | undefined
  spliceBlobSupport?: boolean | undefined
  fastCdc2020Params?: FastCdc2020ParamsInput | null | undefined
  repMaxCdcParams?: RepMaxCdcParamsInput | null | undefined
}

export const ChunkingFunction = {
  UNKNOWN: 0,
  FAST_CDC_2020: 1,
  REP_MAX_CDC: 2,
} as const

export interface Command {
  arguments: string[]
  environmentVariables: CommandEnvironmentVariable[]
  /** @deprecated */
  outputFiles: string[]
  /** @deprecated */
  outputDirectories: string[]
  /** @deprecated */
  platform: Platform | null
  workingDirectory: string
  outputPaths: string[]
  outputNodeProperties: string[]
  outputDirectoryFormat: number
}

export interface CommandInput {
  arguments?: readonly string[] | undefined
  environmentVariables?: readonly CommandEnvironmentVariableInput[] | undefined
  /** @deprecated */
  outputFiles?: readonly string[] | undefined
  /** @deprecated */
  outputDirectories?: readonly string[] | undefined
  /** @deprecated */
  platform?: PlatformInput | null | undefined
  workingDirectory?: string | undefined
  outputPaths?: readonly string[] | undefined
  outputNodeProperties?: readonly string[] | undefined
  outputDirectoryFormat?: number | undefined
}

export const CommandOutputDirectoryFormat = {
  TREE_ONLY: 0,
  DIRECTORY_ONLY: 1,
  TREE_AND_DIRECTORY: 2,
} as const

export interface CommandEnvironmentVariable {
  name: string
  value: string
}

export interface CommandEnvironmentVariableInput {
  name?: string | undefined
  value?: string | undefined
}

export const Compressor = {
  IDENTITY: 0,
  ZSTD: 1,
  DEFLATE: 2,
  BROTLI: 3,
} as const

export interface Digest {
  hash: string
  sizeBytes: number
}

export interface DigestInput {
  hash?: string | undefined
  sizeBytes?: number | undefined
}

export const DigestFunction = {
  UNKNOWN: 0,
  SHA256: 1,
  SHA1: 2,
  MD5: 3,
  VSO: 4,
  SHA384: 5,
  SHA512: 6,
  MURMUR3: 7,
  SHA256TREE: 8,
  BLAKE3: 9,
  GITSHA1: 10,
} as const

export interface Directory {
  files: FileNode[]
  directories: DirectoryNode[]
  symlinks: SymlinkNode[]
  nodeProperties: NodeProperties | null
}

export interface DirectoryInput {
  files?: readonly FileNodeInput[] | undefined
  directories?: readonly DirectoryNodeInput[] | undefined
  symlinks?: readonly SymlinkNodeInput[] | undefined
  nodeProperties?: NodePropertiesInput | null | undefined
}

export interface DirectoryNode {
  name: string
  digest: Digest | null
}

export interface DirectoryNodeInput {
  name?: string | undefined
  digest?: DigestInput | null | undefined
}

export interface ExecuteOperationMetadata {
  stage: number
  actionDigest: Digest | null
  stdoutStreamName: string
  stderrStreamName: string
  partialExecutionMetadata: ExecutedActionMetadata | null
  digestFunction: number
}

export interface ExecuteOperationMetadataInput {
  stage?: number | undefined
  actionDigest?: DigestInput | null | undefined
  stdoutStreamName?: string | undefined
  stderrStreamName?: string | undefined
  partialExecutionMetadata?: ExecutedActionMetadataInput | null | undefined
  digestFunction?: number | undefined
}

export interface ExecuteRequest {
  instanceName: string
  skipCacheLookup: boolean
  actionDigest: Digest | null
  executionPolicy: ExecutionPolicy | null
  resultsCachePolicy: ResultsCachePolicy | null
  digestFunction: number
  inlineStdout: boolean
  inlineStderr: boolean
  inlineOutputFiles: string[]
}

export interface ExecuteRequestInput {
  instanceName?: string | undefined
  skipCacheLookup?: boolean | undefined
  actionDigest?: DigestInput | null | undefined
  executionPolicy?: ExecutionPolicyInput | null | undefined
  resultsCachePolicy?: ResultsCachePolicyInput | null | undefined
  digestFunction?: number | undefined
  inlineStdout?: boolean | undefined
  inlineStderr?: boolean | undefined
  inlineOutputFiles?: readonly string[] | undefined
}

export interface ExecuteResponse {
  result: ActionResult | null
  cachedResult: boolean
  status: google_rpc.Status | null
  serverLogs: Record<string, LogFile>
  message: string
}

export interface ExecuteResponseInput {
  result?: ActionResultInput | null | undefined
  cachedResult?: boolean | undefined
  status?: google_rpc.StatusInput | null | undefined
  serverLogs?: Readonly<Record<string, LogFileInput>> | undefined
  message?: string | undefined
}

export interface ExecutedActionMetadata {
  worker: string
  queuedTimestamp: google_protobuf.Timestamp | null
  workerStartTimestamp: google_protobuf.Timestamp | null
  workerCompletedTimestamp: google_protobuf.Timestamp | null
  inputFetchStartTimestamp: google_protobuf.Timestamp | null
  inputFetchCompletedTimestamp: google_protobuf.Timestamp | null
  executionStartTimestamp: google_protobuf.Timestamp | null
  executionCompletedTimestamp: google_protobuf.Timestamp | null
  outputUploadStartTimestamp: google_protobuf.Timestamp | null
  outputUploadCompletedTimestamp: google_protobuf.Timestamp | null
  auxiliaryMetadata: google_protobuf.Any[]
  virtualExecutionDuration: google_protobuf.Duration | null
}

export interface ExecutedActionMetadataInput {
  worker?: string | undefined
  queuedTimestamp?: google_protobuf.TimestampInput | null | undefined
  workerStartTimestamp?: google_protobuf.TimestampInput | null | undefined
  workerCompletedTimestamp?: google_protobuf.TimestampInput | null | undefined
  inputFetchStartTimestamp?: google_protobuf.TimestampInput | null | undefined
  inputFetchCompletedTimestamp?: google_protobuf.TimestampInput | null | undefined
  executionStartTimestamp?: google_protobuf.TimestampInput | null | undefined
  executionCompletedTimestamp?: google_protobuf.TimestampInput | null | undefined
  outputUploadStartTimestamp?: google_protobuf.TimestampInput | null | undefined
  outputUploadCompletedTimestamp?: google_protobuf.TimestampInput | null | undefined
  auxiliaryMetadata?: readonly google_protobuf.AnyInput[] | undefined
  virtualExecutionDuration?: google_protobuf.DurationInput | null | undefined
}

export interface ExecutionCapabilities {
  digestFunction: number
  execEnabled: boolean
  executionPriorityCapabilities: PriorityCapabilities | null
  supportedNodeProperties: string[]
  digestFunctions: number[]
}

export interface ExecutionCapabilitiesInput {
  digestFunction?: number | undefined
  execEnabled?: boolean | undefined
  executionPriorityCapabilities?: PriorityCapabilitiesInput | null | undefined
  supportedNodeProperties?: readonly string[] | undefined
  digestFunctions?: readonly number[] | undefined
}

export interface ExecutionPolicy {
  priority: number
}

export interface ExecutionPolicyInput {
  priority?: number | undefined
}

export const ExecutionStage = {
  UNKNOWN: 0,
  CACHE_CHECK: 1,
  QUEUED: 2,
  EXECUTING: 3,
  COMPLETED: 4,
} as const

export interface FastCdc2020Params {
  avgChunkSizeBytes: number
  seed: number
}

export interface FastCdc2020ParamsInput {
  avgChunkSizeBytes?: number | undefined
  seed?: number | undefined
}

export interface FileNode {
  name: string
  digest: Digest | null
  isExecutable: boolean
  nodeProperties: NodeProperties | null
}

export interface FileNodeInput {
  name?: string | undefined
  digest?: DigestInput | null | undefined
  isExecutable?: boolean | undefined
  nodeProperties?: NodePropertiesInput | null | undefined
}

export interface FindMissingBlobsRequest {
  instanceName: string
  blobDigests: Digest[]
  digestFunction: number
}

export interface FindMissingBlobsRequestInput {
  instanceName?: string | undefined
  blobDigests?: readonly DigestInput[] | undefined
  digestFunction?: number | undefined
}

export interface FindMissingBlobsResponse {
  missingBlobDigests: Digest[]
}

export interface FindMissingBlobsResponseInput {
  missingBlobDigests?: readonly DigestInput[] | undefined
}

export interface GetActionResultRequest {
  instanceName: string
  actionDigest: Digest | null
  inlineStdout: boolean
  inlineStderr: boolean
  inlineOutputFiles: string[]
  digestFunction: number
}

export interface GetActionResultRequestInput {
  instanceName?: string | undefined
  actionDigest?: DigestInput | null | undefined
  inlineStdout?: boolean | undefined
  inlineStderr?: boolean | undefined
  inlineOutputFiles?: readonly string[] | undefined
  digestFunction?: number | undefined
}

export interface GetCapabilitiesRequest {
  instanceName: string
}

export interface GetCapabilitiesRequestInput {
  instanceName?: string | undefined
}

export interface GetTreeRequest {
  instanceName: string
  rootDigest: Digest | null
  pageSize: number
  pageToken: string
  digestFunction: number
}

export interface GetTreeRequestInput {
  instanceName?: string | undefined
  rootDigest?: DigestInput | null | undefined
  pageSize?: number | undefined
  pageToken?: string | undefined
  digestFunction?: number | undefined
}

export interface GetTreeResponse {
  directories: Directory[]
  nextPageToken: string
}

export interface GetTreeResponseInput {
  directories?: readonly DirectoryInput[] | undefined
  nextPageToken?: string | undefined
}

export interface LogFile {
  digest: Digest | null
  humanReadable: boolean
}

export interface LogFileInput {
  digest?: DigestInput | null | undefined
  humanReadable?: boolean | undefined
}

export interface NodeProperties {
  properties: NodeProperty[]
  mtime: google_protobuf.Timestamp | null
  unixMode: google_protobuf.UInt32Value | null
}

export interface NodePropertiesInput {
  properties?: readonly NodePropertyInput[] | undefined
  mtime?: google_protobuf.TimestampInput | null | undefined
  unixMode?: google_protobuf.UInt32ValueInput | null | undefined
}

export interface NodeProperty {
  name: string
  value: string
}

export interface NodePropertyInput {
  name?: string | undefined
  value?: string | undefined
}

export interface OutputDirectory {
  path: string
  treeDigest: Digest | null
  isTopologicallySorted: boolean
  rootDirectoryDigest: Digest | null
}

export interface OutputDirectoryInput {
  path?: string | undefined
  treeDigest?: DigestInput | null | undefined
  isTopologicallySorted?: boolean | undefined
  rootDirectoryDigest?: DigestInput | null | undefined
}

export interface OutputFile {
  path: string
  digest: Digest | null
  isExecutable: boolean
  contents: Buffer
  nodeProperties: NodeProperties | null
}

export interface OutputFileInput {
  path?: string | undefined
  digest?: DigestInput | null | undefined
  isExecutable?: boolean | undefined
  contents?: Uint8Array | undefined
  nodeProperties?: NodePropertiesInput | null | undefined
}

export interface OutputSymlink {
  path: string
  target: string
  nodeProperties: NodeProperties | null
}

export interface OutputSymlinkInput {
  path?: string | undefined
  target?: string | undefined
  nodeProperties?: NodePropertiesInput | null | undefined
}

export interface Platform {
  properties: PlatformProperty[]
}

export interface PlatformInput {
  properties?: readonly PlatformPropertyInput[] | undefined
}

export interface PlatformProperty {
  name: string
  value: string
}

export interface PlatformPropertyInput {
  name?: string | undefined
  value?: string | undefined
}

export interface PriorityCapabilities {
  priorities: PriorityCapabilitiesPriorityRange[]
}

export interface PriorityCapabilitiesInput {
  priorities?: readonly PriorityCapabilitiesPriorityRangeInput[] | undefined
}

export interface PriorityCapabilitiesPriorityRange {
  minPriority: number
  maxPriority: number
}

export interface PriorityCapabilitiesPriorityRangeInput {
  minPriority?: number | undefined
  maxPriority?: number | undefined
}

export interface RepMaxCdcParams {
  minChunkSizeBytes: number
  horizonSizeBytes: number
}

export interface RepMaxCdcParamsInput {
  minChunkSizeBytes?: number | undefined
  horizonSizeBytes?: number | undefined
}

export interface RequestMetadata {
  toolDetails: ToolDetails | null
  actionId: string
  toolInvocationId: string
  correlatedInvocationsId: string
  actionMnemonic: string
  targetId: string
  configurationId: string
}

export interface RequestMetadataInput {
  toolDetails?: ToolDetailsInput | null | undefined
  actionId?: string | undefined
  toolInvocationId?: string | undefined
  correlatedInvocationsId?: string | undefined
  actionMnemonic?: string | undefined
  targetId?: string | undefined
  configurationId?: string | undefined
}

export interface ResultsCachePolicy {
  priority: number
}

export interface ResultsCachePolicyInput {
  priority?: number | undefined
}

export interface ServerCapabilities {
  cacheCapabilities: CacheCapabilities | null
  executionCapabilities: ExecutionCapabilities | null
  deprecatedApiVersion: build_bazel_semver.SemVer | null
  lowApiVersion: build_bazel_semver.SemVer | null
  highApiVersion: build_bazel_semver.SemVer | null
}

export interface ServerCapabilitiesInput {
  cacheCapabilities?: CacheCapabilitiesInput | null | undefined
  executionCapabilities?: ExecutionCapabilitiesInput | null | undefined
  deprecatedApiVersion?: build_bazel_semver.SemVerInput | null | undefined
  lowApiVersion?: build_bazel_semver.SemVerInput | null | undefined
  highApiVersion?: build_bazel_semver.SemVerInput | null | undefined
}

export interface SpliceBlobRequest {
  instanceName: string
  blobDigest: Digest | null
  chunkDigests: Digest[]
  digestFunction: number
  chunkingFunction: number
}

export interface SpliceBlobRequestInput {
  instanceName?: string | undefined
  blobDigest?: DigestInput | null | undefined
  chunkDigests?: readonly DigestInput[] | undefined
  digestFunction?: number | undefined
  chunkingFunction?: number | undefined
}

export interface SpliceBlobResponse {
  blobDigest: Digest | null
}

export interface SpliceBlobResponseInput {
  blobDigest?: DigestInput | null | undefined
}

export interface SplitBlobRequest {
  instanceName: string
  blobDigest: Digest | null
  digestFunction: number
  chunkingFunction: number
}

export interface SplitBlobRequestInput {
  instanceName?: string | undefined
  blobDigest?: DigestInput | null | undefined
  digestFunction?: number | undefined
  chunkingFunction?: number | undefined
}

export interface SplitBlobResponse {
  chunkDigests: Digest[]
  chunkingFunction: number
}

export interface SplitBlobResponseInput {
  chunkDigests?: readonly DigestInput[] | undefined
  chunkingFunction?: number | undefined
}

export const SymlinkAbsolutePathStrategy = {
  UNKNOWN: 0,
  DISALLOWED: 1,
  ALLOWED: 2,
} as const

export interface SymlinkNode {
  name: string
  target: string
  nodeProperties: NodeProperties | null
}

export interface SymlinkNodeInput {
  name?: string | undefined
  target?: string | undefined
  nodeProperties?: NodePropertiesInput | null | undefined
}

export interface ToolDetails {
  toolName: string
  toolVersion: string
}

export interface ToolDetailsInput {
  toolName?: string | undefined
  toolVersion?: string | undefined
}

export interface Tree {
  root: Directory | null
  children: Directory[]
}

export interface TreeInput {
  root?: DirectoryInput | null | undefined
  children?: readonly DirectoryInput[] | undefined
}

export interface UpdateActionResultRequest {
  instanceName: string
  actionDigest: Digest | null
  actionResult: ActionResult | null
  resultsCachePolicy: ResultsCachePolicy | null
  digestFunction: number
}

export interface UpdateActionResultRequestInput {
  instanceName?: string | undefined
  actionDigest?: DigestInput | null | undefined
  actionResult?: ActionResultInput | null | undefined
  resultsCachePolicy?: ResultsCachePolicyInput | null | undefined
  digestFunction?: number | undefined
}

export interface WaitExecutionRequest {
  name: string
}

export interface WaitExecutionRequestInput {
  name?: string | undefined
}
