import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { DEFAULT, program, root, serve } from './program.js'

const remexec = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: root, encoding: 'utf8' })
  return { status, stdout, stderr }
}

t.test('help and version', async (t) => {
  const help = remexec('--help')
  t.equal(help.status, 0)
  t.match(help.stdout, /usage: remexec CONFIG/)
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  t.same(remexec('--version'), { status: 0, stdout: `remexec ${version}\n`, stderr: '' })
})

t.test('wrong usage exits with 2 and an explanation', async (t) => {
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
  const good = readdirSync(new URL('../../fixtures/configs', import.meta.url))
    .filter((name) => /\.json5?$/.test(name))
    .map((name) => `fixtures/configs/${name}`)
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
