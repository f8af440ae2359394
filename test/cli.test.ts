import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

// The built program as a user runs it.
const root = fileURLToPath(new URL('..', import.meta.url))
const program = 'dist/cli.js'

const remexec = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: root, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const serve = (t: Test, config: string, env: NodeJS.ProcessEnv = {}): ChildProcess => {
  const child = spawn(process.execPath, [program, config], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: t.testdirName, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

const ended = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => child.once('exit', resolve))

/** The text the server wrote when it first names an address, or when it ended. */
const told = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (/serving grpc:/.test(text)) resolve(text)
    })
    child.once('close', () => resolve(text))
  })

t.test('help and version', async (t) => {
  const help = remexec('--help')
  t.equal(help.status, 0)
  t.match(help.stdout, /usage: remexec CONFIG/)
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  t.same(remexec('--version'), { status: 0, stdout: `remexec ${version}\n`, stderr: '' })
})

t.test('wrong usage exits 2 and says what was expected', async (t) => {
  for (const [args, message] of [
    [[], /expected the path of a configuration/],
    [['a.json5', 'b.json5'], /expected one configuration/],
    [['--nonsense'], /--nonsense/],
    [['validate'], /validate: expected the path/],
    [['validate', '--format', 'xml', 'a.json5'], /expected human or json/],
    [['--format', 'json', 'a.json5'], /--format belongs to validate/],
  ] as const) {
    const { status, stderr } = remexec(...args)
    t.equal(status, 2, args.join(' '))
    t.match(stderr, message)
  }
})

t.test('validate accepts every good configuration and refuses every broken one', async (t) => {
  const good = readdirSync(new URL('../fixtures/configs', import.meta.url))
    .filter((name) => /\.json5?$/.test(name))
    .map((name) => `fixtures/configs/${name}`)
  const accepted = remexec('validate', ...good)
  t.equal(accepted.status, 0, accepted.stdout)
  const broken = readdirSync(new URL('../fixtures/configs/broken', import.meta.url)).filter((name) =>
    /\.json5?$/.test(name),
  )
  t.ok(broken.length > 10)
  const refused = remexec('validate', '--format', 'json', ...broken.map((name) => `fixtures/configs/broken/${name}`))
  t.equal(refused.status, 1)
  t.doesNotThrow(() => JSON.parse(refused.stdout))
})

t.test('a wrong configuration never starts a server', async (t) => {
  const data = t.testdir({ 'wrong.json5': '{ stores: [{ name: "A", memroy: {} }], servers: [] }' })
  const { status, stderr } = remexec(`${data}/wrong.json5`)
  t.equal(status, 1)
  t.match(stderr, /memroy/)
  t.match(stderr, /memory/, 'and a suggestion')
  t.equal(remexec(`${data}/absent.json5`).status, 1)
})

t.test('a port in use is told in one line and ends with 1', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const address = taken.address()
  if (address === null || typeof address === 'string') throw new Error('not a TCP address')
  const data = t.testdir()
  const port = String(address.port)
  const child = serve(t, 'fixtures/configs/default.json5', {
    REMEXEC_DATA: data,
    REMEXEC_PORT: port,
    REMEXEC_WORKER_PORT: '0',
  })
  const [text, status] = await Promise.all([told(child), ended(child)])
  t.equal(status, 1)
  t.match(text, new RegExp(`cannot listen on 127.0.0.1:${port}: the address is in use`))
})

t.test('the default configuration serves, reports its health over HTTP, and stops at a signal', async (t) => {
  for (const [signal, status] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const data = `${t.testdir()}/${signal}`
    mkdirSync(data)
    const child = serve(t, 'fixtures/configs/default.json5', {
      REMEXEC_DATA: data,
      REMEXEC_PORT: '0',
      REMEXEC_WORKER_PORT: '0',
    })
    const exit = ended(child)
    const [, address] = /serving grpc:\/\/(\S+)/.exec(await told(child)) ?? []
    const answer = await fetch(`http://${address}/status`)
    t.match(answer.headers.get('content-type'), /^application\/json/)
    const report = (await answer.json()) as { namespace: string }[]
    for (const namespace of ['/stores/CAS', '/stores/AC', '/schedulers/MAIN', '/workers/worker_0']) {
      t.ok(
        report.some((part) => part.namespace === namespace),
        namespace,
      )
    }
    t.equal((await fetch(`http://${address}/elsewhere`)).status, 404)
    child.kill(signal)
    t.equal(await exit, status)
  }
})
