import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { type Program, serve } from '../cli/program.js'
import { Bazel, bazelRelease } from './bazel.js'
import { ccache } from './http/tools/ccache.js'
import { copyFixture, scratchFolder } from './scratch.js'

// For changes in: src/security/scopes.ts, src/store/scoped, src/assembly/result-caches.ts

t.setTimeout(1_800_000)

const ROUNDS = 15
const program = process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const release = await bazelRelease(program)
if (release === undefined || !/^(4\.2\.|no_version)/.test(release)) {
  const found = release === undefined ? `no ${program}` : `${program} is ${release}`
  t.plan(0, `needs Bazel 4.2 and found ${found}: apt-get install bazel-bootstrap, or name one in REMEXEC_TEST_BAZEL_4`)
  process.exit()
}

const folder = await scratchFolder(t)
const token = (name: string) => ({ name, sha256: createHash('sha256').update(name).digest('hex') })
const ALL = ['read_cas', 'write_cas', 'read_ac', 'write_ac']
const kept = (name: string) => ({
  filesystem: {
    content_path: join(folder, name, 'content'),
    temp_path: join(folder, name, 'temp'),
    eviction_policy: { max_bytes: '1gb' },
  },
})
const config = join(folder, 'config.json')
await writeFile(
  config,
  JSON.stringify({
    stores: { CAS: kept('cas'), AC: kept('ac') },
    security: {
      identity: { tokens: ['main', 'pr-1', 'boss'].map(token) },
      access: [
        { names: ['main', 'pr-*'], may: ALL },
        { names: ['boss'], may: ['administer', 'read_ac', 'read_cas'] },
      ],
      scopes: { rules: [{ names: ['pr-*'], scope: '{name}' }] },
    },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: { '*': { cas_store: 'CAS' } },
          ac: { '*': { ac_store: 'AC' } },
          http_cache: { '/ccache': { kind: 'ccache' } },
          admin: {},
        },
      },
    },
  }),
)

let server: Program
const started = async (): Promise<number> => {
  server = serve(t, config, folder)
  const [, port] = await server.hears(/serving grpc:\/\/127\.0\.0\.1:(\d+)/)
  return Number(port)
}
let port = await started()

/** A workspace and an output folder, of the caller with this token. */
const builder = async (name: string) => {
  const own = join(folder, name)
  const workspace = await copyFixture('workspace', own)
  const bazel = new Bazel(program, own, workspace)
  t.teardown(() => bazel.shutdown())
  const build = async () => {
    const flags = [
      `--remote_cache=grpc://127.0.0.1:${port}`,
      `--remote_header=authorization=Bearer ${name}`,
      ...['--spawn_strategy=local', '--genrule_strategy=local', '--remote_upload_local_results'],
    ]
    await bazel.clean()
    const { code, output, ran } = await bazel.run('build', ...flags, '--', '//plain:all')
    t.equal(code, 0, `${name} builds`) || t.comment(output, server.said())
    t.notMatch(output, /WARNING.*(cache|remote)/i, 'and is not warned')
    const hits = ran['remote cache hit'] ?? 0
    return { hits, others: Object.values(ran).reduce((sum, count) => sum + count, 0) - hits }
  }
  const words = join(workspace, 'plain/words.txt')
  return { build, words, output: () => readFile(bazel.output('plain/upper.txt'), 'utf8') }
}

t.test(
  `${2 * ROUNDS} builds of Bazel: a branch has the hits of main, and main never sees what the branch wrote`,
  async (t) => {
    const [main, branch] = [await builder('main'), await builder('pr-1')]
    const original = await readFile(main.words, 'utf8')
    const sum = { main: 0, branch: 0 }
    for (let round = 0; round < ROUNDS; round++) {
      // Main goes on in every third round, and the branch follows; between, the branch has sources of its own.
      const text = `${original}round ${Math.floor(round / 3)}\n`
      const isChanged = round % 3 === 1
      await writeFile(main.words, text)
      await writeFile(branch.words, isChanged ? `${text}of the branch ${round}\n` : text)
      if (round % 3 === 0) await main.build()
      const [ofBranch, ofMain] = [await branch.build(), await main.build()]
      t.equal(ofMain.others, 0, 'main has everything from the cache')
      if (!isChanged) t.same(ofBranch, ofMain, 'the branch has as many hits as main')
      else {
        t.ok(ofBranch.others > 0, 'what only the branch has is built')
        const again = await branch.build()
        t.same(again, ofMain, 'and is its own hit the next time')
      }
      t.equal(await main.output(), text.toUpperCase())
      t.equal(await branch.output(), (isChanged ? `${text}of the branch ${round}\n` : text).toUpperCase())
      sum.main += ofMain.hits
      sum.branch += ofBranch.hits
      if (round === 4 || round === 10) {
        server.child.kill('SIGTERM')
        await server.ended
        port = await started()
      }
      if (round === 7) {
        const dropped = await fetch(`http://127.0.0.1:${port}/admin/result?scope=pr-1`, {
          method: 'DELETE',
          headers: { authorization: 'Bearer boss' },
        })
        t.equal(dropped.status, 200, await dropped.text())
      }
    }
    t.comment(`hits: main ${sum.main}, branch ${sum.branch}`)
  },
)

t.test(
  'ccache: a fresh branch has the hits of main, and its own entries are not those of main',
  { skip: ccache.skip },
  async (t) => {
    const urlOf = (name: string): string => `http://127.0.0.1:${port}/ccache|bearer-token=${name}`
    const [main, branch] = await Promise.all(
      ['ccache-main', 'ccache-branch'].map((name) => ccache.prepare(t, join(folder, name))),
    )
    if (main === undefined || branch === undefined) throw new Error('no ccache')
    const says = /^remote_storage_hit\t1/m
    await main.build(urlOf('main'))
    t.match((await branch.build(urlOf('pr-1'))).output, says, 'a hit of main')
    await writeFile(join(branch.cwd, 'hello.c'), 'int answer(void) { return 43; }\n')
    await branch.build(urlOf('pr-1'))
    t.match((await branch.build(urlOf('pr-1'))).output, says, 'a hit of its own')
    await writeFile(join(main.cwd, 'hello.c'), 'int answer(void) { return 43; }\n')
    t.notMatch((await main.build(urlOf('main'))).output, says, 'no hit of the branch')
    t.ok(existsSync(main.made))
  },
)
