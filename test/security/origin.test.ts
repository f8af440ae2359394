import { createHash } from 'node:crypto'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { holds, unpack } from '../../src/proto/any.js'
import { codec, type Output } from '../../src/proto/codec.js'
import { collect, TestClient } from '../server/client.js'
import {
  AC,
  type BuiltAction,
  buildAction,
  EXECUTION,
  FakeWorker,
  OPERATIONS,
  responseOf,
} from '../service/execution-harness.js'
import { CAS, wire } from '../service/harness.js'
import { Lines } from '../tls/lines.js'
import { bearer, type Guarded, startGuarded } from './server.js'

type Result = Output<'build.bazel.remote.execution.v2.ActionResult'>

const originCodec = codec('remexec.scheduler.v1.ResultOrigin')
const usageCodec = codec('remexec.worker.v1.CommandUsage')
const anyOf = ({ typeName }: { readonly typeName: string }, value: Buffer) => ({ typeUrl: `x/${typeName}`, value })

/** A forged origin from a client or a worker, beside unrelated metadata. */
const forged = {
  worker: 'w',
  auxiliaryMetadata: [
    anyOf(originCodec, originCodec.encode({ identity: 'token boss', workerId: 'best', workerIdentity: 'token best' })),
    anyOf(usageCodec, usageCodec.encode({ peakResidentBytes: 7 })),
  ],
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
const SECURITY = {
  identity: { tokens: ['ci', 'reader', 'boss', 'w', 'giver'].map((name) => ({ name, sha256: hash(name) })) },
  access: [
    { names: ['ci'], may: ['execute', 'write_cas', 'read_ac'], instances: ['main'] },
    { names: ['reader'], may: ['read_ac'], instances: ['main'] },
    { names: ['giver'], may: ['write_ac'] },
    { names: ['boss'], may: ['read_ac', 'execute', 'administer'] },
    { names: ['w'], may: ['work'] },
  ],
}

/** The origin in a result. All other metadata must still be there. */
const originIn = (t: Test, result: Result | null | undefined) => {
  const told = result?.executionMetadata?.auxiliaryMetadata ?? []
  t.equal(result?.executionMetadata?.worker, 'w')
  t.equal(told.filter((any) => holds(any, usageCodec)).length, 1, 'what else is told stays')
  const origins = told.filter((any) => holds(any, originCodec)).map((any) => unpack(originCodec, any))
  t.ok(origins.length <= 1)
  // The time is now.
  if (origins[0] !== undefined) Reflect.deleteProperty(origins[0], 'storedMs')
  return origins[0]
}

const upload = ({ client }: Pick<Guarded, 'client'>, { action, command, root }: BuiltAction) => {
  const requests = [action, command, root].map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
  return client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests }, { metadata: bearer('ci') })
    .response
}

const asks = ({ client }: Pick<Guarded, 'client'>, who: string) => {
  const metadata = bearer(who)
  const unary = (name: string, request: object) => client.unary(name, request, { metadata }).response
  const stream = async (name: string, request: object) =>
    responseOf((await collect(client.serverStream(name, request, { metadata }))).messages.at(-1)).result
  const about = ({ digest }: BuiltAction) => ({ instanceName: 'main', actionDigest: wire(digest) })
  return {
    execute: (built: BuiltAction, more: object = {}) => stream(`${EXECUTION}/Execute`, { ...about(built), ...more }),
    begun: (built: BuiltAction) => client.serverStream(`${EXECUTION}/Execute`, about(built), { metadata }),
    wait: (name: string) => stream(`${EXECUTION}/WaitExecution`, { name }),
    operation: async (name: string) => responseOf(await unary(`${OPERATIONS}/GetOperation`, { name })).result,
    awaited: async (name: string) => responseOf(await unary(`${OPERATIONS}/WaitOperation`, { name })).result,
    listed: async () => {
      const { operations } = await unary(`${OPERATIONS}/ListOperations`, { name: 'main/operations' })
      return responseOf(operations.at(-1)).result
    },
    result: (built: BuiltAction, more: object = {}): Promise<Result> =>
      unary(`${AC}/GetActionResult`, { ...about(built), ...more }),
    give: (built: BuiltAction): Promise<Result> =>
      unary(`${AC}/UpdateActionResult`, { ...about(built), actionResult: { executionMetadata: forged } }),
  }
}

/** Runs an action for `ci` on a worker that forges origins. */
const run = async (server: Guarded, built: BuiltAction) => {
  const worker = await new FakeWorker(server.client, server.clock, bearer('w')).hello()
  await upload(server, built)
  const running = collect(asks(server, 'ci').begun(built))
  const start = await worker.start()
  worker.succeed(start, { executionMetadata: forged })
  const last = (await running).messages.at(-1)
  return { worker, start, name: last.name as string, result: responseOf(last).result }
}

t.test('administrators of the instance see the caller and the worker of a result, and no others', async (t) => {
  const server = await startGuarded(t, SECURITY)
  const built = buildAction()
  const { worker, start, name, result } = await run(server, built)
  const expected = { identity: 'token ci', workerId: worker.id, workerIdentity: 'token w' }
  t.same(unpack(originCodec, start.origin as never), expected, 'for a worker that writes results itself')
  const [ci, boss, reader] = ['ci', 'boss', 'reader'].map((who) => asks(server, who))
  if (ci === undefined || boss === undefined || reader === undefined) throw new Error('nobody')
  t.equal(originIn(t, result), undefined, 'ci itself is not told')
  const hints = { inlineStdout: true, inlineOutputFiles: ['x'] }
  for (const [who, ways] of [
    [undefined, [ci.wait(name), ci.operation(name), ci.awaited(name), ci.execute(built), ci.execute(built, hints)]],
    [undefined, [ci.result(built), reader.result(built), reader.result(built), reader.result(built, hints)]],
    [expected, [boss.wait(name), boss.operation(name), boss.awaited(name), boss.listed()]],
    [expected, [boss.execute(built), boss.execute(built, hints), boss.result(built), boss.result(built, hints)]],
  ] as const) {
    for (const way of ways) t.same(originIn(t, await way), who)
  }
  t.equal(originIn(t, await reader.result(built)), undefined, 'an answer kept for one is not given to the other')
})

