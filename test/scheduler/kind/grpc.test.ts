import { once } from 'node:events'
import { createServer } from 'node:http2'
import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import type { HealthProbe } from '../../../src/base/health.js'
import { Code, isStatus } from '../../../src/base/status-error.js'
import type { GrpcSchedulerOptions } from '../../../src/config/config.js'
import { silentLog } from '../../../src/log/log.js'
import { codec } from '../../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../../src/proto/request-metadata.js'
import { Spread } from '../../../src/scheduler/elected/spread.js'
import { grpc } from '../../../src/scheduler/kind/grpc.js'
import type { BuildContext } from '../../../src/scheduler/kind.js'
import type { Scheduler } from '../../../src/scheduler/scheduler.js'
import { Resources } from '../../../src/work/resources.js'
import { buildAction, OPERATIONS, Reader, responseOf, serveExecution } from '../../service/execution-harness.js'
import { failure, put } from '../../service/harness.js'
import { startSilent, turns } from '../../store/kinds/grpc/silent-server.js'
import { portOf } from '../../store/remote/backend.js'
import { TcpProxy } from '../../store/remote/proxy.js'
import { untilSo } from '../../until.js'

const optionsOf = (address: string): GrpcSchedulerOptions => ({
  endpoint: {
    ...{ address: `grpc://${address}`, concurrency_limit: 0, connect_timeout_s: 5 },
    ...{ http2_keepalive_interval_s: 30, http2_keepalive_timeout_s: 20 },
  },
  retry: { max_retries: 2, delay: 0.01, jitter: 0, budget_s: 0 },
  ...{ max_concurrent_requests: 0, connections_per_endpoint: 1, headers: new Map(), scheduler_wait_s: 30 },
})

const contextOf = (): BuildContext => ({
  ...{
    name: 'FRONT',
    clock: new ManualClock(),
    log: silentLog,
    newId: () => 'own',
    resources: new Resources(silentLog),
  },
  results: { find: async () => undefined, keep: async (_, response) => response },
  spread: new Spread(),
  watch: () => {},
  child: () => Promise.reject(new Error('there is none behind')),
})

/** A server that forwards its actions to another one. Both share the blobs. */
const servePair = async (t: Test) => {
  const back = await serveExecution(t)
  const scheduler = await grpc.build(optionsOf(back.address), contextOf())
  t.teardown(() => scheduler.close())
  const front = await serveExecution(t, { before: () => scheduler })
  const upload = async (built = buildAction()) => {
    for (const { cas } of [front, back]) await put(cas, built.action, built.command, built.root)
    return built
  }
  return { front, back, scheduler, upload }
}

t.test('an action is forwarded to the remote server, and its operation comes from there', async (t) => {
  const { front, back, upload } = await servePair(t)
  const built = await upload()
  const stream = new Reader(front.execute(built, { executionPolicy: { priority: 7 } }))
  const first = await stream.next()
  t.match(first.name, /^operations\/FRONT\/~/)
  const worker = await back.worker()
  const start = await worker.start()
  t.equal(start.actionDigest?.hash, built.digest.hash)
  worker.succeed(start, { stdoutRaw: Buffer.from('there') })
  const last = (await stream.rest()).at(-1) ?? first
  t.equal(last.name, first.name)
  t.equal(responseOf(last).result?.stdoutRaw.toString(), 'there')
  const again = await new Reader(front.wait(first.name)).rest()
  t.equal(responseOf(again.at(-1) ?? first).result?.stdoutRaw.toString(), 'there', 'asked for again')
})

t.test('an operation is found again after a restart of the forwarding server', async (t) => {
  const { front, back, scheduler, upload } = await servePair(t)
  const { name } = await new Reader(front.execute(await upload())).next()
  scheduler.close()
  const anew = await grpc.build(optionsOf(back.address), contextOf())
  t.teardown(() => anew.close())
  const states = anew.watch(name, new AbortController().signal)
  t.match((await states.next()).value, { stage: 'QUEUED' })
  const worker = await back.worker()
  worker.succeed(await worker.start())
  let last = await states.next()
  for (; last.done !== true && last.value.outcome === undefined; ) last = await states.next()
  t.match(last.value, { name, stage: 'COMPLETED' })
})

