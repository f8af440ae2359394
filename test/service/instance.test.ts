import t from 'tap'
import { Code } from '../../src/base/status-error.js'
import { formatReadName } from '../../src/reapi/resource-name.js'
import { executionInstance } from '../../src/service/execution/instance.js'
import { asCas } from '../../src/store/view/cas.js'
import { messagesOf, read, uploadName, write } from './bytestream-client.js'
import { buildAction, ExecutionStage, OPERATIONS, Reader, serveExecution, stageOf } from './execution-harness.js'
import { AC, CAPABILITIES, CAS, failure, has, memoryStore, randomBlob, serve, wire } from './harness.js'

const stores = async () => ({ named: asCas(await memoryStore()), others: asCas(await memoryStore()) })

t.test('the catch-all entry serves instance names that are not configured', async (t) => {
  const { named, others } = await stores()
  const { client } = await serve(t, { instances: { '*': { cas: others, hasExecution: true }, main: { cas: named } } })
  for (const instanceName of ['', 'default_instance', 'projects/p/instances/moon-outputs', '*']) {
    const label = JSON.stringify(instanceName)
    const { executionCapabilities } = await client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName }).response
    t.equal(executionCapabilities.execEnabled, true, `${label}: capabilities`)
    const blob = randomBlob(10)
    const requests = [{ digest: wire(blob.digest), data: blob.bytes }]
    const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName, requests }).response
    t.equal(responses[0].status?.code ?? 0, 0, `${label}: batch`)
    const streamed = randomBlob(70_000)
    await write(client, messagesOf(uploadName(streamed.digest, { instanceName }), streamed.bytes))
    t.same(
      (await read(client, formatReadName(instanceName, streamed.digest))).bytes,
      streamed.bytes,
      `${label}: bytestream`,
    )
    const result = { actionDigest: wire(blob.digest), actionResult: { exitCode: 0 } }
    await client.unary(`${AC}/UpdateActionResult`, { instanceName, ...result }).response
    t.equal((await client.unary(`${AC}/GetActionResult`, { instanceName, ...result }).response).exitCode, 0, label)
    t.ok(
      (await has(others, blob.digest)) && (await has(others, streamed.digest)),
      `${label}: in the store of the entry`,
    )
  }
})

t.test('an entry with the exact name takes precedence over the catch-all entry', async (t) => {
  const { named, others } = await stores()
  const { client } = await serve(t, { instances: { '*': { cas: others }, 'team/main': { cas: named } } })
  const blob = randomBlob(10)
  await write(client, messagesOf(uploadName(blob.digest, { instanceName: 'team/main' }), blob.bytes))
  t.same([await has(named, blob.digest), await has(others, blob.digest)], [true, false])
})

t.test('names that REAPI does not allow are refused, also with a catch-all entry', async (t) => {
  const { client } = await serve(t, { instances: { '*': {} } })
  for (const [instanceName, why] of [
    ['a/uploads/b', /uploads is reserved in REAPI/],
    ['operations', /operations is reserved in REAPI/],
    ['a//b', /has an empty segment/],
    ['a/', /has an empty segment/],
    ['x'.repeat(2000), /is longer than 1024 characters/],
  ] as const) {
    const { code, message } = await failure(client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName }).response)
    t.equal(code, 'INVALID_ARGUMENT', instanceName.slice(0, 20))
    t.match(message, why)
  }
})

t.test('operations of any instance name can be waited for, looked up and listed by that name', async (t) => {
  const server = await serveExecution(t, { instances: ['*'] })
  const built = await server.upload(buildAction())
  const instanceName = 'projects/p/default_instance'
  const stream = new Reader(server.execute(built, { instanceName }))
  const { name } = await stream.until((one) => stageOf(one) !== ExecutionStage.CACHE_CHECK)
  t.ok(name.startsWith(`${instanceName}/operations/`), name)
  const ask = (method: string, request: object) => server.client.unary(`${OPERATIONS}/${method}`, request).response
  t.equal((await ask('GetOperation', { name })).name, name)
  t.same((await ask('ListOperations', { name: instanceName })).operations.length, 1)
  t.same((await ask('ListOperations', { name: 'another' })).operations.length, 0)
  const waiting = new Reader(server.wait(name))
  t.equal((await waiting.next()).name, name)
  t.equal((await failure(ask('GetOperation', { name: `${instanceName}/operations/none` }))).code, 'NOT_FOUND')
})

t.test('an instance name that only cache entries serve cannot execute', async (t) => {
  const options = { instances: new Map(), served: new Map([['*', {}]]), newId: () => '', maxResponseBytes: 0 }
  t.throws(() => executionInstance(options, 'any/name'), { code: Code.UNIMPLEMENTED })
  t.throws(() => executionInstance(options, 'any//name'), { code: Code.INVALID_ARGUMENT })
})
