/** Blobs that were damaged at a backend: truncated, changed, or without a part. */
import { MongoClient } from 'mongodb'
import t, { type Test } from 'tap'
import type { Store } from '../../../src/blobs/store.js'
import { untilSo } from '../../until.js'
import { bytesOf, digestOf, get, isPresent, put } from '../blobs.js'
import { startAzure, withoutAzure } from '../kinds/experimental_cloud_object_store/azure-server.js'
import { startGcs, withoutGcs } from '../kinds/experimental_cloud_object_store/gcs-server.js'
import { openObjectStore } from '../kinds/experimental_cloud_object_store/open.js'
import { startMongo, withoutMongo } from '../kinds/experimental_mongo/mongo-server.js'
import { openMongoStore } from '../kinds/experimental_mongo/open.js'
import { ask, openRedisStore, startRedis, withoutRedis } from '../kinds/redis_store/redis.js'
import { rejects } from '../suite.js'
import { counted } from './counted.js'
import { TcpProxy } from './proxy.js'

/** Without S3, which has its own tests. */
const BACKENDS: Readonly<Record<string, { skip: string | false; open(t: Test): Promise<Store> }>> = {
  'Google Cloud Storage': {
    skip: withoutGcs,
    open: async (t) => {
      const { bucket, proxy } = await startGcs(t)
      const { store, close } = await openObjectStore({
        provider: 'gcs',
        bucket,
        endpoint: `http://127.0.0.1:${proxy.port}`,
      })
      t.teardown(close)
      return store
    },
  },
  'Azure Blob Storage': {
    skip: withoutAzure,
    open: async (t) => {
      const { sasUrl, container } = await startAzure(t)
      const { store, close } = await openObjectStore({ provider: 'azure', container, sas_url: sasUrl(3_600_000) })
      t.teardown(close)
      return store
    },
  },
  redis_store: {
    skip: withoutRedis,
    open: async (t) => (await openRedisStore(t, [(await startRedis(t)).address])).store,
  },
  experimental_mongo: {
    skip: withoutMongo,
    open: async (t) => {
      const { store, close } = await openMongoStore((await startMongo(t)).port)
      t.teardown(close)
      return store
    },
  },
}

for (const [name, { skip, open }] of Object.entries(BACKENDS)) {
  void t.test(`truncated or changed blobs in ${name} are never served`, { skip }, async (t) => {
    const store = await open(t)
    for (const sizeBytes of [1000, 300_000]) {
      const bytes = bytesOf(sizeBytes)
      const digest = digestOf(bytes)
      await put(store, digest.asKey(), bytes.subarray(1))
      const failure = await get(store, digest).then(
        () => undefined,
        (error: { readonly code: number }) => error.code,
      )
      t.ok(failure === 5 || failure === 15, `cut short it is NOT_FOUND or DATA_LOSS: ${failure}`)
      const other = Buffer.from(bytes)
      other.writeUInt8(other.readUInt8(700) ^ 1, 700)
      await put(store, digest.asKey(), other)
      await rejects(t, get(store, digest), 'DATA_LOSS')
      t.notOk(await isPresent(store, digest), 'what was corrupt is taken away')
      await put(store, digest, bytes)
      t.ok((await get(store, digest)).equals(bytes), 'and can be put again')
    }
  })
}

void t.test('a blob in MongoDB that lacks a chunk is DATA_LOSS', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  const { store, close } = await openMongoStore(port, { database: 'lacking' })
  t.teardown(close)
  const bytes = bytesOf(300_000)
  await put(store, digestOf(bytes), bytes)
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/`)
  t.teardown(() => client.close())
  const chunks = client.db('lacking').collection<{ _id: string }>('cas.chunks')
  const [, second] = await chunks.find().sort({ _id: 1 }).toArray()
  await chunks.deleteOne({ _id: second?._id ?? '' })
  await rejects(t, get(store, digestOf(bytes)), 'DATA_LOSS')
})

void t.test('a changed Redis password is UNAUTHENTICATED', { skip: withoutRedis }, async (t) => {
  const { port } = await startRedis(t)
  const proxy = await TcpProxy.start(t, port)
  const retry = { max_retries: 0, delay: 0, jitter: 0, budget_s: 0 }
  const { store: backend, probes } = await openRedisStore(t, [`redis://127.0.0.1:${proxy.port}`], { retry })
  const { store, failures } = counted(backend)
  const bytes = bytesOf(1000)
  await put(store, digestOf(bytes), bytes)
  await ask(port, 'CONFIG', 'SET', 'requirepass', 'changed')
  // Connections that stand go on; new ones have to say who they are.
  proxy.cut()
  const isRefused = (error: { readonly code: number }): boolean => error.code === 16
  await untilSo(() => get(store, digestOf(bytes)).then(() => false, isRefused))
  failures()
  await rejects(t, put(store, digestOf(bytes), bytes), 'UNAUTHENTICATED')
  t.same(failures(), ['write error: 1'])
  t.match(JSON.stringify(await probes[0]?.check(new AbortController().signal)), /UNAUTHENTICATED/)
  const again = await openRedisStore(t, [`redis://:changed@127.0.0.1:${proxy.port}`], { retry })
  t.ok((await get(again.store, digestOf(bytes))).equals(bytes), 'with the new one all is there')
})
