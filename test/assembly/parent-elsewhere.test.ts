import { join } from 'node:path'
import t from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { TestClient } from '../server/client.js'
import { AC, blobOf, CAS, wire } from '../service/harness.js'

const UPDATE = `${AC}/UpdateActionResult`
const GET = `${AC}/GetActionResult`

for (const [where, results] of [
  ['in memory', { memory: { eviction_policy: { max_bytes: '10mb' } } }],
  ['in a file store that only another server uses', undefined],
] as const)
  t.test(`with service threads a result of a parent that another server has, ${where}, is a hit`, async (t) => {
    const folder = t.testdir()
    const files = (name: string) => ({
      filesystem: { content_path: join(folder, name), temp_path: join(folder, `${name}-temp`) },
    })
    const listener = { http: { socket_address: '127.0.0.1:0' } }
    const text = JSON.stringify({
      global: { threads: 2 },
      instances: { child: { parent: 'main' } },
      stores: { CAS: files('cas'), CHILD: files('child'), MAIN: results ?? files('main'), PLAIN: { memory: {} } },
      servers: {
        child: { listener, services: { cas: { child: { cas_store: 'CAS' } }, ac: { child: { ac_store: 'CHILD' } } } },
        main: {
          listener,
          services: {
            cas: { main: { cas_store: 'CAS' }, plain: { cas_store: 'PLAIN' } },
            ac: { main: { ac_store: 'MAIN' } },
          },
        },
      },
    })
    const { config, problems } = parseConfig(text, 'test.json', { env: {} })
    if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
    const running = await assemble(config, { clock: systemClock, log: silentLog })
    t.teardown(() => running.close())
    const [child, main] = running.addresses.map(({ address }) => {
      const client = new TestClient(address)
      t.teardown(() => client.close())
      return client
    })
    const { digest, bytes } = blobOf(Buffer.from('an action'))
    const actionDigest = wire(digest)
    const requests = [{ digest: actionDigest, data: bytes }]
    await main?.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests }).response
    const actionResult = { stdoutRaw: Buffer.from('of main') }
    await main?.unary(UPDATE, { instanceName: 'main', actionDigest, actionResult }).response
    const found = await child?.unary(GET, { instanceName: 'child', actionDigest }).response
    t.equal(`${found?.['stdoutRaw']}`, 'of main')
  })
