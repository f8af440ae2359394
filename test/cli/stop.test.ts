import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
// biome-ignore lint/plugin: a stopped process is late by a time that the test measures
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Code } from '../../src/base/status-error.js'
import { collect, TestClient } from '../server/client.js'
import { buildAction, EXECUTION, responseOf } from '../service/execution-harness.js'
import { type Blob, CAS, wire } from '../service/harness.js'
import { until } from '../until.js'
import { DEFAULT, type Program, root, serve } from './program.js'

// Most of each test is waiting.
t.jobs = 3

/** The default configuration with the given drain time. */
const configWith = (data: string, global: string): string => {
  const path = `${data}/config.json5`
  writeFileSync(path, readFileSync(`${root}${DEFAULT}`, 'utf8').replace('{\n', `{\n  global: { ${global} },\n`))
  return path
}

const addressOf = async ({ hears }: Program, name: string): Promise<string> => {
  const [, address = ''] = await hears(new RegExp(`serving grpc://(\\S+) server=${name}`))
  return address
}

/** Begins an action that runs until the file `go` exists. Resolves, once it runs, to the end of the call. */
const runUntil = async (t: Test, address: string, go: string) => {
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const marker = `${go}.runs`
  const script = `touch ${marker}; while ! test -e ${go}; do sleep 0.05; done`
  const built = buildAction({ command: { arguments: ['/bin/sh', '-c', script] } })
  const requests = [built.action, built.command, built.root].map(({ digest, bytes }: Blob) => ({
    digest: wire(digest),
    data: bytes,
  }))
  await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  const ended = collect(client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest) }))
  await until(() => existsSync(marker))
  return { ended }
}

t.test('every stop signal leads to a clean stop with its own exit status', async (t) => {
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const data = `${t.testdir()}/${signal}`
    mkdirSync(data)
    const server = serve(t, DEFAULT, data)
    await addressOf(server, 'public')
    server.child.kill(signal)
    t.same(await server.ended, { code, signal: null }, signal)
    t.match(server.said(), new RegExp(`stopping.*signal=${signal}`))
    t.ok(readFileSync(`${data}/cas/content/index`).length > 0, `${signal}: the index is saved`)
  }
})

t.test('idle workers of other processes do not delay the stop of their scheduler', async (t) => {
  const data = t.testdir({ s: {}, w: {} })
  const server = serve(t, configWith(data, 'drain_s: 3600'), `${data}/s`)
  const uri = await addressOf(server, 'worker_api')
  const worker = `{
    stores: { CAS: { fast_slow: {
      fast: { filesystem: { content_path: '${data}/w/c', temp_path: '${data}/w/t', eviction_policy: { max_bytes: 1000 } } },
      slow: { noop: {} },
    } } },
    workers: [{ worker: { scheduler_endpoint: 'grpc://${uri}', cas_fast_slow_store: 'CAS', work_directory: '${data}/w/w' } }],
    servers: [],
  }`
  writeFileSync(`${data}/w.json5`, worker)
  const other = serve(t, `${data}/w.json5`, `${data}/w`)
  await other.hears(/connected to the scheduler/)
  server.child.kill('SIGTERM')
  t.same(await server.ended, { code: 143, signal: null })
  other.child.kill('SIGTERM')
  t.same(await other.ended, { code: 143, signal: null }, 'nor does a scheduler that is gone hold up its worker')
})

t.test('a running action and a call get drain_s and are then ended', async (t) => {
  const data = t.testdir()
  const server = serve(t, configWith(data, `drain_s: '300ms'`), data)
  const address = await addressOf(server, 'public')
  await runUntil(t, address, `${data}/never`)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const upload = client.clientStream('google.bytestream.ByteStream/Write')
  const refused = t.rejects(upload.response, { code: Code.UNAVAILABLE }, 'the call is told')
  upload.call.write({ resourceName: `uploads/u/blobs/${'0'.repeat(64)}/5`, data: Buffer.alloc(1) })
  server.child.kill('SIGTERM')
  t.same(await server.ended, { code: 143, signal: null })
  await refused
  t.notMatch(server.said(), /could not stop cleanly|took too long/)
  t.ok(readFileSync(`${data}/cas/content/index`).length > 0, 'the index is saved')
})

