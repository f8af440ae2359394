import { createHash, randomUUID } from 'node:crypto'
import { Metadata, status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { serviceDefinition } from '../../src/proto/service-definition.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { collect, type TestClient } from '../server/client.js'
import { bearer, startGuarded } from './server.js'

const PERMISSIONS = [
  'read_cas',
  'write_cas',
  'read_ac',
  'write_ac',
  'execute',
  'push',
  'work',
  'forward',
  'administer',
] as const
type Permission = (typeof PERMISSIONS)[number]

const hash = '0'.repeat(digestFunctions.SHA256.hexLength)
const digest = { hash, sizeBytes: 1 }
const REAPI = 'build.bazel.remote.execution.v2'

interface Row {
  /** One of them is enough; `open` is for everybody. */
  readonly needs: readonly Permission[] | 'open'
  /** A request about the instance. */
  readonly request: (instanceName: string) => object
  /** It names no instance. */
  readonly isOfProcess?: boolean
}

const inInstance = (...needs: Permission[]): Row => ({ needs, request: (instanceName) => ({ instanceName }) })
const ofAction = (needs: Permission): Row => ({
  needs: [needs],
  request: (instanceName) => ({ instanceName, actionDigest: digest }),
})
const ofOperation: Row = {
  needs: ['execute', 'administer'],
  request: (instanceName) => ({ name: `${instanceName}/operations/${randomUUID()}` }),
}
const ofUpload: Row = {
  needs: ['write_cas'],
  request: (instanceName) => ({ resourceName: `${instanceName}/uploads/u/blobs/${hash}/1` }),
}
const PUBLISH: readonly Permission[] = ['write_cas', 'write_ac', 'execute']
/** Each of an invocation of its own, because no two callers may share one. */
const ordered = () => ({
  streamId: { buildId: 'b', invocationId: randomUUID(), component: 3 },
  sequenceNumber: 1,
  event: { bazelEvent: { typeUrl: 'x' } },
})
const open: Row = { needs: 'open', request: () => ({}) }

/** The permissions of each method, repeated by hand. */
const expected: Readonly<Record<string, Row>> = {
  [`${REAPI}.Capabilities/GetCapabilities`]: inInstance(
    'read_cas',
    'write_cas',
    'read_ac',
    'write_ac',
    'execute',
    'push',
    'administer',
  ),
  [`${REAPI}.ContentAddressableStorage/FindMissingBlobs`]: inInstance('read_cas', 'write_cas'),
  [`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`]: inInstance('write_cas'),
  [`${REAPI}.ContentAddressableStorage/BatchReadBlobs`]: inInstance('read_cas'),
  [`${REAPI}.ContentAddressableStorage/GetTree`]: inInstance('read_cas'),
  [`${REAPI}.ContentAddressableStorage/SplitBlob`]: inInstance('read_cas'),
  [`${REAPI}.ContentAddressableStorage/SpliceBlob`]: inInstance('write_cas'),
  [`${REAPI}.ActionCache/GetActionResult`]: ofAction('read_ac'),
  [`${REAPI}.ActionCache/UpdateActionResult`]: ofAction('write_ac'),
  [`${REAPI}.Execution/Execute`]: ofAction('execute'),
  [`${REAPI}.Execution/WaitExecution`]: ofOperation,
  'build.bazel.remote.asset.v1.Fetch/FetchBlob': inInstance('read_ac'),
  'build.bazel.remote.asset.v1.Fetch/FetchDirectory': inInstance('read_ac'),
  'build.bazel.remote.asset.v1.Push/PushBlob': inInstance('push'),
  'build.bazel.remote.asset.v1.Push/PushDirectory': inInstance('push'),
  'google.bytestream.ByteStream/Read': {
    needs: ['read_cas'],
    request: (instanceName) => ({ resourceName: `${instanceName}/blobs/${hash}/1` }),
  },
  'google.bytestream.ByteStream/Write': ofUpload,
  'google.bytestream.ByteStream/QueryWriteStatus': ofUpload,
  'google.longrunning.Operations/GetOperation': ofOperation,
  'google.longrunning.Operations/WaitOperation': ofOperation,
  'google.longrunning.Operations/CancelOperation': ofOperation,
  'google.longrunning.Operations/DeleteOperation': ofOperation,
  'google.longrunning.Operations/ListOperations': {
    needs: ['administer'],
    request: (instanceName) => ({ name: `${instanceName}/operations` }),
  },
  'google.devtools.build.v1.PublishBuildEvent/PublishLifecycleEvent': {
    needs: PUBLISH,
    request: (projectId) => ({ projectId, buildEvent: ordered() }),
  },
  'google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream': {
    needs: PUBLISH,
    request: (projectId) => ({ projectId, orderedBuildEvent: ordered() }),
  },
  'remexec.scheduler.v1.SchedulerState/GetState': {
    needs: ['forward', 'administer'],
    request: () => ({}),
    isOfProcess: true,
  },
  'remexec.scheduler.v1.SchedulerState/ReadPrinted': {
    needs: ['forward', 'administer'],
    request: () => ({ operation: 'main/operations/S/0' }),
    isOfProcess: true,
  },
  'remexec.scheduler.v1.Scheduling/Join': { needs: ['forward'], request: () => ({}), isOfProcess: true },
  'remexec.worker.v1.WorkerApi/Connect': { needs: ['work'], request: () => ({}), isOfProcess: true },
  'grpc.health.v1.Health/Check': open,
  'grpc.health.v1.Health/List': open,
  'grpc.health.v1.Health/Watch': open,
  'grpc.reflection.v1.ServerReflection/ServerReflectionInfo': open,
  'grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo': open,
}

const token = (name: string): string => `token-of-${name}`
const known = (name: string) => ({ name, sha256: createHash('sha256').update(token(name)).digest('hex') })

const SECURITY = {
  identity: { tokens: [...PERMISSIONS, 'nobody', 'elsewhere'].map(known) },
  access: [
    ...PERMISSIONS.map((permission) => ({ names: [permission], may: [permission], instances: ['main'] })),
    { names: ['elsewhere'], may: PERMISSIONS.filter((one) => one !== 'work'), instances: ['other'] },
  ],
}

interface End {
  readonly code: string
  readonly message: string
}

/** The status of a call of any kind; a stream with a response counts as OK. */
const end = (client: TestClient, path: string, request: object, metadata: Metadata): Promise<End> => {
  const [service = '', name] = path.split('/')
  const method = serviceDefinition(service).methods.find((one) => one.name === name)
  if (method === undefined) throw new Error(`protos/ has no ${path}`)
  return new Promise((resolve) => {
    const asItIs = (bytes: Buffer): Buffer => bytes
    const options = { deadline: Date.now() + 30_000 }
    const call = client.client.makeBidiStreamRequest(method.path, asItIs, asItIs, metadata, options)
    call.on('error', () => {})
    call.on('data', () => {
      resolve({ code: 'OK', message: '' })
      call.cancel()
    })
    call.on('status', ({ code, details }) => resolve({ code: status[code] ?? String(code), message: details }))
    call.end(method.request.encode(request))
  })
}

const isRefusal = ({ code }: End): boolean => code === 'PERMISSION_DENIED' || code === 'UNAUTHENTICATED'

/** Every method of every service that the server says it has. */
const servedMethods = async (client: TestClient): Promise<string[]> => {
  const info = client.bidi('grpc.reflection.v1.ServerReflection/ServerReflectionInfo')
  info.end({ listServices: '' })
  const [answer] = (await collect(info)).messages
  const services: { name: string }[] = answer.listServicesResponse.service
  return services.flatMap(({ name }) => serviceDefinition(name).methods.map((method) => `${name}/${method.name}`))
}

for (const transport of ['remexec', 'grpc-js']) {
  t.test(`${transport}: every served method, with each permission alone`, async (t) => {
    const { client } = await startGuarded(t, SECURITY, { transport }, undefined, {
      build_events: { path: t.testdir() },
    })
    const served = await servedMethods(client)
    t.same([...served].sort(), Object.keys(expected).sort(), 'each has a row here')
    for (const path of served) await t.test(path, (t) => checkMethod(t, client, path, expected[path] ?? open))
  })
}

const checkMethod = async (t: Test, client: TestClient, path: string, row: Row): Promise<void> => {
  const { needs, request, isOfProcess = false } = row
  const ask = (who: Metadata, instanceName = 'main') => end(client, path, request(instanceName), who)
  for (const permission of PERMISSIONS) {
    const found = await ask(bearer(token(permission)))
    const isAllowed = needs === 'open' || needs.includes(permission)
    if (isAllowed) t.notOk(isRefusal(found), `${permission} may: ${found.code} ${found.message}`)
    // A caller that may only work, or forward, may do nothing in an instance: it gets the error of a missing one.
    else if ((permission === 'work' || permission === 'forward') && !isOfProcess)
      t.match(found.code, /INVALID_ARGUMENT|NOT_FOUND/, permission)
    else t.equal(found.code, 'PERMISSION_DENIED', permission)
  }
  const [nobody, stranger] = [await ask(new Metadata()), await ask(bearer('unknown'))]
  for (const found of [nobody, stranger]) t.equal(isRefusal(found), needs !== 'open', found.message)
  if (needs === 'open') return
  t.equal(nobody.code, 'UNAUTHENTICATED')
  t.equal(stranger.code, 'UNAUTHENTICATED')
  if (isOfProcess) return
  const sameAs = (text: string) => text.replaceAll(/"[^"]*"/g, '""')
  for (const who of ['nobody', 'elsewhere']) {
    const [forbidden, absent] = [await ask(bearer(token(who))), await ask(bearer(token(who)), 'absent')]
    t.equal(forbidden.code, absent.code, `${who} cannot tell a forbidden instance from none`)
    t.equal(sameAs(forbidden.message), sameAs(absent.message))
    t.notMatch(forbidden.message, who === 'nobody' ? /other/ : /expected one of .*main/, 'nor hear of one by others')
  }
  t.equal((await ask(new Metadata(), 'absent')).code, 'UNAUTHENTICATED')
}
