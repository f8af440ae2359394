/**
 * S3 goes away under builds of Bazel 4.2, or of the Bazel that REMEXEC_OUTAGE_BAZEL names. The server has a disk in front
 * of the bucket and acknowledges there: no build may notice, and everything is in the bucket afterwards. REMEXEC_OUTAGE_S
 * is the length of the outage in seconds.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
// biome-ignore lint/plugin: an outage lasts for a time
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { S3_KEYS, startS3, withoutS3 } from '../store/kinds/experimental_cloud_object_store/s3-server.js'
import { untilSo } from '../until.js'
import { Bazel, bazelRelease, type Invocation } from './bazel.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { type Server, startServer } from './server.js'

// For changes in: src/store/kinds/fast_slow, src/store/contract/upload-order.ts, src/store/objects, src/store/remote

const OUTAGE_S = Number(process.env['REMEXEC_OUTAGE_S'] ?? 20)

t.setTimeout((OUTAGE_S + 400) * 1000)

const named = process.env['REMEXEC_OUTAGE_BAZEL']
const program = named ?? process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const release = await bazelRelease(program)
if (release === undefined || (named === undefined && !/^(4\.2\.|no_version)/.test(release))) {
  t.plan(0, `needs Bazel 4.2 and found ${release}: apt-get install bazel-bootstrap, or set REMEXEC_TEST_BAZEL_4`)
  process.exit()
}

// The C++ of //text builds only with the toolchain that Debian's Bazel 4.2 finds.
const TARGETS = ['//plain/...', ...(named === undefined ? ['//text/...'] : []), '//tree/...', '//links/...']

const tiers = (folder: string, port: number, name: string, more: object = {}): object => ({
  name: name.toUpperCase(),
  fast_slow: {
    fast: {
      filesystem: {
        content_path: join(folder, name, 'content'),
        temp_path: join(folder, name, 'temp'),
        eviction_policy: { max_bytes: '2gb' },
      },
    },
    slow: {
      experimental_cloud_object_store: {
        provider: 'aws',
        region: 'us-east-1',
        bucket: 'builds',
        key_prefix: `${name}/`,
        endpoint: `http://127.0.0.1:${port}`,
        insecure_allow_http: true,
        retry: { max_retries: 1, delay: 0.05 },
      },
    },
    when_slow_is_away: 'serve_fast',
    acknowledge: 'fast',
    ...more,
  },
})

const configuration = (folder: string, port: number, workerPort = 0) => ({
  stores: [tiers(folder, port, 'cas'), tiers(folder, port, 'ac', { action_result_max_age_s: 2 })],
  schedulers: [{ name: 'MAIN', simple: { supported_platform_properties: { '*': 'ignore' } } }],
  workers: [
    {
      local: {
        worker_api_endpoint: { uri: `grpc://127.0.0.1:${workerPort}` },
        cas_fast_slow_store: 'CAS',
        work_directory: join(folder, 'work'),
        max_inflight_tasks: 2,
      },
    },
  ],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ instance_name: '*', cas_store: 'CAS' }],
        ac: [{ instance_name: '*', ac_store: 'AC' }],
        execution: [{ instance_name: '*', cas_store: 'CAS', scheduler: 'MAIN' }],
        health: {},
      },
    },
  ],
})

interface Component {
  readonly component: string
  readonly status: Readonly<Record<string, { readonly message?: string }>>
}

const report = async ({
  uri,
}: Server): Promise<{ readonly status: number; readonly components: readonly Component[] }> => {
  const response = await fetch(`${uri.replace('grpc:', 'http:')}/status`)
  return { status: response.status, components: (await response.json()) as Component[] }
}

const messageOf = async (server: Server, name: string): Promise<string> => {
  const { components } = await report(server)
  const found = components.find(({ component }) => component === name)
  return JSON.stringify(found?.status)
}

t.test(
  `S3 is away for ${OUTAGE_S} s under builds: no error, and everything is in the bucket afterwards`,
  { skip: withoutS3 },
  async (t) => {
    const folder = await scratchFolder(t)
    const bazel = new Bazel(program, folder, await copyFixture('workspace', folder))
    t.teardown(() => bazel.shutdown())
    let s3 = await startS3(t)
    const serve = async (name: string): Promise<Server> => {
      const path = join(folder, `${name}.json`)
      await writeFile(path, JSON.stringify(configuration(join(folder, name), s3.port)))
      const env = { AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey }
      return startServer(t, join(folder, name), { config: path, env })
    }
    const server = await serve('one')
    const common = ['--remote_retries=0', ...TARGETS]
    const remotely = [`--remote_executor=${server.uri}`, '--noremote_local_fallback', ...common]
    const locally = [`--remote_cache=${server.uri}`, '--spawn_strategy=local', ...common]
    const succeeds = (t: Test, { code, output }: Invocation, what: string): void => {
      const isFine = t.equal(code, 0, `${what} succeeds`)
      const complaints = output
        .split('\n')
        .filter((line) => /^(WARNING(?!: Option '.*' is deprecated)|ERROR)/.test(line))
      if (!t.same(complaints, [], 'Bazel complains about nothing') || !isFine) t.comment(output, server.log())
    }
    const build = async (round: number): Promise<void> => {
      await bazel.clean()
      const args = [`--action_env=REMEXEC_ROUND=${round}`, ...(round % 2 === 0 ? remotely : locally)]
      succeeds(t, await bazel.run('build', ...args), `build ${round}`)
      t.equal(await readFile(bazel.output('plain/rest.txt'), 'utf8'), 'BETA\nGAMMA\n')
    }
    await build(0)
    await build(1)
    await untilSo(async () => /nothing waits/.test(await messageOf(server, 'uploads/CAS')))

    await s3.kill()
    // biome-ignore lint/plugin: an outage lasts for a time
    const untilMs = performance.now() + OUTAGE_S * 1000
    let round = 2
    // biome-ignore lint/plugin: ends with the outage; each build in it has a limit
    while (performance.now() < untilMs || round < 4) {
      // At least the second build of each pair finds what the first one made.
      await build(round)
      await bazel.clean()
      const args = [`--action_env=REMEXEC_ROUND=${round}`, ...(round % 2 === 0 ? remotely : locally)]
      const again = await bazel.run('build', ...args)
      succeeds(t, again, `build ${round} again`)
      t.same(Object.keys(again.ran), ['remote cache hit'], 'with hits only')
      round += 1
      if (round > 8) await sleep(5000)
    }
    t.ok(round > 3, `${round} rounds`)
    const { status } = await report(server)
    t.equal(status, 200, 'the server stays in service')
    t.match(await messageOf(server, 'stores/CAS'), /Warning.*the slow store is away since/)
    t.match(
      await messageOf(server, 'uploads/CAS'),
      /Warning.*\d+ blobs? of [\d.]+ \w+ waits? for the slow store.*nobody listens/,
    )

    const lines = server.log().split('\n')
    const outage = lines.filter((line) => /(warn|error) /.test(line))
    const aboutLimit = 8 + 4 * Math.ceil(OUTAGE_S / 60)
    t.ok(outage.length <= aboutLimit, `${outage.length} warnings, expected at most ${aboutLimit}`) ||
      t.comment(outage.join('\n'))
    t.comment(outage.join('\n'))

    s3 = await s3.restart()
    // biome-ignore lint/plugin: only told
    const sinceMs = performance.now()
    for (const name of ['CAS', 'AC'])
      await untilSo(async () => /nothing waits/.test(await messageOf(server, `uploads/${name}`)))
    t.comment(
      // biome-ignore lint/plugin: only told
      `drained within ${Math.round(performance.now() - sinceMs)} ms of the return: ${(await s3.objects()).length} objects`,
    )
    t.notMatch(server.log(), /is lost|is given up/)
    t.match(server.log(), /the slow store works again store=CAS/)

    // Another server with an empty disk has only the bucket.
    t.equal(await server.stop(), 143)
    const other = await serve('other')
    for (const made of [2, 3, round - 1]) {
      await bazel.clean()
      const args = [`--remote_cache=${other.uri}`, '--spawn_strategy=local', ...common]
      const built = await bazel.run('build', `--action_env=REMEXEC_ROUND=${made}`, ...args)
      t.equal(built.code, 0)
      t.same(Object.keys(built.ran), ['remote cache hit'], `what build ${made} made is in the bucket`)
    }
  },
)
