/** The effect of single configuration keys on a real backend, where no other test shows it. */
import { request } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { setImmediate } from 'node:timers/promises'
import { BSON, MongoClient } from 'mongodb'
import t, { type Test } from 'tap'
import { Code } from '../../../src/base/status-error.js'
import type { Store } from '../../../src/blobs/store.js'
import type { ExperimentalMongoOptions } from '../../../src/config/config.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { callWith } from '../../../src/rpc/call.js'
import { WHOLE } from '../../../src/stream/path.js'
import { Authority } from '../../tls/authority.js'
import { until } from '../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../blobs.js'
import { startGcs, withoutGcs } from '../kinds/experimental_cloud_object_store/gcs-server.js'
import { openObjectStore } from '../kinds/experimental_cloud_object_store/open.js'
import { S3_KEYS, startS3, withoutS3 } from '../kinds/experimental_cloud_object_store/s3-server.js'
import { startMongo, withoutMongo } from '../kinds/experimental_mongo/mongo-server.js'
import { openMongoStore } from '../kinds/experimental_mongo/open.js'
import { endpoint, openGrpcStore, startRemexec } from '../kinds/grpc/remexec.js'
import { ask, keysAt, openRedisStore, startRedis, withoutRedis } from '../kinds/redis_store/redis.js'
import { rejects } from '../suite.js'
import { folderOf, portOf } from './backend.js'
import { HttpProxy } from './http-proxy.js'
import { TcpProxy } from './proxy.js'

process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey

const KIB = 1024
const MIB = 1024 * KIB
const NO_RETRY = { max_retries: 0, delay: 0, jitter: 0, budget_s: 0 }

/**
 * How many of two unanswered reads are sent concurrently. The second is sent in any case after the first was cancelled.
 */
const sentTogether = async (store: Store, proxy: TcpProxy, seed: string): Promise<number> => {
  const [first, second] = [
    digestOf(bytesOf(300 * KIB, `first ${seed}`)),
    digestOf(bytesOf(300 * KIB, `second ${seed}`)),
  ]
  const said = proxy.record()
  const leaving = new AbortController()
  const read = (digest: Digest): Promise<unknown> =>
    store.get(digest, WHOLE, callWith(call, { signal: leaving.signal })).catch(() => {})
  proxy.isStalled = true
  const both = [read(first)]
  await until(async () => said().includes(first.hash))
  both.push(store.get(second, WHOLE, call).catch(() => {}))
  for (let turn = 0; turn < 50; turn++) await setImmediate()
  const sent = said().includes(second.hash) ? 2 : 1
  leaving.abort()
  proxy.isStalled = false
  await until(async () => said().includes(second.hash))
  await Promise.all(both)
  return sent
}

void t.test('redis_store: read_chunk_size, connection_pool_size, key_prefix', { skip: withoutRedis }, async (t) => {
  const { port, address } = await startRedis(t)
  const options = { read_chunk_size: 1000, connection_pool_size: 2, key_prefix: 'mine:' }
  const { store } = await openRedisStore(t, [address], options)
  const bytes = bytesOf(4500)
  await put(store, digestOf(bytes), bytes)
  const [key = ''] = await keysAt(port)
  t.equal(key, `mine:${digestOf(bytes).key}`)
  const fields = (await ask(port, 'HKEYS', key)) as string[]
  t.same(
    fields
      .map(String)
      .filter((name) => /^\d+$/.test(name))
      .sort(),
    ['0', '1', '2', '3', '4'],
    'chunks of 1,000 bytes',
  )
  const clients = String(await ask(port, 'CLIENT', 'LIST'))
    .trim()
    .split('\n')
  t.equal(clients.length, 3, 'two of the store, one that asks')
})

void t.test('redis_store: max_client_permits, health_check_timeout_ms', { skip: withoutRedis }, async (t) => {
  const { port } = await startRedis(t)
  const proxy = await TcpProxy.start(t, port)
  for (const max_client_permits of [1, 2]) {
    const options = { max_client_permits, connection_pool_size: 1, retry: NO_RETRY }
    const { store } = await openRedisStore(t, [`redis://127.0.0.1:${proxy.port}`], options)
    t.equal(await sentTogether(store, proxy, `redis ${max_client_permits}`), max_client_permits)
  }
  const { probes } = await openRedisStore(t, [`redis://127.0.0.1:${proxy.port}`], { health_check_timeout_ms: 20 })
  proxy.isStalled = true
  t.match(await probes[0]?.check(call.signal), { state: 'Failed', error: /did not answer within 20 ms/ })
  proxy.isStalled = false
})