t.test('drain_s counts from the signal, although the server handles it late', async (t) => {
  const data = t.testdir()
  const server = serve(t, configWith(data, `drain_s: 3600, log_level: 'debug'`), data)
  const { ended } = await runUntil(t, await addressOf(server, 'public'), `${data}/go`)
  const { pid = 0 } = server.child
  // Like under thousands of clients: the event loop handles the signal some time after it was sent.
  process.kill(pid, 'SIGSTOP')
  process.kill(pid, 'SIGTERM')
  // biome-ignore lint/plugin: a lower limit: on a loaded machine the server is later still
  const sentMs = performance.now()
  await pause(1500)
  // biome-ignore lint/plugin: a lower limit: on a loaded machine the server is later still
  const lateMs = performance.now() - sentMs
  process.kill(pid, 'SIGCONT')
  const [, seconds = ''] = await server.hears(/actions in progress may continue.* seconds=([\d.]+)/)
  // Two of the seconds are kept for closing.
  t.ok(Number(seconds) > 0 && Number(seconds) <= 3598 - lateMs / 1000, `${seconds} s are left, ${lateMs} ms late`)
  writeFileSync(`${data}/go`, '')
  t.equal((await ended).status, undefined)
  t.same(await server.ended, { code: 143, signal: null })
})

t.test('an action that ends while the server stops still reaches its client', async (t) => {
  const data = t.testdir()
  const server = serve(t, configWith(data, 'drain_s: 3600'), data)
  const { ended } = await runUntil(t, await addressOf(server, 'public'), `${data}/go`)
  server.child.kill('SIGTERM')
  await server.hears(/stopping/)
  writeFileSync(`${data}/go`, '')
  const { messages, status } = await ended
  t.equal(status, undefined)
  t.match(responseOf(messages.at(-1)), { status: null, result: { exitCode: 0 } })
  t.same(await server.ended, { code: 143, signal: null })
})

t.test('a second signal ends the server immediately, although an action still runs', async (t) => {
  const data = t.testdir()
  const server = serve(t, configWith(data, 'drain_s: 3600'), data)
  await runUntil(t, await addressOf(server, 'public'), `${data}/never`)
  server.child.kill('SIGTERM')
  await server.hears(/stopping.*signal=SIGTERM/)
  server.child.kill('SIGTERM')
  t.same(await server.ended, { code: null, signal: 'SIGTERM' })
})

t.test(
  'an interrupt that npm passes on after the terminal has sent it does not count as a second signal',
  async (t) => {
    const data = t.testdir()
    const server = serve(t, configWith(data, 'drain_s: 3600'), data, { npm_lifecycle_event: 'start' })
    const { ended } = await runUntil(t, await addressOf(server, 'public'), `${data}/go`)
    server.child.kill('SIGINT')
    await server.hears(/stopping.*signal=SIGINT/)
    server.child.kill('SIGINT')
    writeFileSync(`${data}/go`, '')
    t.equal((await ended).status, undefined, 'the action ends as it would have')
    t.same(await server.ended, { code: 130, signal: null })
  },
)

t.test('a start that hangs ends on a signal, and immediately on a second one', async (t) => {
  const data = t.testdir({ cas: { content: {} } })
  // Opening it for reading waits for a writer, for ever.
  spawnSync('mkfifo', [`${data}/cas/content/index`])
  for (const [global, second] of [
    [`drain_s: '100ms'`, false],
    ['drain_s: 3600', true],
  ] as const) {
    const server = serve(t, configWith(data, `${global}, log_level: 'debug'`), data)
    await server.hears(/starting/)
    server.child.kill('SIGTERM')
    await server.hears(/signal=SIGTERM/)
    if (second) server.child.kill('SIGINT')
    t.same(await server.ended, { code: null, signal: second ? 'SIGINT' : 'SIGTERM' }, global)
  }
})
