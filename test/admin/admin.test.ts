/** The assembled server with a scheduler of every kind: what operators and clients see of its queue. */
import t, { type Test } from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { unpack } from '../../src/proto/any.js'
import { codec, type Input, type Output } from '../../src/proto/codec.js'
import { serve } from '../cli/program.js'
import { TestClient } from '../server/client.js'
import {
  AC,
  type BuiltAction,
  buildAction,
  EXECUTION,
  FakeWorker,
  metadataCodec,
  OPERATIONS,
  Reader,
  responseOf,
} from '../service/execution-harness.js'
import { CAS, wire } from '../service/harness.js'
import { freePorts } from '../store/remote/backend.js'
import { found } from '../until.js'

type Operation = Output<'google.longrunning.Operation'>
const progressCodec = codec('remexec.scheduler.v1.OperationProgress')

const progressOf = ({ metadata }: Operation) => {
  const { partialExecutionMetadata } = unpack(metadataCodec, metadata ?? { typeUrl: '', value: Buffer.alloc(0) })
  const [told] = partialExecutionMetadata?.auxiliaryMetadata ?? []
  if (told === undefined) return undefined
  const { waitsFor, queuePosition, queueLength, attempt, worker } = unpack(progressCodec, told)
  return { waitsFor, queuePosition, queueLength, attempt, worker }
}

const start = async (t: Test) => {
  const [port = 0] = await freePorts(1)
  const server = serve(t, 'fixtures/configs/schedulers.json5', t.testdir(), { REMEXEC_WORKER_PORT: `${port}` })
  const addressOf = async (name: string): Promise<string> =>
    (await server.hears(new RegExp(`serving grpc://(\\S+) server=${name}`)))[1] ?? ''
  const [clients, operators] = [await addressOf('public'), await addressOf('operators')]
  const clientOf = (address: string): TestClient => {
    const client = new TestClient(address)
    t.teardown(() => client.close())
    return client
  }
  const client = clientOf(clients)
  const upload = async (instanceName: string, built: BuiltAction): Promise<void> => {
    const blobs = [built.action, built.command, built.root]
    const requests = blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
    await client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName, requests }).response
  }
  const execute = async (instanceName: string, text: string, properties: readonly [string, string][] = []) => {
    const platform = { properties: properties.map(([name, value]) => ({ name, value })) }
    const built = buildAction({ command: { arguments: [text] }, action: { platform } })
    await upload(instanceName, built)
    const request = { instanceName, actionDigest: wire(built.digest) }
    return { built, stream: new Reader<Operation>(client.serverStream(`${EXECUTION}/Execute`, request)) }
  }
  const ask = async (method: string, target: string) => {
    const answer = await fetch(`http://${operators}${target}`, { method })
    return { status: answer.status, content: (await answer.json().catch(() => undefined)) as object | undefined }
  }
  const worker = (hello: Input<'remexec.worker.v1.Hello'>) =>
    new FakeWorker(clientOf(`127.0.0.1:${port}`), new ManualClock(0)).hello(hello)
  return { server, client, execute, ask, worker }
}

const offer = (maxInflightAttempts: number): Input<'remexec.worker.v1.Hello'> => ({
  maxInflightAttempts,
  properties: [
    { name: 'OSFamily', values: ['Linux'] },
    { name: 'Pool', values: ['default', 'night'] },
    { name: 'cpu_count', values: ['4'] },
    { name: 'memory_kb', values: ['1000000'] },
  ],
})