void t.test(
  'experimental_mongo: database, cas_collection, key_prefix, read_chunk_size, max_requests',
  { skip: withoutMongo },
  async (t) => {
    const { port } = await startMongo(t)
    const proxy = await TcpProxy.start(t, port)
    const place = { database: 'elsewhere', cas_collection: 'blobs', key_prefix: 'mine/' }
    const { store, close } = await openMongoStore(port, { ...place, read_chunk_size: 1000 })
    t.teardown(close)
    const [small, large] = [bytesOf(1000), bytesOf(4500)]
    for (const bytes of [small, large]) await put(store, digestOf(bytes), bytes)
    const client = new MongoClient(`mongodb://127.0.0.1:${port}/`)
    t.teardown(() => client.close())
    const found = await client.db('elsewhere').collection<{ _id: string }>('blobs').find().toArray()
    t.same(found.map(({ _id }) => _id).sort(), [small, large].map((bytes) => `mine/${digestOf(bytes).key}`).sort())
    t.equal(await client.db('elsewhere').collection('blobs.chunks').countDocuments(), 5)
    for (const max_requests of [1, 2]) {
      const { store, close } = await openMongoStore(proxy.port, { max_requests })
      t.teardown(close)
      // Two connections, before the proxy blocks.
      await Promise.all(['one', 'other'].map((seed) => isPresent(store, digestOf(bytesOf(10, seed)))))
      t.equal(await sentTogether(store, proxy, `mongo ${max_requests}`), max_requests)
    }
  },
)

void t.test('grpc: max_concurrent_requests, concurrency_limit, use_legacy_resource_names', async (t) => {
  const { port } = await startRemexec(t)
  const proxy = await TcpProxy.start(t, port)
  const at = endpoint(proxy.port)
  const plain = { experimental_remote_cache_compression: false }
  for (const limit of [1, 2]) {
    for (const [key, options] of Object.entries({
      max_concurrent_requests: { endpoints: [at], max_concurrent_requests: limit },
      concurrency_limit: { endpoints: [{ ...at, concurrency_limit: limit }] },
    })) {
      const { store } = await openGrpcStore(t, { ...plain, ...options })
      t.match(await store.health(call), { state: 'Ok' })
      t.equal(await sentTogether(store, proxy, `${key} ${limit}`), limit, key)
    }
  }
  for (const isLegacy of [false, true]) {
    const { store } = await openGrpcStore(t, { endpoints: [at], use_legacy_resource_names: isLegacy, ...plain })
    const bytes = bytesOf(300 * KIB, `${isLegacy}`)
    const digest = Digest.of(bytes, digestFunctions.BLAKE3)
    const said = proxy.record()
    await put(store, digest, bytes).catch(() => {})
    t.equal(said().includes(`/blobs/${digest.hash}`), isLegacy)
    t.equal(said().includes(`/blobs/blake3/${digest.hash}`), !isLegacy)
  }
})

