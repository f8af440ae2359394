import type { Input, Output } from '../proto/codec.js'

// biome-ignore lint/suspicious/noExplicitAny: stands for "whatever this method takes or gives".
export type Any = any

/** A method with the types of its messages. Only the two names exist at run time. */
export interface Method<Q, R> {
  readonly service: string
  readonly name: string
  readonly types?: (request: Q) => R
}

const method = <Q, R>(service: string, name: string): Method<Q, R> => ({ service, name })

const REAPI = 'build.bazel.remote.execution.v2'
const CAS = `${REAPI}.ContentAddressableStorage`
type Re<N extends string> = `build.bazel.remote.execution.v2.${N}`

export const getCapabilities = method<Input<Re<'GetCapabilitiesRequest'>>, Output<Re<'ServerCapabilities'>>>(
  `${REAPI}.Capabilities`,
  'GetCapabilities',
)
export const findMissingBlobs = method<Input<Re<'FindMissingBlobsRequest'>>, Output<Re<'FindMissingBlobsResponse'>>>(
  CAS,
  'FindMissingBlobs',
)
export const batchUpdateBlobs = method<Input<Re<'BatchUpdateBlobsRequest'>>, Output<Re<'BatchUpdateBlobsResponse'>>>(
  CAS,
  'BatchUpdateBlobs',
)
export const batchReadBlobs = method<Input<Re<'BatchReadBlobsRequest'>>, Output<Re<'BatchReadBlobsResponse'>>>(
  CAS,
  'BatchReadBlobs',
)
export const getTree = method<Input<Re<'GetTreeRequest'>>, Output<Re<'GetTreeResponse'>>>(CAS, 'GetTree')
export const splitBlob = method<Input<Re<'SplitBlobRequest'>>, Output<Re<'SplitBlobResponse'>>>(CAS, 'SplitBlob')
export const spliceBlob = method<Input<Re<'SpliceBlobRequest'>>, Output<Re<'SpliceBlobResponse'>>>(CAS, 'SpliceBlob')
export const getActionResult = method<Input<Re<'GetActionResultRequest'>>, Output<Re<'ActionResult'>>>(
  `${REAPI}.ActionCache`,
  'GetActionResult',
)
export const updateActionResult = method<Input<Re<'UpdateActionResultRequest'>>, Output<Re<'ActionResult'>>>(
  `${REAPI}.ActionCache`,
  'UpdateActionResult',
)
export const execute = method<Input<Re<'ExecuteRequest'>>, Output<'google.longrunning.Operation'>>(
  `${REAPI}.Execution`,
  'Execute',
)
export const waitExecution = method<Input<Re<'WaitExecutionRequest'>>, Output<'google.longrunning.Operation'>>(
  `${REAPI}.Execution`,
  'WaitExecution',
)
export const read = method<Input<'google.bytestream.ReadRequest'>, Output<'google.bytestream.ReadResponse'>>(
  'google.bytestream.ByteStream',
  'Read',
)
export const write = method<Input<'google.bytestream.WriteRequest'>, Output<'google.bytestream.WriteResponse'>>(
  'google.bytestream.ByteStream',
  'Write',
)
export const queryWriteStatus = method<
  Input<'google.bytestream.QueryWriteStatusRequest'>,
  Output<'google.bytestream.QueryWriteStatusResponse'>
>('google.bytestream.ByteStream', 'QueryWriteStatus')

type Op<N extends string> = `google.longrunning.${N}`
const OPERATIONS = 'google.longrunning.Operations'
export const getOperation = method<Input<Op<'GetOperationRequest'>>, Output<Op<'Operation'>>>(
  OPERATIONS,
  'GetOperation',
)
export const listOperations = method<Input<Op<'ListOperationsRequest'>>, Output<Op<'ListOperationsResponse'>>>(
  OPERATIONS,
  'ListOperations',
)
export const cancelOperation = method<Input<Op<'CancelOperationRequest'>>, object>(OPERATIONS, 'CancelOperation')
export const deleteOperation = method<Input<Op<'DeleteOperationRequest'>>, object>(OPERATIONS, 'DeleteOperation')
export const waitOperation = method<Input<Op<'WaitOperationRequest'>>, Output<Op<'Operation'>>>(
  OPERATIONS,
  'WaitOperation',
)

type As<N extends string> = `build.bazel.remote.asset.v1.${N}`
const ASSET = 'build.bazel.remote.asset.v1'
export const fetchBlob = method<Input<As<'FetchBlobRequest'>>, Output<As<'FetchBlobResponse'>>>(
  `${ASSET}.Fetch`,
  'FetchBlob',
)
export const fetchDirectory = method<Input<As<'FetchDirectoryRequest'>>, Output<As<'FetchDirectoryResponse'>>>(
  `${ASSET}.Fetch`,
  'FetchDirectory',
)
export const pushBlob = method<Input<As<'PushBlobRequest'>>, Output<As<'PushBlobResponse'>>>(
  `${ASSET}.Push`,
  'PushBlob',
)
export const pushDirectory = method<Input<As<'PushDirectoryRequest'>>, Output<As<'PushDirectoryResponse'>>>(
  `${ASSET}.Push`,
  'PushDirectory',
)
export const createLogStream = method<
  Input<'build.bazel.remote.logstream.v1.CreateLogStreamRequest'>,
  Output<'build.bazel.remote.logstream.v1.LogStream'>
>('build.bazel.remote.logstream.v1.LogStreamService', 'CreateLogStream')

type Be<N extends string> = `google.devtools.build.v1.${N}`
const BES = 'google.devtools.build.v1.PublishBuildEvent'
export const publishLifecycleEvent = method<Input<Be<'PublishLifecycleEventRequest'>>, object>(
  BES,
  'PublishLifecycleEvent',
)
export const publishBuildToolEventStream = method<
  Input<Be<'PublishBuildToolEventStreamRequest'>>,
  Output<Be<'PublishBuildToolEventStreamResponse'>>
>(BES, 'PublishBuildToolEventStream')

type He<N extends string> = `grpc.health.v1.${N}`
export const healthCheck = method<Input<He<'HealthCheckRequest'>>, Output<He<'HealthCheckResponse'>>>(
  'grpc.health.v1.Health',
  'Check',
)
export const healthWatch = method<Input<He<'HealthCheckRequest'>>, Output<He<'HealthCheckResponse'>>>(
  'grpc.health.v1.Health',
  'Watch',
)
export const healthList = method<Input<He<'HealthListRequest'>>, Output<He<'HealthListResponse'>>>(
  'grpc.health.v1.Health',
  'List',
)
export const serverReflectionInfo = method<
  Input<'grpc.reflection.v1.ServerReflectionRequest'>,
  Output<'grpc.reflection.v1.ServerReflectionResponse'>
>('grpc.reflection.v1.ServerReflection', 'ServerReflectionInfo')
export const serverReflectionInfoAlpha = method<
  Input<'grpc.reflection.v1alpha.ServerReflectionRequest'>,
  Output<'grpc.reflection.v1alpha.ServerReflectionResponse'>
>('grpc.reflection.v1alpha.ServerReflection', 'ServerReflectionInfo')
