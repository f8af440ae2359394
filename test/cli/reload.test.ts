import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { hashOf } from '../../src/security/identity/credential.js'
import { withHeaders } from '../security/server.js'
import { TestClient } from '../server/client.js'
import { CAS, failure } from '../service/harness.js'
import { root, serve, start } from './program.js'

const TOKENS = ['ann', 'bob'].map((name) => ({ name, token: `${name}-${'0'.repeat(40)}` }))

interface Wishes {
  readonly logLevel?: string
  readonly permissions?: readonly string[]
  readonly tokens?: readonly string[]
  readonly stores?: object
}

const memory = { memory: { eviction_policy: { max_bytes: '1mb' } } }

const configuration = ({ logLevel = 'info', permissions = ['read_cas'], tokens = ['ann'], stores }: Wishes): string =>
  JSON.stringify({
    global: { log_level: logLevel },
    stores: { CAS: memory, ...stores },
    security: {
      identity: {
        tokens: TOKENS.filter(({ name }) => tokens.includes(name)).map(({ name, token }) => ({
          ...{ name, sha256: hashOf(token) },
        })),
      },
      access: [{ by: ['token'], may: permissions }],
    },
    servers: [
      {
        name: 'public',
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: [{ cas_store: 'CAS' }] },
      },
    ],
  })

const serving = async (t: Test) => {
  const data = t.testdir({ 'config.json': configuration({}) })
  const server = serve(t, `${data}/config.json`, data)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const ask = async (name: string, method = 'FindMissingBlobs'): Promise<string> => {
    const token = TOKENS.find((known) => known.name === name)?.token
    const metadata = withHeaders({ authorization: `Bearer ${token}` })
    return (await failure(client.unary(`${CAS}/${method}`, {}, { metadata }).response)).code
  }
  let count = 0
  /** Writes the file and sends the signal. Resolves with the lines of the log since then, once the file was read. */
  const reload = async (text: string): Promise<string> => {
    const before = server.said().length
    writeFileSync(`${data}/config.json`, text)
    server.child.kill('SIGHUP')
    count++
    await server.hears(new RegExp(`(?:the configuration was read again[^]*){${count}}`))
    return server.said().slice(before)
  }
  return { server, ask, reload }
}

t.test('SIGHUP applies who may do what, and the level of the log', async (t) => {
  const { ask, reload } = await serving(t)
  t.equal(await ask('ann'), 'OK')
  t.equal(await ask('bob'), 'UNAUTHENTICATED', 'not known yet')
  t.equal(await ask('ann', 'BatchUpdateBlobs'), 'PERMISSION_DENIED')

  const permissions = ['read_cas', 'write_cas']
  t.match(await reload(configuration({ tokens: ['ann', 'bob'], permissions })), /info .*read again log_level=info/)
  t.equal(await ask('bob'), 'OK')
  t.equal(await ask('ann', 'BatchUpdateBlobs'), 'OK', 'the rule of a connection that was open before')

  t.match(await reload(configuration({ tokens: ['bob'], logLevel: 'debug' })), /log_level=debug/)
  t.equal(await ask('ann'), 'UNAUTHENTICATED', 'a token that was taken away')
  t.match(await reload(configuration({ tokens: ['bob'] })), /debug call .*FindMissingBlobs/, 'lines of that level')
})

t.test('SIGHUP names what needs a restart, and changes nothing if the file has errors', async (t) => {
  const { ask, reload, server } = await serving(t)
  const said = await reload(configuration({ stores: { OTHER: memory } }))
  t.match(said, /warn .*a restart is needed for changes in the configuration in=stores/)
  const broken = await reload(configuration({ permissions: ['read'] }))
  t.match(broken, /error .*has errors: nothing has changed errors=1/)
  t.match(broken, /config\.json.*may/, 'the error itself')
  t.equal(await ask('ann'), 'OK')
  server.child.kill('SIGTERM')
  t.same(await server.ended, { code: 143, signal: null }, 'it ran on until it was stopped')
})

t.test('SIGHUP stops a server whose terminal is closed', async (t) => {
  const data = t.testdir({ 'config.json': configuration({}) })
  const command = `${process.execPath} dist/cli.js ${data}/config.json & echo pid=$!; wait $!; echo status=$?`
  const terminal = start(t, ['script', '--quiet', '--return', '--command', command, '/dev/null'], { cwd: root })
  const [, pid = ''] = await terminal.hears(/pid=(\d+)/)
  await terminal.hears(/serving grpc/)
  process.kill(Number(pid), 'SIGHUP')
  await terminal.hears(/stopping.*signal=SIGHUP/)
  await terminal.hears(/status=129/)
})
