/** Builds of Bazel 4.2 with a server of four service threads, which serve blobs and results themselves. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Bazel, bazelRelease, type Invocation } from './bazel.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { type Server, startServer } from './server.js'

// For changes in: src/assembly, src/server/threads, src/store/index, src/store/kinds/filesystem

t.setTimeout(900_000)

/** Debian's Bazel 4.2.3 does not know its release and says `no_version`. */
const program = process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const release = await bazelRelease(program)
if (release === undefined || !/^(4\.2\.|no_version)/.test(release)) {
  t.plan(
    0,
    `needs Bazel 4.2 and found ${release}: apt-get install bazel-bootstrap, or name one in REMEXEC_TEST_BAZEL_4`,
  )
  process.exit()
}

const folder = await scratchFolder(t)
const bazel = new Bazel(program, folder, await copyFixture('workspace', folder))
t.teardown(() => bazel.shutdown())

const filesystem = (name: string): object => ({
  filesystem: {
    content_path: join(folder, name),
    temp_path: join(folder, `${name}-temp`),
    eviction_policy: { max_bytes: '1gb' },
  },
})
const TOKEN = 'token-of-ci'
const config = {
  global: { threads: 4 },
  stores: { CAS: { fast_slow: { fast: filesystem('cas'), slow: { noop: {} } } }, AC: filesystem('ac') },
  schedulers: { MAIN: { simple: { supported_platform_properties: { '*': 'ignore' } } } },
  workers: [
    {
      local: {
        worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' },
        cas_fast_slow_store: 'CAS',
        work_directory: join(folder, 'work'),
        max_inflight_tasks: 4,
        platform_properties: {},
      },
    },
  ],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ instance_name: '*', cas_store: 'CAS' }],
        ac: [{ instance_name: '*', ac_store: 'AC' }],
        bytestream: [{ instance_name: '*', cas_store: 'CAS' }],
        execution: [{ instance_name: '*', cas_store: 'CAS', scheduler: 'MAIN' }],
      },
    },
  ],
  security: { identity: { tokens: [{ name: 'ci', sha256: createHash('sha256').update(TOKEN).digest('hex') }] } },
}

const start = async (): Promise<Server> => {
  const path = join(folder, 'remexec.json')
  await writeFile(path, JSON.stringify(config))
  return startServer(t, join(folder, 'data'), { config: path })
}
const header = `--remote_header=authorization=Bearer ${TOKEN}`
const remotely = ({ uri }: Server): string[] => [`--remote_executor=${uri}`, header, '//...']
const locally = ({ uri }: Server): string[] => [`--remote_cache=${uri}`, header, '--spawn_strategy=local', '//...']

const done = async (t: Test, { code, output }: Invocation, server: Server): Promise<void> => {
  t.equal(code, 0, 'the build succeeds') || t.comment(output, server.log())
  const text = (path: string): Promise<string> => readFile(bazel.output(path), 'utf8')
  t.equal((await readFile(bazel.output('data/large.bin'))).length, 64 * 1024 * 1024)
  t.equal(await text('plain/rest.txt'), 'BETA\nGAMMA\n')
  t.equal(await text('links/through.txt'), 'linked\npair\npair\n')
}

t.test('builds run remotely and locally, and hit the cache, also across a restart', async (t) => {
  let server = await start()
  const first = await bazel.run('test', ...remotely(server))
  await done(t, first, server)
  t.same(Object.keys(first.ran), ['remote'])
  await bazel.clean()
  const again = await bazel.run('test', ...remotely(server))
  await done(t, again, server)
  t.same(again.ran, { 'remote cache hit': first.ran['remote'] })
  const made = '--action_env=REMEXEC_ROUND=1'
  await bazel.clean()
  await done(t, await bazel.run('test', made, ...locally(server)), server)
  t.equal(await server.stop(), 143)
  server = await start()
  await bazel.clean()
  const hit = await bazel.run('test', made, ...locally(server))
  await done(t, hit, server)
  t.same(Object.keys(hit.ran), ['remote cache hit'])
  await bazel.clean()
  const refused = await bazel.run('build', `--remote_cache=${server.uri}`, '--spawn_strategy=local', '//plain/...')
  t.match(refused.output, /UNAUTHENTICATED/, 'without the token')
})
