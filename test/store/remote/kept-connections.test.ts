/** Connections that are kept for the next request, and closed by the other side as it likes; and such that are slow. */
import t, { type Test } from 'tap'
import { missingOf, type Store } from '../../../src/store/store.js'
import { bytesOf, call, digestOf, get, put } from '../blobs.js'
import { startAzure, withoutAzure } from '../experimental-cloud-object-store/azure-server.js'
import { startGcs, withoutGcs } from '../experimental-cloud-object-store/gcs-server.js'
import { openObjectStore } from '../experimental-cloud-object-store/open.js'
import { S3_KEYS, startS3, withoutS3 } from '../experimental-cloud-object-store/s3-server.js'
import { startMongo, withoutMongo } from '../experimental-mongo/mongo-server.js'
import { openMongoStore } from '../experimental-mongo/open.js'
import { endpoint, openGrpcStore, startRemexec } from '../grpc/remexec.js'
import { openRedisStore, startRedis, withoutRedis } from '../redis-store/redis.js'
import { TcpProxy } from './proxy.js'

t.setTimeout(120_000)

interface Opened {
  readonly proxy: TcpProxy
  readonly store: Store
  close?(): Promise<void>
}

interface Backend {
  readonly skip: string | false
  open(t: Test): Promise<Opened>
}

/** Each with the retry that it has when the configuration says nothing of it. */
const BACKENDS: Readonly<Record<string, Backend>> = {
  S3: {
    skip: withoutS3,
    open: async (t) => {
      process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
      process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
      const { port, bucket } = await startS3(t)
      const proxy = await TcpProxy.start(t, port)
      const place = { bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${proxy.port}` }
      return { proxy, ...(await openObjectStore({ provider: 'aws', ...place })) }
    },
  },
  'Google Cloud Storage': {
    skip: withoutGcs,
    open: async (t) => {
      const { bucket, proxy } = await startGcs(t)
      const endpoint = `http://127.0.0.1:${proxy.port}`
      return { proxy, ...(await openObjectStore({ provider: 'gcs', bucket, endpoint })) }
    },
  },
  'Azure Blob Storage': {
    skip: withoutAzure,
    open: async (t) => {
      const { port, sasUrl, container } = await startAzure(t)
      const proxy = await TcpProxy.start(t, port)
      const sas_url = sasUrl(3_600_000, proxy.port)
      return { proxy, ...(await openObjectStore({ provider: 'azure', container, sas_url })) }
    },
  },
  redis_store: {
    skip: withoutRedis,
    open: async (t) => {
      const { port } = await startRedis(t)
      const proxy = await TcpProxy.start(t, port)
      return { proxy, ...(await openRedisStore(t, [`redis://127.0.0.1:${proxy.port}`], { connection_pool_size: 1 })) }
    },
  },
  experimental_mongo: {
    skip: withoutMongo,
    open: async (t) => {
      const { port } = await startMongo(t)
      const proxy = await TcpProxy.start(t, port)
      return { proxy, ...(await openMongoStore(proxy.port)) }
    },
  },
  grpc: {
    skip: false,
    open: async (t) => {
      const { port } = await startRemexec(t)
      const proxy = await TcpProxy.start(t, port)
      return { proxy, ...(await openGrpcStore(t, { endpoints: [endpoint(proxy.port)] })) }
    },
  },
}

const KIB = 1024

for (const [name, { skip, open }] of Object.entries(BACKENDS)) {
  void t.test(`${name} that closes a connection as it is used fails no request`, { skip }, async (t) => {
    const { proxy, store, close } = await open(t)
    if (close !== undefined) t.teardown(close)
    // What fits into one request, and what takes several.
    for (const sizeBytes of [1000, 200 * KIB, 6 * KIB * KIB]) {
      const [first, second] = [bytesOf(sizeBytes, 'first'), bytesOf(sizeBytes, 'second')]
      await put(store, digestOf(first), first)
      proxy.endWhenUsed()
      t.ok((await get(store, digestOf(first))).equals(first), `a read of ${sizeBytes} bytes`)
      proxy.endWhenUsed()
      t.same(await missingOf(store, [digestOf(first), digestOf(second)], call), [digestOf(second)], 'a question')
      proxy.endWhenUsed()
      await put(store, digestOf(second), second)
      proxy.endWhenUsed()
      t.ok((await get(store, digestOf(second))).equals(second), `what was written, ${sizeBytes} bytes`)
    }
    proxy.cut()
  })
}

for (const [name, { skip, open }] of Object.entries(BACKENDS)) {
  void t.test(`${name} that is slow is waited for`, { skip }, async (t) => {
    const { proxy, store, close } = await open(t)
    if (close !== undefined) t.teardown(close)
    proxy.delayMs = 20
    for (const sizeBytes of [1000, 600 * KIB]) {
      const bytes = bytesOf(sizeBytes, 'slow')
      t.same(await missingOf(store, [digestOf(bytes)], call), [digestOf(bytes)])
      await put(store, digestOf(bytes), bytes)
      t.ok((await get(store, digestOf(bytes))).equals(bytes), `${sizeBytes} bytes`)
    }
    proxy.delayMs = 0
    proxy.cut()
  })
}