t.test('Operations: get, list, cancel and delete are forwarded', async (t) => {
  const { front, upload } = await servePair(t)
  const { name } = await new Reader(front.execute(await upload())).next()
  const call = (method: string, request: object) => front.client.unary(`${OPERATIONS}/${method}`, request).response
  t.match(await call('GetOperation', { name }), { name, done: false })
  t.match(await call('ListOperations', { name: 'operations' }), { operations: [{ name }] })
  await call('CancelOperation', { name })
  t.match(await call('GetOperation', { name }), { done: true })
  await call('DeleteOperation', { name })
  for (const method of ['GetOperation', 'CancelOperation', 'DeleteOperation'])
    t.equal((await failure(call(method, { name }))).code, 'NOT_FOUND', `${method} of a deleted one`)
  t.equal((await failure(call('GetOperation', { name: 'operations/FRONT/else' }))).code, 'NOT_FOUND')
})

t.test('a lost stream is reopened, a stream closed by the client is not', async (t) => {
  const { back, scheduler, upload } = await servePair(t)
  const built = await upload()
  const name = await scheduler.execute(requestOf(built.digest))
  const hanging = new AbortController()
  const states = scheduler.watch(name, hanging.signal)
  t.match((await states.next()).value, { stage: 'QUEUED' })
  hanging.abort()
  t.equal((await states.next()).done, true)
  const worker = await back.worker()
  worker.succeed(await worker.start())
  const seen: string[] = []
  for await (const { stage } of scheduler.watch(name, new AbortController().signal)) seen.push(stage)
  t.equal(seen.at(-1), 'COMPLETED')
})

t.test('an operation that the remote server rejects keeps its code and details', async (t) => {
  const { front, back } = await servePair(t)
  const built = await front.upload(buildAction())
  const last = (await new Reader(front.execute(built)).rest()).at(-1)
  const { status } = last === undefined ? { status: null } : responseOf(last)
  t.match(status, { code: 9, details: [{ typeUrl: /PreconditionFailure/ }] }, 'the other CAS lacks the action')
  back.host.drain()
  await put(back.cas, built.action, built.command, built.root)
  const refused = (await new Reader(front.execute(built)).rest()).at(-1)
  t.match(refused && responseOf(refused).status, { code: 14, message: /shutting down/ })
})

/** What the component says of itself, with a server at that address. */
const healthAt = async (t: Test, address: string): Promise<unknown> => {
  const probes: HealthProbe[] = []
  const scheduler = await grpc.build(optionsOf(address), { ...contextOf(), watch: (probe) => probes.push(probe) })
  t.teardown(() => scheduler.close())
  return probes[0]?.check(new AbortController().signal)
}

t.test('the health report says why executions cannot go to a server', async (t) => {
  t.match(await healthAt(t, '127.0.0.1:1'), {
    state: 'Failed',
    message: 'no connection to 127.0.0.1:1',
    error: /^UNAVAILABLE: .*ECONNREFUSED/,
  })
})

t.test('an unreachable server is UNAVAILABLE after scheduler_wait_s', async (t) => {
  const scheduler = await grpc.build({ ...optionsOf('127.0.0.1:1'), scheduler_wait_s: 0.2 }, contextOf())
  t.teardown(() => scheduler.close())
  const built = buildAction()
  const error = await scheduler.execute(requestOf(built.digest)).catch((thrown: unknown) => thrown)
  t.ok(isStatus(error, 'UNAVAILABLE'))
  t.match(error, { message: /127.0.0.1:1 could not be reached for 0.2 s/ })
})

