/** Builds of Bazel 4.2 through stores on other machines: an object store, a Redis, another server. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { S3_KEYS, startS3, withoutS3 } from '../store/kinds/experimental_cloud_object_store/s3-server.js'
import { keysAt, startRedis, withoutRedis } from '../store/kinds/redis_store/redis.js'
import { freePorts } from '../store/remote/backend.js'
import { untilSo } from '../until.js'
import { Bazel, bazelRelease, type Invocation } from './bazel.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { type Server, startServer } from './server.js'

// For changes in: src/store/kinds/fast_slow, src/store/kinds/redis_store, src/store/kinds/grpc
// For changes in: src/store/kinds/compression, src/store/kinds/experimental_cloud_object_store, src/store/objects
// For changes in: src/store/remote

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

/** What these builds make: without the 64 MiB, whose way is that of every other blob. */
const TARGETS = ['//plain/...', '//text/...', '//tree/...', '//links/...']

const folder = await scratchFolder(t)
const bazel = new Bazel(program, folder, await copyFixture('workspace', folder))
t.teardown(() => bazel.shutdown())

const succeeds = (t: Test, { code, output }: Invocation, server: Server): void => {
  t.equal(code, 0, 'the build succeeds') || t.comment(output, server.log())
}

const checkOutputs = async (t: Test): Promise<void> => {
  const text = (path: string): Promise<string> => readFile(bazel.output(path), 'utf8')
  t.equal(await text('plain/rest.txt'), 'BETA\nGAMMA\n')
  t.equal(await text('tree/listing.txt'), './by-name/deep/a.txt\n./by-name/deep/b.txt\n./empty.txt\n./show.sh\ntree\n')
  t.equal(await text('links/through.txt'), 'linked\npair\npair\n')
}

const start = async (t: Test, name: string, config: object, ready?: RegExp): Promise<Server> => {
  const path = join(folder, `${name}.json`)
  await writeFile(path, JSON.stringify(config))
  const env = { AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey }
  return startServer(t, join(folder, name), { config: path, env, ...(ready && { ready }) })
}

const filesystem = (path: string): object => ({
  filesystem: { content_path: path, temp_path: `${path}-temp`, eviction_policy: { max_bytes: '1gb' } },
})

const listener = (port: number): object => ({ http: { socket_address: `127.0.0.1:${port}` } })

const schedulers = [{ name: 'MAIN', simple: { supported_platform_properties: { '*': 'ignore' } } }]

const workers = (name: string, port: number, more: object = {}): object[] => [
  {
    local: {
      worker_api_endpoint: { uri: `grpc://127.0.0.1:${port}` },
      cas_fast_slow_store: 'CAS',
      work_directory: join(folder, name, 'work'),
      max_inflight_tasks: 2,
      platform_properties: {},
      ...more,
    },
  },
]

const services = {
  cas: [{ instance_name: '*', cas_store: 'CAS' }],
  ac: [{ instance_name: '*', ac_store: 'AC' }],
  execution: [{ instance_name: '*', cas_store: 'CAS', scheduler: 'MAIN' }],
  health: {},
}

/** A build machine whose blobs are in a bucket behind its own folder, and whose results are in a Redis. */
const sharing = (name: string, places: { s3Port: number; bucket: string; redis: string; workerPort: number }) => ({
  stores: [
    {
      name: 'CAS',
      fast_slow: {
        fast: filesystem(join(folder, name, 'cas')),
        slow: {
          compression: {
            compression_algorithm: { lz4: {} },
            backend: {
              experimental_cloud_object_store: {
                provider: 'aws',
                region: 'us-east-1',
                bucket: places.bucket,
                key_prefix: 'cas/',
                endpoint: `http://127.0.0.1:${places.s3Port}`,
                insecure_allow_http: true,
                retry: { max_retries: 1, delay: 0.05 },
              },
            },
          },
        },
      },
    },
    {
      name: 'AC',
      redis_store: { addresses: [places.redis], key_prefix: 'ac:', retry: { max_retries: 1, delay: 0.05 } },
    },
  ],
  schedulers,
  workers: workers(name, places.workerPort),
  servers: [{ listener: listener(0), services }],
})

/** Whether the server reports that every store answers: a result found while one is still away is kept nowhere. */
const isHealthy = async ({ uri }: Server): Promise<boolean> =>
  (await fetch(`${uri.replace('grpc:', 'http:')}/status`)).status === 200

const skip = withoutS3 || withoutRedis