t.test('an action passes four schedulers, one of them on another server', async (t) => {
  const { client, execute, worker } = await start(t)
  const runner = await worker(offer(4))
  for (const instance of ['near', 'far']) {
    const { built, stream } = await execute(instance, instance, [
      ['OSFamily', 'linux'],
      ['container-image', 'x'],
    ])
    t.match((await stream.next()).name, new RegExp(`^${instance}/operations/${instance === 'near' ? 'QUEUE' : 'FAR'}/`))
    const told = await runner.start()
    t.same(
      told.properties.map(({ name, value }) => `${name}=${value}`).sort(),
      ['OSFamily=Linux', 'Pool=default'],
      `${instance}: as they were modified`,
    )
    runner.succeed(told, { stdoutRaw: Buffer.from(instance) })
    const last = (await stream.rest()).at(-1)
    t.equal(last && responseOf(last).result?.stdoutRaw.toString(), instance)
    if (instance === 'far') continue
    const found = await client.unary(`${AC}/GetActionResult`, {
      instanceName: instance,
      actionDigest: wire(built.digest),
    }).response
    t.equal(found.stdoutRaw.toString(), instance, 'and is in the action cache')
  }
})

t.test('GetOperation, ListOperations and the operator page say why an action waits', async (t) => {
  const { server, client, execute, ask, worker } = await start(t)
  const runner = await worker(offer(4))
  const get = async (name: string) => progressOf(await client.unary(`${OPERATIONS}/GetOperation`, { name }).response)
  const first = await (await execute('near', 'a')).stream.next()
  const told = await runner.start()
  const second = await (await execute('near', 'b')).stream.next()
  t.match(await get(first.name), { worker: runner.id, attempt: 1, waitsFor: '' })
  t.match(await get(second.name), {
    ...{ worker: '', attempt: 0, queuePosition: 0, queueLength: 1 },
    waitsFor: /its instance runs 1 actions, as many as it may \(max_running_actions_per_instance\); 0 others wait/,
  })
  const { operations } = await client.unary(`${OPERATIONS}/ListOperations`, { name: 'near/operations' }).response
  t.same(
    operations.map((operation: Operation) => [operation.name, progressOf(operation)?.worker]),
    [
      [first.name, runner.id],
      [second.name, ''],
    ],
  )
  t.match(await ask('GET', '/admin'), {
    status: 200,
    content: {
      schedulers: {
        QUEUE: {
          workers: [
            {
              ...{ id: runner.id, state: 'connected', running: 1, places: 4, heardAt: /^\d{4}-\d\d-\d\dT/ },
              attempts: [{ operation: first.name, instance: 'near', action: /^\w{64}-\d+$/, startedAt: /Z$/ }],
            },
          ],
          queued: 1,
          queue: [{ operation: second.name, instance: 'near', waitsFor: /max_running_actions_per_instance/ }],
        },
      },
    },
  })
  t.match(await ask('GET', '/admin/demand?scheduler=QUEUE'), {
    status: 200,
    content: {
      queued: 1,
      running: 1,
      amounts: {},
      platforms: [{ scheduler: 'QUEUE', properties: [], queued: 1, running: 1 }],
    },
  })
  const drain = `/admin/drain?scheduler=QUEUE&worker=${runner.id}`
  t.same(await ask('PUT', drain), { status: 200, content: { workers: [runner.id], isDrained: true } })
  runner.succeed(told)
  t.match(await ask('GET', '/admin'), { content: { schedulers: { QUEUE: { workers: [{ state: 'draining' }] } } } })
  t.match((await get(second.name))?.waitsFor, /no worker can run it: .*; 1 worker is draining/)
  const undrain = `/admin/drain?scheduler=QUEUE&worker=${runner.id.slice(0, 3)}*${runner.id.slice(-3)}`
  t.same(
    await ask('DELETE', undrain),
    { status: 200, content: { workers: [runner.id], isDrained: false } },
    'a pattern',
  )
  t.equal((await runner.start()).operationName, second.name, 'it takes what waits')
  t.match(await ask('DELETE', `/admin/operation?name=${second.name}`), {
    status: 200,
    content: { cancelled: second.name },
  })
  t.match(await runner.next('kill'), /-1$/)
  t.match(responseOf(await client.unary(`${OPERATIONS}/GetOperation`, { name: second.name }).response), {
    status: { code: 1 },
  })
  const peer = String.raw`peer=127\.0\.0\.1:\d+`
  const changed = `scheduler=QUEUE worker=${runner.id} ${peer}`
  await server.hears(new RegExp(`info +an operator drained a worker ${changed}`))
  await server.hears(new RegExp(`info +an operator ended the drain of a worker ${changed}`))
  await server.hears(new RegExp(`info +an operator cancelled an operation operation=${second.name} ${peer}`))
  for (const [method, target, status] of [
    ['PUT', '/admin/drain?scheduler=FAR&worker=w', 404],
    ['PUT', '/admin/drain?scheduler=QUEUE&worker=other', 404],
    ['PUT', '/admin/drain?scheduler=QUEUE&worker=*none*', 404],
    ['PUT', '/admin/drain', 400],
    ['DELETE', '/admin/operation?name=near/operations/QUEUE/x', 404],
    ['POST', drain, 405],
    ['GET', '/admin/drain', 405],
    ['DELETE', '/admin', 405],
  ] as const) {
    t.equal((await ask(method, target)).status, status, `${method} ${target}`)
  }
})

