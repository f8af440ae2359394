import { once } from 'node:events'
import { connect } from 'node:http2'
import t from 'tap'
import { assemble } from '../src/assembly/main.js'
import { systemClock } from '../src/base/clock.js'
import { loadConfig } from '../src/config/load.js'
import { silentLog, textLog } from '../src/log/log.js'
import { collect, TestClient } from './server/client.js'
import { failure } from './service/harness.js'

const REAPI = 'build.bazel.remote.execution.v2'
const CACHE = ['ActionCache', 'Capabilities', 'ContentAddressableStorage'].map((name) => `${REAPI}.${name}`)
const EXECUTION = [
  `${REAPI}.Execution`,
  'google.longrunning.Operations',
  'remexec.scheduler.v1.SchedulerState',
  'remexec.scheduler.v1.Scheduling',
]

const configuration = {
  stores: [
    { name: 'CAS', memory: {} },
    { name: 'AC', memory: {} },
  ],
  schedulers: [{ name: 'S', simple: {} }],
  servers: [
    {
      name: 'everything',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ instance_name: 'a', cas_store: 'CAS' }],
        ac: [{ instance_name: 'a', ac_store: 'AC' }],
        execution: [{ instance_name: 'a', cas_store: 'CAS', scheduler: 'S' }],
      },
    },
    {
      name: 'workers',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: { worker_api: { scheduler: 'S' } },
    },
    {
      name: 'cache',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ instance_name: 'a', cas_store: 'CAS' }],
        ac: [{ instance_name: 'a', ac_store: 'AC' }],
      },
    },
  ],
}

t.test('reflection and health of a listener list exactly the services that have an instance', async (t) => {
  const folder = t.testdir({ 'config.json': JSON.stringify(configuration) })
  const running = await assemble(await loadConfig(`${folder}/config.json`), { clock: systemClock, log: silentLog })
  t.teardown(() => running.close())
  const expected = {
    everything: [...CACHE, ...EXECUTION, 'google.bytestream.ByteStream'],
    workers: ['remexec.worker.v1.WorkerApi'],
    cache: [...CACHE, 'google.bytestream.ByteStream'],
  }
  for (const { name, address } of running.addresses) {
    const client = new TestClient(address)
    t.teardown(() => client.close())
    const own = expected[name as keyof typeof expected]
    t.same(await reflected(client), [...own].sort(), `${name}: reflection`)
    const { statuses } = await client.unary('grpc.health.v1.Health/List', {}).response
    t.same(
      Object.keys(statuses)
        .filter((service) => service !== '' && !service.startsWith('grpc.'))
        .sort(),
      [...own].sort(),
    )
    if (name === 'everything') continue
    const execute = collect(client.serverStream(`${REAPI}.Execution/Execute`, { instanceName: 'a' }))
    t.equal((await execute).status?.code, 12, `${name}: Execute is UNIMPLEMENTED`)
    const asked = client.unary('grpc.health.v1.Health/Check', { service: `${REAPI}.Execution` }).response
    t.equal((await failure(asked)).code, 'NOT_FOUND', `${name}: health knows no Execution`)
  }
})

t.test('CAP-16: every priority of REAPI is accepted; the log names the instance of a call', async (t) => {
  const lines: string[] = []
  const folder = t.testdir({ 'config.json': JSON.stringify(configuration) })
  const log = textLog('debug', (line) => lines.push(line))
  const running = await assemble(await loadConfig(`${folder}/config.json`), { clock: systemClock, log })
  t.teardown(() => running.close())
  const client = new TestClient(running.addresses[0]?.address ?? '')
  t.teardown(() => client.close())
  const { executionCapabilities } = await client.unary(`${REAPI}.Capabilities/GetCapabilities`, { instanceName: 'a' })
    .response
  const [range] = executionCapabilities.executionPriorityCapabilities.priorities
  t.match(range, { minPriority: -2_147_483_648, maxPriority: 2_147_483_647 })
  const resourceName = `a/blobs/${'0'.repeat(64)}/5`
  const { status } = await collect(client.serverStream('google.bytestream.ByteStream/Read', { resourceName }))
  t.equal(status?.code, 5)
  t.match(
    lines.find((line) => line.includes('ByteStream/Read')),
    / instance=a /,
  )
})

const reflected = async (client: TestClient): Promise<string[]> => {
  const stream = client.bidi('grpc.reflection.v1.ServerReflection/ServerReflectionInfo')
  stream.write({ listServices: '' })
  stream.end()
  const { messages } = await collect(stream)
  const names: string[] = messages[0].listServicesResponse.service.map((service: { name: string }) => service.name)
  return names.filter((service) => !service.startsWith('grpc.')).sort()
}

t.test('a listener compresses responses and takes compressed requests as configured', async (t) => {
  const compression = { send_compression_algorithm: 'gzip', accepted_compression_algorithms: ['none'] }
  const servers = [
    { name: 'usual', listener: { http: { socket_address: '127.0.0.1:0' } }, services: {} },
    { name: 'other', listener: { http: { socket_address: '127.0.0.1:0', compression } }, services: {} },
  ]
  const folder = t.testdir({ 'config.json': JSON.stringify({ stores: [], servers }) })
  const running = await assemble(await loadConfig(`${folder}/config.json`), { clock: systemClock, log: silentLog })
  t.teardown(() => running.close())
  const [usual = '', other = ''] = running.addresses.map(({ address }) => address)
  /** Uses a raw HTTP/2 request, because grpc-js hides the fields of the protocol. */
  const encodings = async (address: string, encoding: string): Promise<unknown> => {
    const session = connect(`http://${address}`)
    const path = { ':method': 'POST', ':path': '/grpc.health.v1.Health/Check', 'content-type': 'application/grpc' }
    const stream = session.request({ ...path, 'grpc-encoding': encoding, 'grpc-accept-encoding': 'gzip' })
    stream.end(Buffer.alloc(5))
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    session.destroy()
    return [headers['grpc-encoding'], headers['grpc-accept-encoding'], headers['grpc-status']]
  }
  t.same(await encodings(usual, 'gzip'), [undefined, 'identity,gzip,deflate', undefined])
  t.same(await encodings(other, 'identity'), ['gzip', 'identity', undefined])
  t.same(await encodings(other, 'gzip'), [undefined, 'identity', '12'])
})