t.test('a result stored by a client has that client as its origin, whatever it claims', async (t) => {
  const server = await startGuarded(t, SECURITY)
  const built = buildAction()
  await asks(server, 'giver').give(built)
  t.same(originIn(t, await asks(server, 'boss').result(built)), {
    identity: 'token giver',
    workerId: '',
    workerIdentity: '',
  })
  t.equal(originIn(t, await asks(server, 'reader').result(built)), undefined)
})

t.test('callers_in_results: readers shows the origin to all readers, nobody does not record it', async (t) => {
  const open = await startGuarded(t, { ...SECURITY, callers_in_results: 'readers' })
  const built = buildAction()
  const { result } = await run(open, built)
  t.match(originIn(t, result), { identity: 'token ci', workerIdentity: 'token w' })
  t.match(originIn(t, await asks(open, 'reader').result(built)), { identity: 'token ci' })

  const silent = await startGuarded(t, { ...SECURITY, callers_in_results: 'nobody' })
  const ran = await run(silent, built)
  t.equal(ran.start.origin, null)
  t.equal(originIn(t, ran.result), undefined, 'not even what the worker says')
  const boss = asks(silent, 'boss')
  t.equal(originIn(t, await boss.result(built)), undefined)
  const given = buildAction({ command: { arguments: ['other'] } })
  await asks(silent, 'giver').give(given)
  t.equal(originIn(t, await boss.result(given)), undefined)
})

t.test('callers_in_results: nobody hides recorded origins', async (t) => {
  const folder = t.testdir()
  const kept = { filesystem: { content_path: join(folder, 'ac'), temp_path: join(folder, 'temp') } }
  const built = buildAction()
  const open = await startGuarded(t, { ...SECURITY, callers_in_results: 'readers' }, {}, kept)
  await asks(open, 'giver').give(built)
  t.match(originIn(t, await asks(open, 'reader').result(built)), { identity: 'token giver' })
  await open.close()

  const silent = await startGuarded(t, { ...SECURITY, callers_in_results: 'nobody' }, {}, kept)
  for (const who of ['boss', 'reader']) {
    for (const hints of [{}, { inlineStdout: true }]) {
      t.equal(originIn(t, await asks(silent, who).result(built, hints)), undefined, who)
    }
  }
  await silent.close()
})

t.test('without security a result keeps its origin', async (t) => {
  const memory = { memory: { eviction_policy: { max_bytes: '10mb' } } }
  const client = await startWith(t, { stores: { AC: memory, CAS: memory } })
  const [built, about] = [buildAction(), { instanceName: 'main' }]
  const actionDigest = wire(built.digest)
  const actionResult = { executionMetadata: forged }
  await client.unary(`${AC}/UpdateActionResult`, { ...about, actionDigest, actionResult }).response
  const found = await client.unary(`${AC}/GetActionResult`, { ...about, actionDigest }).response
  t.match(originIn(t, found), { identity: 'token boss' }, 'nobody is known here: a server in front may have said it')
})

t.test('a worker that writes results itself records the caller', async (t) => {
  const folder = t.testdir()
  const [content, temp] = ['content', 'temp'].map((name) => join(folder, name))
  const eviction_policy = { max_bytes: '10mb' }
  const cas = {
    fast_slow: {
      fast: { filesystem: { content_path: content, temp_path: temp, eviction_policy } },
      slow: { noop: {} },
    },
  }
  const worker = {
    worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' },
    cas_fast_slow_store: 'CAS',
    work_directory: join(folder, 'work'),
    upload_action_result: { ac_store: 'AC' },
  }
  const client = await startWith(t, {
    stores: { CAS: cas, AC: { memory: { eviction_policy } } },
    workers: [{ local: worker }],
    security: { ...SECURITY, callers_in_results: 'readers' },
  })
  const built = buildAction({ command: { arguments: ['/bin/true'], outputPaths: ['none'] } })
  await upload({ client }, built)
  const ci = asks({ client }, 'ci')
  const answered = await ci.execute(built)
  const found = await ci.result(built)
  for (const result of [answered, found]) {
    const told = result?.executionMetadata?.auxiliaryMetadata.filter((any) => holds(any, originCodec)) ?? []
    t.match(
      told.map((any) => unpack(originCodec, any)),
      [{ identity: 'token ci', workerIdentity: 'process worker' }],
    )
  }
})

const startWith = async (t: Test, parts: object): Promise<TestClient> => {
  const instances = (options: object) => ({ main: options })
  const hasWorkers = 'workers' in parts
  const text = JSON.stringify({
    ...(hasWorkers && { schedulers: { S: { simple: {} } } }),
    servers: [
      {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: instances({ cas_store: 'CAS' }),
          ac: instances({ ac_store: 'AC' }),
          ...(hasWorkers && { execution: instances({ cas_store: 'CAS', scheduler: 'S' }) }),
        },
      },
      ...(hasWorkers
        ? [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services: { worker_api: { scheduler: 'S' } } }]
        : []),
    ],
    ...parts,
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const running = await assemble(config, { clock: systemClock, log: new Lines().log })
  t.teardown(() => running.close())
  const client = new TestClient(running.addresses[0]?.address ?? '')
  t.teardown(() => client.close())
  return client
}
