import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { validate } from '../../src/command/validate.js'
import { parseConfig } from '../../src/config/load.js'
import type { Log } from '../../src/log/log.js'
import { ServiceThreads } from '../../src/server/threads/service-threads.js'
import { TestClient } from '../server/client.js'
import { blobOf, CAS, wire } from '../service/harness.js'

const serverOf = (name: string, store: string): string =>
  `{ name: '${name}', listener: { http: { socket_address: '127.0.0.1:0' } }, services: { cas: [{ cas_store: '${store}' }], ac: [{ ac_store: 'RESULTS' }] } }`

const LIMIT = `eviction_policy: { max_bytes: '1gb' }`

const configOf = (folder: string, servers: readonly string[]): string => `{
  global: { threads: 2 },
  stores: {
    FILES: { filesystem: { content_path: '${folder}/c', temp_path: '${folder}/t', ${LIMIT} } },
    RESULTS: { filesystem: { content_path: '${folder}/ac', temp_path: '${folder}/at', ${LIMIT} } },
    MEMORY: { memory: { ${LIMIT} } },
  },
  servers: [${servers.join()}],
}`

const begin = async (t: Test, text: string) => {
  const { config } = parseConfig(text, 'planned.json5', { env: {} })
  if (config === undefined) throw new Error('the configuration has errors')
  const warnings: { text: string; values: Readonly<Record<string, unknown>> }[] = []
  const log: Log = {
    level: 'warn',
    ...{ debug: () => {}, info: () => {}, error: () => {} },
    warn: (text: string, values: Readonly<Record<string, unknown>> = {}) => void warnings.push({ text, values }),
  } as unknown as Log
  const starts = t.capture(ServiceThreads, 'start', ServiceThreads.start)
  const listeners = t.capture(ServiceThreads.prototype, 'listener', ServiceThreads.prototype.listener)
  const server = await assemble(config, { clock: systemClock, log })
  t.teardown(() => server.close())
  for (const { address } of server.addresses) {
    const client = new TestClient(address)
    t.teardown(() => client.close())
    const { digest, bytes } = blobOf(Buffer.from(address))
    const requests = [{ digest: wire(digest), data: bytes }]
    t.match(await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response, {
      responses: [{ digest: { hash: digest.hash } }],
    })
  }
  const kept = warnings.filter((one) => one.text === KEPT)
  return { threads: starts().length, listeners: listeners().length, kept }
}

const KEPT = 'global.threads: the main thread keeps the connections of this server'

t.test(
  'threads get the connections of the servers that they serve, and the start says which ones they do not',
  async (t) => {
    const text = configOf(t.testdir(), [serverOf('files', 'FILES'), serverOf('memory', 'MEMORY')])
    const { threads, listeners, kept } = await begin(t, text)
    t.same([threads, listeners], [1, 1])
    t.match(kept, [{ values: { server: 'memory', why: /^store MEMORY: / } }])
    t.equal(kept.length, 1)
  },
)

t.test('threads that would serve no server are not started', async (t) => {
  const { threads, kept } = await begin(t, configOf(t.testdir(), [serverOf('memory', 'MEMORY')]))
  t.equal(threads, 0)
  t.match(kept, [{ values: { server: 'memory' } }])
})

t.test('validate says which servers threads do not serve', async (t) => {
  const text = configOf('/data', [serverOf('files', 'FILES'), serverOf('memory', 'MEMORY')])
  const file = `${t.testdir({ 'c.json5': text })}/c.json5`
  let said = ''
  const console = {
    print: (text: string) => {
      said += text
    },
  }
  t.equal(await validate.run({ words: [file], options: {} }, console as never), 0)
  t.match(
    said,
    /c\.json5:2:22: warning: global\.threads: the main thread keeps the connections of server "memory": store MEMORY/,
  )
  t.match(said, /valid \(0 errors, 1 warning\)/)
})
