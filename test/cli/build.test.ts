/** `remexec build`, `why` and `mcp`, each a process of its own, against a server with pages. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { bazel } from '../builds/harness.js'
import { keepInvocations } from '../pages/harness.js'
import { program, serve, start } from './program.js'

const ID = '3e0a4f2c-1111-4222-8333-444444444444'

const failed = [
  bazel({ id: { pattern: { pattern: ['//a/...'] } }, started: { command: 'test', buildToolVersion: '7.7.1' } }),
  bazel({
    id: { actionCompleted: { label: '//a:lib' } },
    action: {
      ...{ success: false, exitCode: 1, type: 'CppCompile' },
      failureDetail: { message: 'Compiling failed: (Exit 3): gcc failed' },
      stderr: { name: 'stderr', contents: Buffer.from('lib.cc:2: error\u001b[31m \u202e dept\n') },
    },
  }),
  bazel({
    id: { namedSet: { id: '0' } },
    namedSetOfFiles: {
      files: [
        { name: 'a/app', uri: `bytestream://x/blobs/${'0'.repeat(64)}/2048` },
        { name: 'a/map\u001b]0;x', uri: 'file:///map' },
      ],
    },
  }),
  bazel({
    id: { targetCompleted: { label: '//a:app' } },
    completed: { success: true, outputGroup: [{ name: 'default', fileSets: [{ id: '0' }] }] },
  }),
  bazel({ finished: { exitCode: { code: 1, name: 'BUILD_FAILURE' } } }),
]

const started = async (t: Test) => {
  const folder = t.testdir()
  const path = join(folder, 'events')
  await keepInvocations(path, [{ id: ID, instance: '', events: failed, startedMs: Date.now() }])
  const config = join(folder, 'config.json')
  const text = JSON.stringify({
    stores: { CAS: { memory: {} }, AC: { memory: {} } },
    servers: [
      {
        name: 'public',
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], build_events: { path }, pages: {} },
      },
    ],
  })
  writeFileSync(config, text)
  const server = serve(t, config, join(folder, 'data'))
  return (await server.hears(/serving (grpc:\/\/\S+) server=public/))[1] ?? ''
}

t.test('a failed build, by its begin and by its address, as text and as JSON', async (t) => {
  const address = await started(t)
  const run = async (...words: readonly string[]) => {
    const running = start(t, [process.execPath, program, ...words], { env: { PATH: process.env['PATH'] } })
    const { code } = await running.ended
    return { code, text: running.said() }
  }
  const page = address.replace('grpc:', 'http:')
  const list = await run('build', 'list', '--server', address)
  t.equal(list.code, 0)
  t.match(list.text, /failed .*3e0a4f2c-.* test \/\/a\/\.\.\./)
  for (const word of [ID, ID.slice(0, 8), `${page}/invocation/${ID}/timing`]) {
    const { code, text } = await run('build', 'show', word, '--errors', '--server', address)
    t.equal(code, 0, text)
    t.match(text, /\/\/a:lib CppCompile: exit code 3, as the client says/)
    t.match(text, /\| lib\.cc:2: error U\+202E dept/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    t.notMatch(text, /[\u001b\u202e]/, 'nothing that a terminal obeys')
  }
  const whole = await run('build', 'show', ID, '--server', address)
  t.match(whole.text, /artifacts:\n {2}a\/app 2 kB of \/\/a:app\n {4}http:\S+\/blobs\/sha256\/file\/0{64}-2048\/app\n/)
  t.match(whole.text, /\n {2}a\/map\S+ of \/\/a:app, not uploaded/)
  const json = await run('build', 'show', ID, '--errors', '--json', '--server', address)
  t.match(JSON.parse(json.text), { id: ID, errors: [{ label: '//a:lib', exitCode: 3, exitSaidBy: 'client' }] })
  t.match(await run('build', 'show', 'ffffffff', '--server', address), { code: 1, text: /there is no build ffffffff/ })
  t.match(await run('build', 'show', 'x', '--server', address), { code: 2 })
  const away = await run('build', 'list', '--server', 'grpc://127.0.0.1:1')
  t.match(away, { code: 1, text: /grpc:\/\/127\.0\.0\.1:1: .*nobody listens there.*check address and port/ })
  t.match(await run('why', '0'.repeat(12), '--server', address), { code: 1, text: /that this server remembers/ })
  t.match(await run('why', 'nonsense', '--server', address), { code: 2 })
})

t.test('an agent asks by the Model Context Protocol, and wrong messages are answered too', async (t) => {
  const address = await started(t)
  const child = spawn(process.execPath, [program, 'mcp', '--server', address], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const ask = async (message: unknown) => {
    child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
    return JSON.parse((await lines.next()).value ?? '') as Record<string, unknown>
  }
  const call = (id: number, name: string, args: object) =>
    ask({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })
  t.match(await ask({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-03-26' } }), {
    id: 1,
    result: { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'remexec' } },
  })
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n\n')
  const { result } = await ask({ jsonrpc: '2.0', id: 'two', method: 'tools/list' })
  const { tools } = result as { tools: { name: string }[] }
  t.same(
    tools.map(({ name }) => name),
    ['list_builds', 'show_build', 'build_errors', 'why_missed', 'why_waiting'],
  )
  t.match(await call(3, 'list_builds', { search: 'a/...' }), {
    result: { structuredContent: { builds: [{ id: ID, outcome: 'failed' }] } },
  })
  t.match(await call(4, 'build_errors', { build: ID.slice(0, 8) }), {
    result: { structuredContent: { failedActions: [{ label: '//a:lib', exitCode: 3 }] } },
  })
  t.match(await call(5, 'show_build', { build: 'ffffffff' }), {
    result: { isError: true, content: [{ text: /NOT_FOUND: there is no build/ }] },
  })
  t.match(await call(6, 'show_build', {}), { error: { code: -32_602, message: /needs the argument build/ } })
  t.match(await call(7, 'show_build', { build: 3 }), { error: { code: -32_602 } })
  t.match(await call(8, 'rm', {}), { error: { code: -32_602, message: /there is no tool "rm"/ } })
  t.match(await ask('no JSON'), { id: null, error: { code: -32_700 } })
  t.match(await ask(`"${'x'.repeat(2_000_000)}"`), { id: null, error: { code: -32_700 } })
  t.match(await ask([1]), { error: { code: -32_600 } })
  t.match(await ask({ jsonrpc: '2.0', id: 9, method: 'resources/list' }), { id: 9, error: { code: -32_601 } })
  child.stdin.end()
  t.equal(await new Promise((resolve) => child.once('close', resolve)), 0)
})