t.test('demand is told for each platform, also with no worker there, and by the server that forwards', async (t) => {
  const { execute, ask } = await start(t)
  const night: [string, string][] = [
    ['Pool', 'night'],
    ['cpu_count', '3'],
  ]
  for (const text of ['a', 'b']) await (await execute('far', text, [...night, ['OSFamily', 'Linux']])).stream.next()
  await (await execute('far', 'c', [['OSFamily', 'Linux']])).stream.next()
  const amounts = { cpu_count: { queued: 6, running: 0 } }
  const properties = [
    { name: 'OSFamily', value: 'Linux' },
    { name: 'Pool', value: '*' },
  ]
  const platforms = [
    { scheduler: 'QUEUE', queued: 2, running: 0, properties, amounts },
    { scheduler: 'QUEUE', queued: 1, running: 0, properties, amounts: {} },
  ]
  const linux = await ask('GET', '/admin/demand?scheduler=QUEUE&property=Pool=*&property=OSFamily=Linux')
  t.same(linux, { status: 200, content: { queued: 3, running: 0, amounts, platforms } })
  // It is asked once a second.
  const told = await found(async () => {
    const { content } = await ask('GET', '/admin/demand?scheduler=FAR')
    return (content as { queued: number }).queued === 3 ? content : undefined
  })
  t.same(told, { ...linux.content, platforms: platforms.map((one) => ({ ...one, scheduler: 'FAR' })) })
  t.same(await ask('GET', '/admin/demand?property=Pool=day'), {
    status: 200,
    content: { queued: 0, running: 0, amounts: {}, platforms: [] },
  })
  t.match(await ask('GET', '/admin/demand?property=Pool'), {
    status: 400,
    content: { error: /expected property=NAME=VALUE/ },
  })
  t.equal((await ask('GET', '/admin/demand?scheduler=NONE')).status, 404)
})

t.test('the operator page lists the latest actions that failed, with the build they belong to', async (t) => {
  const { client, execute, ask, worker } = await start(t)
  const runner = await worker(offer(4))
  const failed = async (): Promise<readonly object[]> => {
    const { content } = await ask('GET', '/admin')
    return (content as { schedulers: { QUEUE: { failed: object[] } } }).schedulers.QUEUE.failed
  }
  const good = await execute('near', 'good')
  runner.succeed(await runner.start())
  await good.stream.rest()
  t.same(await failed(), [], 'an action that succeeds is not among them')
  const bad = await execute('near', 'bad')
  const { name } = await bad.stream.next()
  runner.succeed(await runner.start(), { exitCode: 3, stderrDigest: { hash: 'a'.repeat(64), sizeBytes: 12 } })
  await bad.stream.rest()
  t.match(await failed(), [
    {
      ...{ operation: name, instance: 'near', action: bad.built.digest.key, result: 'failure', exitCode: 3 },
      ...{ attempts: 1, stderr: `${'a'.repeat(64)}-12`, endedAt: /Z$/ },
    },
  ])
  const cancelled = await execute('near', 'cancelled')
  const { name: waits } = await cancelled.stream.next()
  await client.unary(`${OPERATIONS}/CancelOperation`, { name: waits }).response
  t.equal((await failed()).length, 1, 'nor is one that its client cancelled')
})
