/** The remote backends, as the tests run them. */
import type { Test } from 'tap'
import type { Store } from '../../../src/blobs/store.js'
import { asCas } from '../../../src/store/view/cas.js'
import { serve } from '../../service/harness.js'
import { memoryStore } from '../build.js'
import { startAzure, withoutAzure } from '../kinds/experimental_cloud_object_store/azure-server.js'
import { startGcs, withoutGcs } from '../kinds/experimental_cloud_object_store/gcs-server.js'
import { openObjectStore } from '../kinds/experimental_cloud_object_store/open.js'
import { S3_KEYS, startS3, withoutS3 } from '../kinds/experimental_cloud_object_store/s3-server.js'
import { startMongo, withoutMongo } from '../kinds/experimental_mongo/mongo-server.js'
import { openMongoStore } from '../kinds/experimental_mongo/open.js'
import { endpoint, openGrpcStore } from '../kinds/grpc/remexec.js'
import { openRedisStore, startRedis, withoutRedis } from '../kinds/redis_store/redis.js'

export interface RemoteBackend {
  readonly skip: string | false
  /** Starts it, and returns a function that opens a separate store in it. */
  start(t: Test): Promise<() => Promise<{ readonly store: Store; close(): Promise<void> }>>
  /** It is the CAS of another server: blobs under keys cannot be stored, and no blob can be removed. */
  readonly isOthers?: boolean
}

let opened = 0

export const remoteBackends = {
  redis_store: {
    skip: withoutRedis,
    start: async (t) => {
      const { address } = await startRedis(t)
      return () => openRedisStore(t, [address], { key_prefix: `${opened++}:` })
    },
  },
  S3: {
    skip: withoutS3,
    start: async (t) => {
      process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
      process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
      const { port, bucket } = await startS3(t)
      const place = { provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` } as const
      return () => openObjectStore(place)
    },
  },
  'Google Cloud Storage': {
    skip: withoutGcs,
    start: async (t) => {
      const { bucket, proxy } = await startGcs(t)
      return () => openObjectStore({ provider: 'gcs', bucket, endpoint: `http://127.0.0.1:${proxy.port}` })
    },
  },
  'Azure Blob Storage': {
    skip: withoutAzure,
    start: async (t) => {
      const { sasUrl, container } = await startAzure(t)
      return () => openObjectStore({ provider: 'azure', container, sas_url: sasUrl(3_600_000) })
    },
  },
  experimental_mongo: {
    skip: withoutMongo,
    start: async (t) => {
      const { port } = await startMongo(t)
      return () => openMongoStore(port)
    },
  },
  grpc: {
    skip: false,
    isOthers: true,
    start: async (t) => {
      const { listener } = await serve(t, { instances: { main: { cas: asCas(await memoryStore()) } } })
      const port = Number(listener.address.split(':').at(-1))
      return () => openGrpcStore(t, { endpoints: [endpoint(port)] })
    },
  },
} satisfies Readonly<Record<string, RemoteBackend>>
