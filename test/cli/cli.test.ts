import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { fixtures, goodConfigs } from '../configs.js'
import { DEFAULT, program, root, serve, start } from './program.js'

const remexec = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: root, encoding: 'utf8' })
  return { status, stdout, stderr }
}

t.test('help and version', async (t) => {
  const help = remexec('--help')
  t.equal(help.status, 0)
  t.match(help.stdout, /remexec CONFIG +serve what CONFIG describes/)
  t.equal(remexec('help').stdout, help.stdout)
  t.match(remexec('help', 'start').stdout, /--size SIZE/)
  t.same(remexec('start', '--help'), remexec('help', 'start'))
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  t.same(remexec('--version'), { status: 0, stdout: `remexec ${version}\n`, stderr: '' })
})

t.test('a command that fails says which, why and what to do', async (t) => {
  const { status, stderr } = remexec('cas', 'get', `${'0'.repeat(64)}-7`, '--server', 'grpc://127.0.0.1:1')
  t.equal(status, 1)
  t.match(stderr, /^remexec: cas failed: grpc:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*; check address and port.*\n$/)
})

t.test('wrong usage exits with 2 and an explanation', async (t) => {
  for (const [args, message] of [
    [['valdate', 'a.json5'], /there is no command valdate: did you mean validate\?/],
    [['start', 'a.json5'], /start: expected options only, found a\.json5/],
    [['start', '--port', '70000'], /start: --port 70000: expected a number from 0 to 65535/],
    [['start', '--size', 'much'], /start: --size much: this is no size; expected 50gb/],
    [['init', 'machin'], /init: there is no recipe machin: did you mean machine\?/],
    [['a.json5', 'b.json5'], /expected one configuration/],
    [['--nonsense'], /--nonsense/],
    [['ls', 'a', 'b'], /ls: expected one DIR, or none for a running server/],
    [['validate', '--format', 'xml', 'a.json5'], /expected human or json/],
    [['--format', 'json', 'a.json5'], /Unknown option '--format': it belongs to remexec validate\n/],
  ] as const) {
    const { status, stderr } = remexec(...args)
    t.equal(status, 2, args.join(' '))
    t.match(stderr, message)
    t.match(stderr, /\ntry: remexec (\w+ )?--help\n$/, 'and where to read more')
    t.equal(stderr.split('\n').length, 3, 'in two lines')
  }
})

t.test('validate accepts every good configuration and refuses every broken one', async (t) => {
  const good = goodConfigs.map((name) => new URL(name, fixtures).pathname)
  const accepted = remexec('validate', ...good)
  t.equal(accepted.status, 0, accepted.stdout)
  const broken = readdirSync(new URL('../../fixtures/configs/broken', import.meta.url)).filter((name) =>
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

t.test('the default configuration starts, and reports its health over HTTP', async (t) => {
  const { hears } = serve(t, DEFAULT, t.testdir())
  const [, address] = await hears(/serving grpc:\/\/(\S+) server=public/)
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
})

t.test('without a configuration it serves this machine, and says where', async (t) => {
  const data = t.testdir()
  const words = ['start', '--dir', data, '--size', '300mb', '--port', '0']
  const env = { PATH: process.env['PATH'], HOME: '/nowhere' }
  const { hears, said, child, ended } = start(t, [process.execPath, program, ...words], { env })
  const [, address] = await hears(/ready\n {2}address +grpc:\/\/(127\.0\.0\.1:\d+)\n/)
  t.match(said(), `  page     http://${address}/\n`)
  t.match(said(), `--remote_executor=grpc://${address}`)
  t.match(said(), `  data     ${data}: CAS at most 0.3 GB, AC at most 1 GB\n`)
  t.equal((await fetch(`http://${address}/`)).status, 200)
  t.ok(existsSync(`${data}/cas/content`))
  child.kill('SIGTERM')
  t.equal((await ended).code, 143)
})

t.test('`remexec` alone is `remexec start`, and heeds the variables of the default configuration', async (t) => {
  const data = t.testdir()
  const env = { PATH: process.env['PATH'], HOME: '/nowhere', REMEXEC_DATA: data, REMEXEC_PORT: '0' }
  const { hears, said } = start(t, [process.execPath, program], { env })
  await hears(/ready\n/)
  t.match(said(), `  data     ${data}: CAS at most 20 GB, AC at most 1 GB\n`)
})

t.test('init lists the recipes, writes one, and never writes over a file', async (t) => {
  const folder = t.testdir()
  const list = remexec('init')
  t.equal(list.status, 0)
  for (const name of readdirSync(`${root}deploy/recipes`)) t.match(list.stdout, new RegExp(`^${name} +\\S`, 'm'))
  const written = remexec('init', 'machine', `${folder}/new`)
  t.equal(written.status, 0, written.stderr)
  const path = `${folder}/new/remexec.json5`
  t.match(written.stdout, `wrote ${path}\n`)
  const [, page = ''] = /^read +(.*)$/m.exec(written.stdout) ?? []
  t.ok(existsSync(page), page)
  t.same(readFileSync(path), readFileSync(`${root}${DEFAULT}`))
  t.equal(remexec('validate', path).status, 0)
  const again = remexec('init', 'machine', `${folder}/new`)
  t.equal(again.status, 1)
  t.match(again.stderr, `remexec: init failed: ${path} exists already; nothing was written`)
})

t.test('a reader that ends early is no failure of a command', async (t) => {
  const broken = readdirSync(new URL('broken/', fixtures)).map((name) => `fixtures/configs/broken/${name}`)
  const command = `"$0" "$@" 2>errors | head -1; echo "ends \${PIPESTATUS[0]}"; cat errors`
  const words = [process.execPath, program, 'validate', ...broken, ...broken, ...broken, ...broken]
  const env = { PATH: process.env['PATH'] }
  const cwd = t.testdir()
  const paths = words.map((word) => (word.startsWith('fixtures/') ? `${root}${word}` : word))
  const { stdout } = spawnSync('bash', ['-c', command, ...paths], { cwd, env, encoding: 'utf8' })
  t.match(stdout, /\nends 1\n$/, 'its own exit status, and nothing on standard error')
})

t.test('a long explanation reaches a reader that is slower than the exit of the process', async (t) => {
  // A hundred findings are listed.
  const names = Array.from({ length: 100 }, (_, number) => `STORE_${number}_${'x'.repeat(4000)}`)
  const stores = Object.fromEntries(names.map((name) => [name, { memroy: {} }]))
  const data = t.testdir({ 'wrong.json': JSON.stringify({ stores, servers: {} }) })
  const { status, stderr } = remexec(`${data}/wrong.json`)
  t.equal(status, 1)
  // A pipe takes less at once.
  t.ok(stderr.length > 256 * 1024, `${stderr.length} characters`)
  t.same(
    names.filter((name) => !stderr.includes(`stores.${name}.memroy:`)),
    [],
    'all of it',
  )
})
