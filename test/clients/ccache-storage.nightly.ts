/** ccache with `remexec ccache-storage` as its storage helper, which ccache itself starts. */
import { createHash } from 'node:crypto'
import { stat, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startGuarded } from '../security/server.js'
import { Authority } from '../tls/authority.js'
import { until } from '../until.js'
import { ccacheMachine } from './ccache-machine.js'
import { run } from './process.js'
import { root } from './scratch.js'
import { startServer } from './server.js'

// For changes in: src/ccache-storage, src/ccache-storage.ts, src/command/ccache-storage.ts, src/client

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_CCACHE'] as string
const skip = program === undefined && 'needs ccache 4.13 or later: its path in REMEXEC_TEST_CCACHE'

const machine = (t: Test) => ccacheMachine(t, program)

/** A request of the protocol. */
const STOP = 3

const COLD = { code: 0, output: '', hits: 0, misses: 1, errors: 0, timeouts: 0 }
const WARM = { code: 0, output: '', hits: 1, misses: 0, errors: 0, timeouts: 0 }
const WITHOUT = { code: 0, output: '', hits: 0, misses: 1, errors: 1, timeouts: 0 }

t.test('what one machine compiled is a remote hit on another, also after a kill of the server', { skip }, async (t) => {
  const [one, other] = [await machine(t), await machine(t)]
  const data = join(one.folder, 'data')
  const server = await startServer(t, data)
  const storage = `${server.uri}/main`
  t.match(await one.compile(storage), COLD) || t.comment(await one.log())
  t.match(await one.compile(storage), WARM)
  t.match(await other.compile(storage), WARM) || t.comment(await other.log())
  await server.crash()
  t.match(await one.compile(storage), WITHOUT, 'compiled without the server')
  const port = new URL(server.uri).port
  await startServer(t, data, { env: { REMEXEC_PORT: port } })
  // The helper asks again after a while.
  let again = await one.compile(storage)
  await until(async () => {
    if (again.errors > 0) again = await one.compile(storage)
    return again.errors === 0
  }, 'a compile with the server')
  t.match(again, WARM)
})

t.test(
  'over TLS with a token; a wrong token and a wrong authority are errors that cost nothing else',
  { skip },
  async (t) => {
    const { folder, compile, log } = await machine(t)
    const authority = new Authority(join(folder, 'authority'))
    const { certFile: cert_file, keyFile: key_file } = authority.issue('server', { alternativeNames: 'IP:127.0.0.1' })
    const token = 'a-token-of-a-machine'
    const tokens = [{ name: 'ann', sha256: createHash('sha256').update(token).digest('hex') }]
    const access = [{ names: ['ann'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac'] }]
    const { port } = await startGuarded(t, { identity: { tokens }, access }, { tls: { cert_file, key_file } })
    const path = join(folder, 'token')
    await writeFile(path, `${token}\n`)
    const server = `grpcs://127.0.0.1:${port}/main`
    const trusting = `${server} @ca=${authority.caFile}`
    t.match(await compile(`${trusting} @token-file=${path}`), COLD) || t.comment(await log())
    t.match(await compile(`${trusting} @bearer-token=${token}`), WARM) || t.comment(await log())
    t.match(await compile(`${trusting} @bearer-token=wrong`), WITHOUT)
    t.match(await compile(trusting), WITHOUT, 'no token')
    t.match(await compile(`${server} @bearer-token=${token}`), WITHOUT, 'an authority that is not trusted')
    t.match(await log(), /anonymous callers may not do anything/)
  },
)

t.test('what is wrong in the configuration stands in the log of ccache', { skip }, async (t) => {
  const { compile, log } = await machine(t)
  for (const [storage, words] of [
    ['grpc://127.0.0.1:9/main', /127\.0\.0\.1:9: .*ECONNREFUSED/],
    ['grpc://127.0.0.1:9/main @token=x', /there is no attribute @token, expected one of @bearer-token/],
    ['grpc://127.0.0.1:9/main @token-file=/nowhere', /--token-file \/nowhere: /],
    ['grpc://ann:secret@127.0.0.1:9', /expected a storage of the form grpc:\/\/HOST:PORT\/INSTANCE/],
    ['grpc://127.0.0.1:9 @digest-function=crc32', /expected one of SHA256/],
  ] as const) {
    t.match(await compile(storage), WITHOUT, storage)
    t.match(await log(), words)
  }
})

t.test('by hand: a socket for crsh:PATH', { skip }, async (t) => {
  const { folder, env, compile, log } = await machine(t)
  const server = await startServer(t, join(folder, 'data'))
  const socket = join(folder, 'sock')
  const cli = join(root, 'dist', 'cli.js')
  const usage = await run(process.execPath, [cli, 'ccache-storage'], folder, env)
  t.equal(usage.code, 2)
  t.match(usage.output, /with --socket/)
  const args = [cli, 'ccache-storage', '--socket', socket, '--server', server.uri, '--instance', 'main']
  const helper = run(process.execPath, args, folder, env)
  let cold = await compile(`crsh:${socket}`)
  await until(async () => {
    if (cold.errors > 0) cold = await compile(`crsh:${socket}`)
    return cold.errors === 0
  }, 'a compile with the helper')
  t.match(cold, COLD) || t.comment(await log())
  t.match(await compile(`crsh:${socket}`), WARM)
  const client = createConnection(socket, () => client.write(Buffer.from([STOP])))
  client.resume()
  t.equal((await helper).code, 0, 'it ends when a client says so')
  await t.rejects(stat(socket), { code: 'ENOENT' })
})