t.test('a call that the remote server rejects keeps the details of its status', async (t) => {
  const typeUrl = 'type.googleapis.com/google.rpc.RetryInfo'
  const status = codec('google.rpc.Status').encode({ code: 8, message: 'full', details: [{ typeUrl }] })
  const told = { 'grpc-status': '8', 'grpc-message': 'full', 'grpc-status-details-bin': status.toString('base64') }
  const server = createServer().on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...told }, { endStream: true })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const retry = { max_retries: 0, delay: 0, jitter: 0, budget_s: 0 }
  const address = `127.0.0.1:${portOf(server.address())}`
  const scheduler = await grpc.build({ ...optionsOf(address), retry }, contextOf())
  t.teardown(() => scheduler.close())
  const refused = scheduler.execute(requestOf(buildAction().digest))
  await t.rejects(refused, { code: Code.RESOURCE_EXHAUSTED, message: /full/, details: [{ typeUrl }] })
})

t.test('a connection that the remote server closes during a call causes no failure and no retry', async (t) => {
  const back = await serveExecution(t)
  const proxy = await TcpProxy.start(t, Number(back.address.split(':').at(-1)))
  const retry = { max_retries: 0, delay: 0, jitter: 0, budget_s: 0 }
  const scheduler = await grpc.build({ ...optionsOf(`127.0.0.1:${proxy.port}`), retry }, contextOf())
  t.teardown(() => scheduler.close())
  const execute = async (salt: string): Promise<string> => {
    const { digest } = await back.upload(buildAction({ action: { salt: Buffer.from(salt) } }))
    return scheduler.execute(requestOf(digest))
  }
  const first = await execute('first')
  proxy.endWhenUsed()
  t.match(await execute('second'), /^operations\/FRONT\/~/)
  proxy.endWhenUsed()
  t.match(await scheduler.get(first), { name: first, stage: 'QUEUED' })
  proxy.endWhenUsed()
  t.ok(await scheduler.cancel(first))
})

t.test('RequestMetadata is forwarded to the remote server', async (t) => {
  const { front, back, upload } = await servePair(t)
  const headers = new Metadata()
  const asked = codec('build.bazel.remote.execution.v2.RequestMetadata').encode({ toolInvocationId: 'build-9' })
  headers.set(REQUEST_METADATA, asked)
  const built = await upload()
  const actionDigest = { hash: built.digest.hash, sizeBytes: built.digest.sizeBytes }
  const stream = front.client.serverStream(
    'build.bazel.remote.execution.v2.Execution/Execute',
    { actionDigest },
    { metadata: headers },
  )
  const worker = await back.worker()
  worker.succeed(await worker.start())
  await new Reader(stream).rest()
  t.match(back.logged.join(''), /build-9/)
})

t.test('max_concurrent_requests, connections_per_endpoint', async (t) => {
  for (const count of [1, 3]) {
    const silent = await startSilent(t)
    const options = { ...optionsOf(`127.0.0.1:${silent.port}`), max_concurrent_requests: count }
    const scheduler = await grpc.build({ ...options, connections_per_endpoint: count }, contextOf())
    t.teardown(() => scheduler.close())
    const asking = [0, 1, 2, 3, 4].map(() => scheduler.execute(requestOf(buildAction().digest)))
    await untilSo(async () => silent.asked.length === 1)
    silent.answer()
    await untilSo(async () => silent.asked.length >= 1 + count)
    await turns()
    t.same(silent.asked, ['Join', ...Array.from({ length: count }, () => 'Execute')])
    t.equal(silent.connections(), count)
    const over = Promise.allSettled(asking)
    await untilSo(async () => {
      silent.answer()
      return silent.asked.length === 6
    })
    silent.answer()
    for (const one of await over) t.match(one, { status: 'rejected', reason: { code: Code.UNIMPLEMENTED } })
  }
})

const requestOf = (actionDigest: Parameters<Scheduler['execute']>[0]['actionDigest']) => ({
  ...{ instanceName: '', actionDigest, properties: [], priority: 0 },
  ...{ doNotCache: false, skipCacheLookup: false, invocation: '' },
})
