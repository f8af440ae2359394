/**
 * Bazel 7 builds without the bytes over a cache that is flooded with 110 % of its size between two builds. The second
 * build needs an output that the first one only heard of. Before the flood the server is killed, the client ended, or
 * both. REMEXEC_ROUNDS is the number of rounds.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { TestClient } from '../server/client.js'
import { Bazel, bazelRelease } from './bazel.js'
import { scratchFolder } from './scratch.js'
import { type Server, startServer } from './server.js'

// For changes in: src/store/index, src/store/kinds/filesystem/touches.ts, src/rpc/invocations.ts, src/store/kinds/completeness_checking

const ROUNDS = Number(process.env['REMEXEC_ROUNDS'] ?? 2)
const STORE_BYTES = 8_000_000
const BLOB_BYTES = 400_000
/** The exit code of Bazel for an input that the cache has lost. */
const LOST = 39

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BAZEL_7'] ?? 'bazel-7'
const release = await bazelRelease(program)
if (release === undefined || !release.startsWith('7.')) {
  t.plan(0, `needs Bazel 7 and found ${release}: name one in REMEXEC_TEST_BAZEL_7`)
  process.exit()
}

const BUILD = `
[genrule(name = "part%d" % n, srcs = ["seed.txt"], outs = ["part%d.txt" % n], cmd = "(cat $<; echo %d; seq 2000) > $@" % n) for n in range(5)]
genrule(name = "whole", srcs = ["leaf.txt"] + ["part%d.txt" % n for n in range(5)], outs = ["whole.txt"], cmd = "cat $(SRCS) > $@")
`

const filesystem = (folder: string, options: object) => ({
  filesystem: { content_path: join(folder, 'content'), temp_path: join(folder, 'temp'), ...options },
})

const configuration = (folder: string, options: object, address: string) => ({
  stores: [
    {
      name: 'CAS',
      ...filesystem(join(folder, 'cas'), { eviction_policy: { max_bytes: STORE_BYTES }, ...options }),
    },
    { name: 'AC', ...filesystem(join(folder, 'ac'), {}) },
  ],
  servers: [
    {
      listener: { http: { socket_address: address } },
      services: {
        cas: [{ cas_store: 'CAS' }, { instance_name: 'other', cas_store: 'CAS' }],
        ac: [{ ac_store: 'AC' }],
      },
    },
  ],
})

const flood = async ({ uri }: Server, round: number): Promise<void> => {
  const client = new TestClient(uri.replace('grpc://', ''))
  for (let at = 0; at * BLOB_BYTES < 1.1 * STORE_BYTES; at++) {
    const data = Buffer.alloc(BLOB_BYTES, `round ${round}, blob ${at}`)
    const { hash, sizeBytes } = Digest.of(data, digestFunctions.SHA256)
    const requests = [{ digest: { hash, sizeBytes }, data }]
    const method = 'build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs'
    await client.unary(method, { instanceName: 'other', requests }).response
  }
  client.close()
}

/** What happens between the hits and the flood, in turn. */
const BETWEEN = [
  { killsServer: true, endsClient: false },
  { killsServer: false, endsClient: true },
  { killsServer: true, endsClient: true },
  { killsServer: false, endsClient: false },
] as const

/** The number of rounds whose second build lost an input. */
const lostRounds = async (t: Test, options: object): Promise<number> => {
  const folder = await scratchFolder(t)
  const workspace = join(folder, 'workspace')
  await mkdir(workspace)
  await writeFile(join(workspace, 'WORKSPACE'), '')
  await writeFile(join(workspace, 'BUILD'), BUILD)
  const config = join(folder, 'config.json')
  const start = async (address: string): Promise<Server> => {
    await writeFile(config, JSON.stringify(configuration(folder, options, address)))
    return startServer(t, join(folder, 'data'), { config })
  }
  let server = await start('127.0.0.1:0')
  const bazel = new Bazel(program, folder, workspace)
  t.teardown(() => bazel.shutdown())
  const build = () =>
    bazel.run(
      ...(['build', '--noenable_bzlmod', `--remote_cache=${server.uri}`, '--remote_download_outputs=minimal'] as const),
      ...['--experimental_remote_cache_eviction_retries=0', '--spawn_strategy=local', '--genrule_strategy=local'],
      '//:whole',
    )
  let lost = 0
  for (let round = 0; round < ROUNDS; round++) {
    await writeFile(join(workspace, 'seed.txt'), `round ${round}\n`)
    await writeFile(join(workspace, 'leaf.txt'), 'before\n')
    const first = await build()
    if (first.code !== 0) throw new Error(`the first build: exit code ${first.code}\n${first.output}`)
    await bazel.clean()
    const hits = await build()
    t.match(hits.ran, { 'remote cache hit': 6 }, hits.output)
    const { killsServer, endsClient } = BETWEEN[round % BETWEEN.length] ?? BETWEEN[0]
    if (endsClient) await bazel.shutdown()
    if (killsServer) {
      await server.crash()
      server = await start(server.uri.replace('grpc://', ''))
    }
    await flood(server, round)
    await writeFile(join(workspace, 'leaf.txt'), 'after\n')
    const { code, output } = await build()
    if (code === LOST || /lost inputs|Lost inputs/.test(output)) lost += 1
    else t.equal(code, 0, output)
  }
  return lost
}

t.test('no build loses an input that a hit promised', async (t) => {
  t.equal(await lostRounds(t, {}), 0)
})

t.test('control: without promises builds do lose inputs', async (t) => {
  const lost = await lostRounds(t, { retention: 0 })
  t.comment(`${lost} of ${ROUNDS} rounds`)
  t.ok(lost >= 0.8 * ROUNDS, `${lost} of ${ROUNDS} rounds`)
})
