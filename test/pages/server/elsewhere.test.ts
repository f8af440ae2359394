import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { unpack } from '../../../src/proto/any.js'
import { type Program, serve } from '../../cli/program.js'
import { TestClient } from '../../server/client.js'
import {
  type BuiltAction,
  buildAction,
  EXECUTION,
  ExecutionStage,
  metadataCodec,
  Reader,
  stageOf,
} from '../../service/execution-harness.js'
import { CAS, wire } from '../../service/harness.js'
import { found, untilSo } from '../../until.js'
import { textIn } from '../harness.js'

// A server that gives its actions to a scheduler in another process: both are assembled.

t.setTimeout(600_000)

const http = { listener: { http: { socket_address: '127.0.0.1:0' } } }

/** A scheduler with a worker of its own. */
const behind = (data: string, security?: object) => ({
  stores: [
    {
      name: 'CAS',
      fast_slow: {
        fast: { filesystem: { content_path: `${data}/cas/content`, temp_path: `${data}/cas/temp` } },
        slow: { noop: {} },
      },
    },
    { name: 'AC', memory: {} },
  ],
  schedulers: [{ name: 'MAIN', simple: { supported_platform_properties: { arch: 'exact' } } }],
  workers: [
    {
      local: {
        ...{ name: 'busy', worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' }, cas_fast_slow_store: 'CAS' },
        ...{ upload_action_result: { ac_store: 'AC' }, work_directory: `${data}/work`, max_inflight_tasks: 3 },
        platform_properties: {},
      },
    },
  ],
  servers: [
    {
      ...{ name: 'executions', ...http },
      services: {
        cas: [{ instance_name: '', cas_store: 'CAS' }],
        execution: [{ instance_name: '', cas_store: 'CAS', scheduler: 'MAIN' }],
      },
    },
  ],
  ...(security && { security }),
})

/** The server for clients. */
const front = (address: string) => ({
  stores: [
    { name: 'CAS', memory: {} },
    { name: 'AC', memory: {} },
  ],
  schedulers: [{ name: 'FLEET', grpc: { endpoint: { address: `grpc://${address}` }, retry: { max_retries: 0 } } }],
  servers: [
    {
      ...{ name: 'public', ...http },
      services: {
        cas: [{ instance_name: '', cas_store: 'CAS' }],
        ac: [{ instance_name: '', ac_store: 'AC' }],
        bytestream: [{ instance_name: '', cas_store: 'CAS' }],
        execution: [{ instance_name: '', cas_store: 'CAS', scheduler: 'FLEET' }],
        ...{ pages: {}, health: {}, metrics: {}, admin: {} },
      },
    },
  ],
})

interface Served {
  readonly program: Program
  readonly address: string
}

const started = async (t: Test, data: string, name: string, config: object): Promise<Served> => {
  writeFileSync(`${data}/${name}.json`, JSON.stringify(config))
  const program = serve(t, `${data}/${name}.json`, data)
  const [, address = ''] = await program.hears(/serving grpc:\/\/(\S+) server=(?:public|executions)/)
  return { program, address }
}

const start = async (t: Test, security?: object) => {
  const data = t.testdir({})
  const scheduler = await started(t, data, 'scheduler', behind(data, security))
  const { address } = await started(t, data, 'front', front(scheduler.address))
  return { data, scheduler, address }
}

const textOf = async (address: string, path: string): Promise<string> =>
  textIn(await (await fetch(`http://${address}/${path}`)).text())

/** Waits for a state, because a page shows what it is told a moment later. */
const shows = (address: string, path: string, expected: RegExp): Promise<string> => {
  let text = ''
  const look = async (): Promise<string | undefined> => {
    text = await textOf(address, path)
    return expected.test(text) ? text : undefined
  }
  return found(look, () => `${expected} in ${text}`)
}

const execute = async (t: Test, built: BuiltAction, ...addresses: string[]) => {
  const clients = addresses.map((address) => new TestClient(address))
  t.teardown(() => {
    for (const client of clients) client.close()
  })
  const requests = [built.action, built.command, built.root].map(({ digest, bytes }) => ({
    digest: wire(digest),
    data: bytes,
  }))
  for (const client of clients) await client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: '', requests }).response
  const [first] = clients as [TestClient]
  return new Reader(first.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest) }))
}

