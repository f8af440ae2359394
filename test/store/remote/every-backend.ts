/** Every backend with its test server, behind a proxy that breaks on demand. */
import type { Test } from 'tap'
import type { Store } from '../../../src/blobs/store.js'
import type { RedisStoreOptions } from '../../../src/config/config.js'
import { startAzure, withoutAzure } from '../kinds/experimental_cloud_object_store/azure-server.js'
import { startGcs, withoutGcs } from '../kinds/experimental_cloud_object_store/gcs-server.js'
import { openObjectStore } from '../kinds/experimental_cloud_object_store/open.js'
import { S3_KEYS, startS3, withoutS3 } from '../kinds/experimental_cloud_object_store/s3-server.js'
import { startMongo, withoutMongo } from '../kinds/experimental_mongo/mongo-server.js'
import { openMongoStore } from '../kinds/experimental_mongo/open.js'
import { endpoint, openGrpcStore, startRemexec } from '../kinds/grpc/remexec.js'
import { openRedisStore, startRedis, withoutRedis } from '../kinds/redis_store/redis.js'
import { TcpProxy } from './proxy.js'

/** Options that tests change; the others have their defaults. */
export interface Wishes {
  readonly retry?: RedisStoreOptions['retry']
  /** How long a backend may be silent, if configurable: with S3 and Azure it is 30 seconds. */
  readonly silenceS?: number
}

export interface OpenedBackend {
  readonly proxy: TcpProxy
  readonly store: Store
  close(): Promise<void>
}

export interface TestedBackend {
  readonly skip: string | false
  /** Whether the limit is 30 seconds, whatever `silenceS` is. */
  readonly isPatient?: boolean
  open(t: Test, wishes?: Wishes): Promise<OpenedBackend>
}

const retryOf = ({ retry }: Wishes) => (retry === undefined ? {} : { retry })

/** Over HTTP like S3: each night only, because S3 shows the same for each change. */
const LIKE_S3 = ['Google Cloud Storage', 'Azure Blob Storage']

const BACKENDS: Readonly<Record<string, TestedBackend>> = {
  S3: {
    skip: withoutS3,
    isPatient: true,
    open: async (t, wishes = {}) => {
      process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
      process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
      const { port, bucket } = await startS3(t)
      const proxy = await TcpProxy.start(t, port)
      const place = { bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${proxy.port}` }
      return { proxy, ...(await openObjectStore({ provider: 'aws', ...place, ...retryOf(wishes) })) }
    },
  },
  'Google Cloud Storage': {
    skip: withoutGcs,
    open: async (t, wishes = {}) => {
      const { bucket, proxy } = await startGcs(t)
      const place = { bucket, endpoint: `http://127.0.0.1:${proxy.port}`, read_timeout_s: wishes.silenceS ?? 30 }
      return { proxy, ...(await openObjectStore({ provider: 'gcs', ...place, ...retryOf(wishes) })) }
    },
  },
  'Azure Blob Storage': {
    skip: withoutAzure,
    isPatient: true,
    open: async (t, wishes = {}) => {
      const { port, sasUrl, container } = await startAzure(t)
      const proxy = await TcpProxy.start(t, port)
      const sas_url = sasUrl(3_600_000, proxy.port)
      return { proxy, ...(await openObjectStore({ provider: 'azure', container, sas_url, ...retryOf(wishes) })) }
    },
  },
  redis_store: {
    skip: withoutRedis,
    open: async (t, wishes = {}) => {
      const { port } = await startRedis(t)
      const proxy = await TcpProxy.start(t, port)
      const command_timeout_ms = (wishes.silenceS ?? 10) * 1000
      const options = { connection_pool_size: 1, command_timeout_ms, ...retryOf(wishes) }
      return { proxy, ...(await openRedisStore(t, [`redis://127.0.0.1:${proxy.port}`], options)) }
    },
  },
  experimental_mongo: {
    skip: withoutMongo,
    open: async (t, { silenceS = 10 } = {}) => {
      const { port } = await startMongo(t)
      const proxy = await TcpProxy.start(t, port)
      const options = { connection_timeout_ms: 1000, command_timeout_ms: silenceS * 1000 }
      return { proxy, ...(await openMongoStore(proxy.port, options)) }
    },
  },
  grpc: {
    skip: false,
    open: async (t, wishes = {}) => {
      const { port } = await startRemexec(t)
      const proxy = await TcpProxy.start(t, port)
      const options = { rpc_timeout_s: wishes.silenceS ?? 0, ...retryOf(wishes) }
      return { proxy, ...(await openGrpcStore(t, { endpoints: [endpoint(proxy.port)], ...options })) }
    },
  },
}

const named = (isNightly: boolean): Readonly<Record<string, TestedBackend>> =>
  Object.fromEntries(Object.entries(BACKENDS).filter(([name]) => LIKE_S3.includes(name) === isNightly))

/** One backend of each family, for each change; the others of a family. */
export const oneOfEachFamily = named(false)
export const othersOfFamilies = named(true)
