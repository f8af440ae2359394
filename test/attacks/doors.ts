/** How an attack addresses an HTTP route: a request that its handler takes, and one with a body. */
export interface HttpDoor {
  readonly path: string
  readonly method: string
  /** Takes a body; absent if the route takes none. */
  readonly upload?: string
}

const HASH = 'a'.repeat(64)
const get = (path: string): HttpDoor => ({ path, method: 'GET' })
const file = (path: string): HttpDoor => ({ path, method: 'GET', upload: 'PUT' })

/** By the path of the route. Those of operators are asked by a method that they do not take: some would stop the server. */
export const HTTP_DOORS: Readonly<Record<string, HttpDoor>> = {
  '/': { path: '/login', method: 'GET', upload: 'POST' },
  '/status': get('/status'),
  '/status/ready': get('/status/ready'),
  '/status/live': get('/status/live'),
  '/admin': get('/admin'),
  '/admin/status': get('/admin/status'),
  '/admin/blobs': get('/admin/blobs'),
  '/admin/builds': get('/admin/builds'),
  '/admin/demand': get('/admin/demand?property=a=b'),
  '/admin/scopes': get('/admin/scopes'),
  '/admin/result': get('/admin/result'),
  '/admin/drain': get('/admin/drain'),
  '/admin/operation': get('/admin/operation'),
  '/admin/profile': get('/admin/profile'),
  '/admin/heap': get('/admin/heap'),
  '/admin/form/drain': { path: '/admin/form/drain', method: 'GET', upload: 'POST' },
  '/admin/form/undrain': { path: '/admin/form/undrain', method: 'GET', upload: 'POST' },
  '/admin/form/drop-scope': { path: '/admin/form/drop-scope', method: 'GET', upload: 'POST' },
  '/bazel': file(`/bazel/cas/${HASH}`),
  '/ccache': file(`/ccache/${'a'.repeat(40)}`),
  '/go': { path: `/go/action/${HASH}`, method: 'GET' },
  '/gradle': file(`/gradle/${'a'.repeat(32)}`),
  '/maven': file('/maven/v1/group/artifact/sum/file'),
  '/nx': file('/nx/v1/cache/123'),
  '/opaque': file('/opaque/some/key'),
  '/turborepo': file(`/turborepo/v8/artifacts/${'a'.repeat(16)}`),
  '/webdav': file('/webdav/a/b/c'),
}

const REAPI = '/build.bazel.remote.execution.v2'

/** By their services. */
export const GRPC_DOORS: Readonly<Record<string, readonly string[]>> = {
  [`${REAPI}.Capabilities`]: ['GetCapabilities'],
  [`${REAPI}.ContentAddressableStorage`]: [
    ...['FindMissingBlobs', 'BatchUpdateBlobs', 'BatchReadBlobs', 'GetTree', 'SplitBlob', 'SpliceBlob'],
  ],
  [`${REAPI}.ActionCache`]: ['GetActionResult', 'UpdateActionResult'],
  [`${REAPI}.Execution`]: ['Execute', 'WaitExecution'],
  '/google.bytestream.ByteStream': ['Read', 'Write', 'QueryWriteStatus'],
  '/google.longrunning.Operations': [
    ...['ListOperations', 'GetOperation', 'DeleteOperation', 'CancelOperation', 'WaitOperation'],
  ],
  '/build.bazel.remote.asset.v1.Fetch': ['FetchBlob', 'FetchDirectory'],
  '/build.bazel.remote.asset.v1.Push': ['PushBlob', 'PushDirectory'],
  '/google.devtools.build.v1.PublishBuildEvent': ['PublishLifecycleEvent', 'PublishBuildToolEventStream'],
  '/remexec.scheduler.v1.SchedulerState': ['GetState', 'ReadPrinted'],
  '/remexec.scheduler.v1.Scheduling': ['Join'],
  '/remexec.worker.v1.WorkerApi': ['Connect'],
  '/grpc.health.v1.Health': ['Check', 'List', 'Watch'],
  '/grpc.reflection.v1.ServerReflection': ['ServerReflectionInfo'],
  '/grpc.reflection.v1alpha.ServerReflection': ['ServerReflectionInfo'],
}