t.test('pages of a server show queue and workers of the scheduler that it forwards to', async (t) => {
  const { data, scheduler, address } = await start(t)
  await scheduler.program.hears(/a worker connected/)
  const failing = buildAction({ command: { arguments: ['/bin/sh', '-c', 'exit 3'] } })
  await (await execute(t, failing, address, scheduler.address)).rest()
  const runs = buildAction({
    command: { arguments: ['/bin/sh', '-c', `echo printed; while [ ! -e ${data}/go ]; do sleep 0.05; done`] },
  })
  const running = await execute(t, runs, address, scheduler.address)
  const executing = await running.until((operation) => stageOf(operation) === ExecutionStage.EXECUTING)
  const { stdoutStreamName: resourceName } = unpack(metadataCodec, executing.metadata)
  t.match(resourceName, /^logstreams\/FLEET\//)
  const reading = new TestClient(address)
  t.teardown(() => reading.close())
  const printed = new Reader<{ data: Buffer }>(
    reading.serverStream('google.bytestream.ByteStream/Read', { resourceName, readLimit: 7 }),
  )
  t.equal(String((await printed.next()).data), 'printed', 'what it prints is read here')
  const waits = buildAction({ action: { platform: { properties: [{ name: 'arch', value: 'arm64' }] } } })
  const waiting = await execute(t, waits, address, scheduler.address)
  await waiting.until((operation) => stageOf(operation) === ExecutionStage.QUEUED)

  const short = ({ digest }: BuiltAction): string => digest.hash.slice(0, 12)
  const queue = await shows(address, 'queue', /1\s*queued.*1\s*executing.*1\s*workers/s)
  t.match(queue, `queue and workers are those of ${scheduler.address}`)
  t.match(queue, /1\s*failure/)
  t.match(queue, new RegExp(`action ${short(runs)}.*busy-`, 's'))
  t.match(await textOf(address, 'queue?show=waiting'), new RegExp(`action ${short(waits)}.*no worker can run it`, 's'))
  t.match(await textOf(address, 'queue?show=failed'), new RegExp(`action ${short(failing)}.*exit code 3`, 's'))
  const workers = await textOf(address, 'workers')
  t.match(workers, /busy-.*connected.*1 of 3/s)
  t.notMatch(
    await (await fetch(`http://${address}/workers`)).text(),
    '<button type="submit" aria-label="drain',
    'no button that this server cannot serve',
  )
  t.match(await textOf(address, 'server'), /scheduler\/FLEET: 1 action waits: no worker can run it/)
  const { schedulers } = (await (await fetch(`http://${address}/admin`)).json()) as { schedulers: { FLEET: object } }
  t.match(schedulers.FLEET, { queued: 1, workers: [{ running: 1 }], elsewhere: { address: scheduler.address } })
  await shows(address, 'status', /executions go to \S+, which has 1 worker, 1 running and 1 waiting/)
  const metrics = await (await fetch(`http://${address}/metrics`)).text()
  t.notMatch(metrics, /^svc_(?:worker_count|execution_active_count)\{/m, 'no 0 of a queue that is not here')

  writeFileSync(`${data}/go`, '')
  await running.rest()
  scheduler.program.child.kill('SIGKILL')
  await scheduler.program.ended
  const lost = await shows(address, 'workers', /the scheduler at \S+ is not reachable since/)
  t.match(lost, `the scheduler at ${scheduler.address} is not reachable since`)
  t.notMatch(lost, /busy-/, 'no worker is shown as connected')
  await untilSo(async () => /is not reachable since/.test(await textOf(address, 'queue')))
})

t.test('a server whose scheduler needs a permission for its queue says which', async (t) => {
  const may = (...permissions: string[]) => ({ identity: {}, access: [{ anonymous: true, may: permissions }] })
  const refused = await start(t, may('execute', 'read_cas'))
  await shows(refused.address, 'queue', /tells its queue only to callers with the permission administer/)
  const allowed = await start(t, may('execute', 'read_cas', 'administer'))
  await shows(allowed.address, 'workers', /busy-/)
})

t.test('a server whose scheduler is another program says that it does not tell its queue', async (t) => {
  const data = t.testdir({})
  const { stores, servers } = behind(data)
  const without = servers.map(({ services: { cas }, ...server }) => ({ ...server, services: { cas } }))
  const other = await started(t, data, 'other', { stores, servers: without })
  const { address } = await started(t, data, 'front', front(other.address))
  t.match(
    await shows(address, 'queue', /does not tell its queue/),
    `the server at ${other.address} does not tell its queue, because it is another program or an older release`,
  )
})