void t.test(
  'aws: parts are of max_retry_buffer_per_request, multipart_max_concurrent_uploads at a time',
  { skip: withoutS3 },
  async (t) => {
    const { port, bucket } = await startS3(t)
    const proxy = await HttpProxy.start(t, port)
    const place = { provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${proxy.port}` } as const
    let parts = 0
    let underWay = 0
    let most = 0
    proxy.refuse = (request) => {
      if (!request.url?.includes('partNumber=')) return undefined
      parts += 1
      most = Math.max(most, ++underWay)
      request.once('close', () => {
        underWay -= 1
      })
      return undefined
    }
    const upload = async (options: {
      max_retry_buffer_per_request: number
      multipart_max_concurrent_uploads: number
    }) => {
      ;[parts, most] = [0, 0]
      const { store, close } = await openObjectStore({ ...place, ...options })
      const bytes = bytesOf(27 * MIB)
      await put(store, digestOf(bytes), bytes)
      await close()
      return { parts, isOneByOne: most === 1 }
    }
    const byOne = { multipart_max_concurrent_uploads: 1, max_retry_buffer_per_request: 7 * MIB }
    t.same(await upload(byOne), { parts: 4, isOneByOne: true })
    const together = { multipart_max_concurrent_uploads: 4, max_retry_buffer_per_request: 9 * MIB }
    t.same(await upload(together), { parts: 3, isOneByOne: false })
    await rejects(t, openObjectStore({ ...place, insecure_allow_http: false }), 'FAILED_PRECONDITION')
  },
)

void t.test('gcs: authentication_required', { skip: withoutGcs }, async (t) => {
  const { bucket, proxy } = await startGcs(t)
  const place = { provider: 'gcs', bucket, endpoint: `http://127.0.0.1:${proxy.port}` } as const
  const before = process.env['METADATA_SERVER_DETECTION']
  // This machine is not Google's, so skip the check for its metadata server.
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  try {
    await rejects(t, openObjectStore({ ...place, authentication_required: true }), 'FAILED_PRECONDITION')
    const { store, close } = await openObjectStore({ ...place, authentication_required: false })
    t.match(await store.health(call), { state: 'Ok' })
    await close()
  } finally {
    if (before === undefined) delete process.env['METADATA_SERVER_DETECTION']
    else process.env['METADATA_SERVER_DETECTION'] = before
  }
})

/** A TLS proxy for a server without TLS. */
const withTls = async (t: Test, authority: Authority, port: number): Promise<number> => {
  const { cert, key } = authority.issue('front')
  const server = createHttpsServer({ cert, key }, ({ method, url, headers }, outgoing) => {
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return portOf(server.address())
}

void t.test('ontap: root_certificates are the trusted authorities', { skip: withoutS3 }, async (t) => {
  const { port, bucket } = await startS3(t)
  const authority = new Authority(await folderOf(t))
  const tlsPort = await withTls(t, authority, port)
  const place = {
    provider: 'ontap',
    bucket,
    vserver_name: 'us-east-1',
    endpoint: `https://127.0.0.1:${tlsPort}`,
  } as const
  const trusting = await openObjectStore({ ...place, root_certificates: authority.caFile })
  t.teardown(trusting.close)
  t.match(await trusting.store.health(call), { state: 'Ok' })
  const { store, close } = await openObjectStore(place)
  t.teardown(close)
  t.match(await store.health(call), { state: 'Failed', error: /certificate is not trusted/ })
  await t.rejects(openObjectStore({ ...place, root_certificates: '/etc/hosts' }), {
    code: Code.INVALID_ARGUMENT,
    message: 'root_certificates holds no PEM certificate',
  })
})

void t.test('redis_store: max_chunk_uploads_per_update', { skip: withoutRedis }, async (t) => {
  const { port } = await startRedis(t)
  const proxy = await TcpProxy.start(t, port)
  for (const max_chunk_uploads_per_update of [1, 3]) {
    const options = { max_chunk_uploads_per_update, read_chunk_size: 1000, retry: NO_RETRY }
    const { store } = await openRedisStore(t, [`redis://127.0.0.1:${proxy.port}`], options)
    const bytes = bytesOf(20_000, `${max_chunk_uploads_per_update}`)
    const said = proxy.record()
    const chunksSent = (): number => said().split('\r\nHSET\r\n').length - 1
    proxy.isStalled = true
    const putting = put(store, digestOf(bytes), bytes)
    await until(async () => chunksSent() >= max_chunk_uploads_per_update)
    for (let turn = 0; turn < 50; turn++) await setImmediate()
    t.equal(chunksSent(), max_chunk_uploads_per_update)
    proxy.isStalled = false
    await putting
  }
})

void t.test('gcs: resumable_chunk_size', { skip: withoutGcs }, async (t) => {
  const { bucket, proxy } = await startGcs(t)
  const endpoint = `http://127.0.0.1:${proxy.port}`
  for (const [resumable_chunk_size, last] of [
    [200_000, 262_143],
    [300_000, 524_287],
  ] as const) {
    const { store, close } = await openObjectStore({ provider: 'gcs', bucket, endpoint, resumable_chunk_size })
    t.teardown(close)
    const said = proxy.record()
    const bytes = bytesOf(1_200_000)
    await put(store, digestOf(bytes), bytes)
    t.match(said(), new RegExp(`content-range: bytes 0-${last}/\\*`, 'i'))
  }
})

void t.test(
  'experimental_mongo: write_concern_w, write_concern_j, write_concern_timeout_ms',
  { skip: withoutMongo },
  async (t) => {
    const { port } = await startMongo(t)
    const proxy = await TcpProxy.start(t, port)
    // This server has no replicas: only the request counts.
    const fieldOf = (field: object): string => Buffer.from(BSON.serialize(field)).subarray(4, -1).toString('latin1')
    const fields = (options: Partial<ExperimentalMongoOptions>) => {
      const { write_concern_w: w, write_concern_j: j, write_concern_timeout_ms: wtimeout } = options
      return [{ w: w === '1' ? 1 : w }, { j }, { wtimeout }].filter((one) => Object.values(one)[0] !== undefined)
    }
    for (const options of [
      {},
      { write_concern_w: 'majority' },
      { write_concern_w: '1', write_concern_j: true },
      { write_concern_w: '1', write_concern_j: false, write_concern_timeout_ms: 1234 },
    ]) {
      const { store, close } = await openMongoStore(proxy.port, { ...options, read_chunk_size: 1000 })
      t.teardown(close)
      for (const sizeBytes of [1000, 5000]) {
        const bytes = bytesOf(sizeBytes, JSON.stringify(options))
        const said = proxy.record()
        await put(store, digestOf(bytes), bytes)
        t.ok((await get(store, digestOf(bytes))).equals(bytes))
        const writes = said().split('writeConcern\0').slice(1)
        t.equal(writes.length > 0, 'write_concern_w' in options, `${writes.length} writes ask for it`)
        for (const asked of writes) {
          for (const field of fields(options)) {
            t.ok(asked.slice(0, 100).includes(fieldOf(field)), JSON.stringify(field))
          }
        }
      }
    }
  },
)

void t.test('aws: key_prefix', { skip: withoutS3 }, async (t) => {
  const { port, bucket } = await startS3(t)
  const place = { provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` } as const
  const stores = []
  for (const key_prefix of ['one/', 'two/', '']) {
    const { store, close } = await openObjectStore({ ...place, key_prefix })
    t.teardown(close)
    stores.push(store)
  }
  const [one, two, none] = stores as [Store, Store, Store]
  const bytes = bytesOf(100)
  await put(one, digestOf(bytes), bytes)
  t.same(await Promise.all([one, two, none].map((store) => isPresent(store, digestOf(bytes)))), [true, false, false])
})