t.test(
  'an object store and a Redis that are killed during builds cost cache hits, and no build',
  { skip },
  async (t) => {
    let [s3, redis] = [await startS3(t), await startRedis(t)]
    const places = { s3Port: s3.port, bucket: s3.bucket, redis: redis.address }
    const [workerPort = 0, otherWorkerPort = 0] = await freePorts(2)
    const one = await start(t, 'one', sharing('one', { ...places, workerPort }))
    // Where the server says that a store does not answer Bazel asks again, and then runs the action here if it is allowed to.
    const common = ['--remote_retries=1', ...TARGETS]
    const remotely = ({ uri }: Server): string[] => [`--remote_executor=${uri}`, '--remote_local_fallback', ...common]
    const locally = ({ uri }: Server): string[] => [`--remote_cache=${uri}`, '--spawn_strategy=local', ...common]

    await t.test('a build on a machine fills both', async (t) => {
      const built = await bazel.run('build', ...remotely(one))
      succeeds(t, built, one)
      t.same(Object.keys(built.ran), ['remote'])
      await checkOutputs(t)
      t.ok((await s3.objects()).length > (built.ran['remote'] ?? 0))
      t.equal((await keysAt(redis.port)).length, built.ran['remote'])
    })

    await t.test('another machine with an empty folder has all of it', async (t) => {
      const other = await start(t, 'other', sharing('other', { ...places, workerPort: otherWorkerPort }))
      await bazel.clean()
      const built = await bazel.run('build', ...remotely(other))
      succeeds(t, built, other)
      t.same(Object.keys(built.ran), ['remote cache hit'])
      await checkOutputs(t)

      const made = '--action_env=REMEXEC_ROUND=0'
      await bazel.clean()
      const there = await bazel.run('build', made, ...remotely(other))
      // Actions that look at no such variable are known already.
      t.ok((there.ran['remote'] ?? 0) > 0)
      await bazel.clean()
      const here = await bazel.run('build', made, ...remotely(one))
      succeeds(t, here, one)
      t.same(Object.keys(here.ran), ['remote cache hit'], 'and the first one has what that one made')
      t.equal(await other.stop(), 143)
    })

    await t.test('both killed while actions run remotely', async (t) => {
      await bazel.clean()
      const before = (await keysAt(redis.port)).length
      const building = bazel.run('build', '--action_env=REMEXEC_ROUND=1', ...remotely(one))
      await untilSo(async () => (await keysAt(redis.port)).length > before + 2)
      await Promise.all([redis.kill(), s3.kill()])
      succeeds(t, await building, one)
      await checkOutputs(t)
      s3 = await s3.restart()
      redis = await redis.restart()
    })

    await t.test('both killed while a build uses the cache', async (t) => {
      await bazel.clean()
      const building = bazel.run('build', '--action_env=REMEXEC_ROUND=2', ...locally(one))
      await untilSo(async () => (await keysAt(redis.port)).length > 2)
      await Promise.all([redis.kill(), s3.kill()])
      succeeds(t, await building, one)
      await checkOutputs(t)
    })

    await t.test('a whole build without either', async (t) => {
      await bazel.clean()
      succeeds(t, await bazel.run('build', ...locally(one)), one)
      await checkOutputs(t)
    })

    await t.test('both come back, without a restart', async (t) => {
      s3 = await s3.restart()
      redis = await redis.restart()
      await untilSo(() => isHealthy(one))
      await bazel.clean()
      const first = await bazel.run('build', ...remotely(one))
      succeeds(t, first, one)
      await bazel.clean()
      const second = await bazel.run('build', ...remotely(one))
      succeeds(t, second, one)
      t.same(Object.keys(second.ran), ['remote cache hit'])
      await checkOutputs(t)
    })
  },
)

t.test('a worker process with a folder of its own, and a server behind it, runs a build', async (t) => {
  const [workerPort = 0] = await freePorts(1)
  const server = await start(t, 'server', {
    stores: [
      { name: 'CAS', ...filesystem(join(folder, 'server', 'cas')) },
      { name: 'AC', ...filesystem(join(folder, 'server', 'ac')) },
    ],
    schedulers,
    servers: [
      { listener: listener(0), services },
      { listener: listener(workerPort), services: { worker_api: { scheduler: 'MAIN' } } },
    ],
  })
  const worker = await start(
    t,
    'worker',
    {
      stores: [
        {
          name: 'CAS',
          fast_slow: {
            fast: filesystem(join(folder, 'worker', 'cas')),
            slow: { grpc: { endpoints: [{ address: server.uri }], store_type: 'cas' } },
          },
        },
      ],
      workers: workers('worker', workerPort),
      servers: [],
    },
    /connected to the scheduler/,
  )
  await bazel.clean()
  const built = await bazel.run('test', `--remote_executor=${server.uri}`, '//...')
  t.equal(built.code, 0) || t.comment(built.output, server.log(), worker.log())
  t.same(Object.keys(built.ran), ['remote'])
  await checkOutputs(t)
  t.equal(await worker.stop(), 143)
  await bazel.clean()
  const again = await bazel.run('test', `--remote_executor=${server.uri}`, '//...')
  t.equal(again.code, 0)
  t.same(Object.keys(again.ran), ['remote cache hit'])
})
