import t from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { ManualClock, systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { collect as received, TestClient } from '../server/client.js'
import { AC, buildAction, EXECUTION, FakeWorker } from '../service/execution-harness.js'
import { CAS, wire } from '../service/harness.js'
import { countersOf } from './page-counters.js'

const STORES = {
  CAS: { memory: { eviction_policy: { max_bytes: '1mb' } } },
  AC: {
    fast_slow: {
      fast: { memory: { eviction_policy: { max_bytes: '1mb' } } },
      slow: { memory: { eviction_policy: { max_bytes: '1mb' } } },
    },
  },
}

t.test('an action that is asked for, then executed, is one miss of the action cache, and one hit later', async (t) => {
  const services = {
    cas: [{ instance_name: '', cas_store: 'CAS' }],
    ac: [{ instance_name: '', ac_store: 'AC' }],
    execution: [{ instance_name: '', cas_store: 'CAS', ac_store: 'AC', scheduler: 'S' }],
    worker_api: { scheduler: 'S' },
    metrics: {},
  }
  const text = JSON.stringify({
    stores: STORES,
    schedulers: { S: { simple: {} } },
    servers: { main: { listener: { http: { socket_address: '127.0.0.1:0' } }, services } },
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  const running = await assemble(config, { clock: systemClock, log: silentLog })
  t.teardown(() => running.close())
  const address = running.addresses[0]?.address ?? ''
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const worker = await new FakeWorker(client, new ManualClock()).hello({ maxInflightAttempts: 5 })
  const alive = setInterval(() => worker.send({ keepAlive: {} }), 1000)
  t.teardown(() => clearInterval(alive))

  const built = buildAction()
  const blobs = [built.action, built.command, built.root]
  const requests = blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
  await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  const ask = () => client.unary(`${AC}/GetActionResult`, { actionDigest: wire(built.digest) }).response
  const execute = () => received(client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest) }))
  const counted = async () => {
    const counts = await countersOf(address, 'svc_cache_operations_total', ['read', 'lookup'])
    return Object.fromEntries(Object.entries(counts).filter(([name]) => name.startsWith('AC')))
  }

  await t.rejects(ask(), { code: 5 })
  const done = execute()
  worker.succeed(await worker.start(), {})
  await done
  t.same(await counted(), {
    ...{ 'AC read miss': 1, 'AC/fast read miss': 1, 'AC/slow read miss': 1 },
    ...{ 'AC lookup miss': 1, 'AC/fast lookup miss': 1, 'AC/slow lookup miss': 1 },
  })

  await ask()
  t.match(await counted(), { 'AC read hit': 1, 'AC read miss': 1, 'AC lookup miss': 1 })

  await execute()
  t.match(await counted(), { 'AC read hit': 1, 'AC read miss': 1, 'AC lookup hit': 1 }, 'a hit of Execute by itself')
})
