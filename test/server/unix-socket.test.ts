import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assemble, type Running } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { start } from '../cli/program.js'
import { blobOf, CAS, wire } from '../service/harness.js'
import { Lines } from '../tls/lines.js'
import { TestClient } from './client.js'

// Paths of sockets have at most 107 bytes, which a folder of tap exceeds.
const folder = await mkdtemp(join(tmpdir(), 'remexec-'))
t.teardown(() => rm(folder, { recursive: true }))

const configuration = (path: string, listener: object = {}, more: object = {}) => ({
  stores: { CAS: { memory: {} }, AC: { memory: {} } },
  servers: {
    main: {
      listener: { http: { socket_address: `unix:${path}`, ...listener } },
      services: { cas: { '': { cas_store: 'CAS' } }, ac: { '': { ac_store: 'AC' } }, health: {}, admin: {} },
    },
  },
  ...more,
})

const parse = (written: object) => parseConfig(JSON.stringify(written), 'test.json', { env: {} })

const serve = async (t: Test, written: object, log = silentLog): Promise<Running> => {
  const { config, problems } = parse(written)
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const running = await assemble(config, { clock: systemClock, log })
  t.teardown(() => running.close())
  return running
}

const blob = blobOf(Buffer.alloc(300_000, 'u'))
const upload = { requests: [{ digest: wire(blob.digest), data: blob.bytes }] }

const page = async (socketPath: string, path: string, headers: Record<string, string> = {}): Promise<number> => {
  const [answer] = await once(get({ socketPath, path, headers }), 'response')
  answer.resume()
  return answer.statusCode
}

t.test('clients of gRPC and of HTTP reach a unix socket, with the mode of the configuration', async (t) => {
  const path = join(folder, 'served')
  const running = await serve(t, configuration(path, { unix_socket_mode: '0640' }))
  t.match(running.addresses, [{ name: 'main', address: `unix:${path}`, isSecure: false }])
  t.equal(((await stat(path)).mode & 0o777).toString(8), '640')
  const client = new TestClient(`unix:${path}`)
  t.teardown(() => client.close())
  await client.unary(`${CAS}/BatchUpdateBlobs`, upload).response
  const { responses } = await client.unary(`${CAS}/BatchReadBlobs`, { digests: [wire(blob.digest)] }).response
  t.ok(responses[0].data.equals(blob.bytes))
  t.equal(await page(path, '/status'), 200)
  t.equal(await page(path, '/'), 200)
  client.close()
  await running.close()
  t.notOk(existsSync(path), 'removed by a stop')
})

t.test('a server that listens on one is a store of another', async (t) => {
  const path = join(folder, 'behind')
  await serve(t, configuration(path))
  const remote = { grpc: { endpoints: [{ address: `unix:${path}` }], store_type: 'cas' } }
  const front = join(folder, 'front')
  await serve(t, { ...configuration(front), stores: { CAS: remote, AC: { memory: {} } } })
  const client = new TestClient(`unix:${front}`)
  t.teardown(() => client.close())
  await client.unary(`${CAS}/BatchUpdateBlobs`, upload).response
  const behind = new TestClient(`unix:${path}`)
  t.teardown(() => behind.close())
  const { missingBlobDigests } = await behind.unary(`${CAS}/FindMissingBlobs`, { blobDigests: [wire(blob.digest)] })
    .response
  t.same(missingBlobDigests, [])
})

t.test('callers are told as unix, and a proxy that comes by the socket can be trusted', async (t) => {
  const path = join(folder, 'proxied')
  const lines = new Lines()
  const security = {
    identity: { identity_header: { name: 'x-user', trusted: ['unix'] } },
    access: [{ names: ['ann'], may: ['administer'] }],
  }
  await serve(t, configuration(path, {}, { security }), lines.log)
  t.equal(await page(path, '/'), 401)
  t.equal(await page(path, '/', { 'x-user': 'ann' }), 200)
  const ask = get({ socketPath: path, path: '/admin/profile?seconds=1', method: 'PUT', headers: { 'x-user': 'ann' } })
  const [answer] = await once(ask, 'response')
  answer.resume()
  await once(answer, 'end')
  t.match(lines.text, /an operator took a CPU profile.*unix/)
})

t.test('the socket of a server that was killed is replaced, that of a running one is not', async (t) => {
  const path = join(folder, 'stale')
  const holder = `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('listening'))`
  const killed = start(t, [process.execPath, '-e', holder])
  await killed.hears(/listening/)
  await t.rejects(serve(t, configuration(path)), /unix:.*another process listens there/)
  killed.child.kill('SIGKILL')
  await killed.ended
  t.ok(existsSync(path), 'it stays behind')
  await serve(t, configuration(path))
  t.equal(await page(path, '/status'), 200)
  await t.rejects(serve(t, configuration(path)), /another process listens there/)
  t.equal(await page(path, '/status'), 200, 'the one that listens goes on')
})

t.test('a file, and a folder that is closed, are told and left alone', async (t) => {
  const path = join(folder, 'file')
  await writeFile(path, 'data')
  await t.rejects(serve(t, configuration(path)), /it is no socket, expected a path of its own/)
  t.equal((await stat(path)).size, 4)
  await t.rejects(
    serve(t, configuration(join(folder, 'absent', 'socket'))),
    /cannot listen on unix:.*(EACCES|ENOENT|no such)/,
  )
})

t.test('the configuration says what a unix socket cannot have', async (t) => {
  const problemsOf = (path: string, listener: object = {}) =>
    parse(configuration(path, listener)).problems.map(({ message }) => message)
  t.same(problemsOf('/run/x'), [])
  t.match(problemsOf('run/x'), ['the path of a unix socket starts with a slash'])
  t.match(problemsOf(`/${'x'.repeat(107)}`), ['the path of a unix socket has 108 bytes: the longest has 107'])
  t.match(problemsOf('/run/x', { transport: 'grpc-js' }), [/serves no unix socket/])
  t.match(problemsOf('/run/x', { unix_socket_mode: 'rw' }), [/./])
  const tls = { cert_file: '/c', key_file: '/k' }
  t.ok(problemsOf('/run/x', { tls }).includes('a unix socket is without TLS'))
  const { main } = configuration('/run/x').servers
  const twice = parse({ ...configuration('/run/x'), servers: { main, other: main } })
  t.match(
    twice.problems.map(({ message }) => message),
    [/listens where server "main" already does/],
  )
})

t.test('nobody else reaches a socket before it has its mode', async (t) => {
  // A unix socket can be connected to by who may write to it.
  const before = process.umask()
  const path = join(folder, 'narrow')
  await serve(t, configuration(path, { unix_socket_mode: '0600' }))
  t.equal(process.umask(), before, 'the umask is as it was')
  t.equal(((await stat(path)).mode & 0o777).toString(8), '600')
  await chmod(path, 0o600)
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  other.close()
})
