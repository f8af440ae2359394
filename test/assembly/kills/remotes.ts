/** Stores in other processes, which outlive the server that is killed: those whose programs are here. */

import { startAzure, withoutAzure } from '../../store/kinds/experimental_cloud_object_store/azure-server.js'
import { startGcs, withoutGcs } from '../../store/kinds/experimental_cloud_object_store/gcs-server.js'
import { S3_KEYS, startS3, withoutS3 } from '../../store/kinds/experimental_cloud_object_store/s3-server.js'
import { startMongo, withoutMongo } from '../../store/kinds/experimental_mongo/mongo-server.js'
import { startRedis, withoutRedis } from '../../store/kinds/redis_store/redis.js'
import type { Scope } from '../../store/remote/backend.js'
import type { Store } from './worlds.js'

/** A configuration of the store, whose keys begin with `prefix`. */
export type Remote = (prefix: string) => Store

export interface RemoteKind {
  readonly missing: string | false
  /** Whether it removes what was used least. Otherwise it keeps all. */
  readonly evicts: boolean
  start(scope: Scope): Promise<Remote>
}

const objects =
  (place: object): Remote =>
  (prefix) => ({ experimental_cloud_object_store: { ...place, key_prefix: prefix } })

/** By the names of their instances. */
export const REMOTES: Readonly<Record<string, RemoteKind>> = {
  redis: {
    missing: withoutRedis,
    evicts: true,
    start: async (scope) => {
      const limits = ['--maxmemory', '16mb', '--maxmemory-policy', 'allkeys-lru', '--maxmemory-samples', '64']
      const { address } = await startRedis(scope, limits)
      return (prefix) => ({ redis_store: { addresses: [address], key_prefix: prefix } })
    },
  },
  s3: {
    missing: withoutS3,
    evicts: false,
    start: async (scope) => {
      process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
      process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
      const { port, bucket } = await startS3(scope)
      const endpoint = `http://127.0.0.1:${port}`
      return objects({ provider: 'aws', bucket, region: 'us-east-1', endpoint, insecure_allow_http: true })
    },
  },
  gcs: {
    missing: withoutGcs,
    evicts: false,
    start: async (scope) => {
      const { bucket, proxy } = await startGcs(scope)
      const endpoint = `http://127.0.0.1:${proxy.port}`
      return objects({ provider: 'gcs', bucket, endpoint, authentication_required: false, insecure_allow_http: true })
    },
  },
  azure: {
    missing: withoutAzure,
    evicts: false,
    start: async (scope) => {
      const { sasUrl, container } = await startAzure(scope)
      return objects({ provider: 'azure', container, sas_url: sasUrl(24 * 3_600_000), insecure_allow_http: true })
    },
  },
  mongo: {
    missing: withoutMongo,
    evicts: false,
    start: async (scope) => {
      const { port } = await startMongo(scope)
      const connection_string = `mongodb://127.0.0.1:${port}/`
      const place = { connection_string, database: 'builds', cas_collection: 'blobs', read_chunk_size: 65_536 }
      return (prefix) => ({ experimental_mongo: { ...place, key_prefix: prefix } })
    },
  },
}
