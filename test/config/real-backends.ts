/** The configurations of fixtures/configs, with their remote addresses replaced by the backends of the tests. */
import type { Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { startAzure, withoutAzure } from '../store/kinds/experimental_cloud_object_store/azure-server.js'
import { startGcs, withoutGcs } from '../store/kinds/experimental_cloud_object_store/gcs-server.js'
import { S3_KEYS, startS3, withoutS3 } from '../store/kinds/experimental_cloud_object_store/s3-server.js'
import { startMongo, withoutMongo } from '../store/kinds/experimental_mongo/mongo-server.js'
import { startRedis, withoutRedis } from '../store/kinds/redis_store/redis.js'

type Options = Record<string, unknown>

/** Writes the address of the backend into the options of a store. */
type Place = (options: Options) => void

interface Backend {
  readonly skip: string | false
  start(t: Test): Promise<Place>
}

const redis: Backend = {
  skip: withoutRedis,
  start: async (t) => {
    const { address } = await startRedis(t)
    return (options) => Object.assign(options, { addresses: [address] })
  },
}

const mongo: Backend = {
  skip: withoutMongo,
  start: async (t) => {
    const { port } = await startMongo(t)
    return (options) => Object.assign(options, { connection_string: `mongodb://127.0.0.1:${port}/` })
  },
}

/** All kinds that speak S3: each uses its own prefix of the only bucket. */
const s3In = (region: string): Backend => ({
  skip: withoutS3,
  start: async (t) => {
    process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
    process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
    const { port, bucket } = await startS3(t, region)
    let stores = 0
    return (options) => {
      const keys = { access_key_id: S3_KEYS.accessKeyId, secret_access_key: S3_KEYS.secretAccessKey }
      const endpoint = `http://127.0.0.1:${port}`
      const where = { endpoint, bucket, insecure_allow_http: true, key_prefix: `store-${stores++}/` }
      Object.assign(options, where, 'access_key_id' in options ? keys : {})
      // This server knows only one region and checks it.
      for (const key of ['region', 'vserver_name']) if (key in options) options[key] = region
    }
  },
})

const s3 = s3In('us-east-1')
/** The only region of Cloudflare. */
const r2 = s3In('auto')

const gcs: Backend = {
  skip: withoutGcs,
  start: async (t) => {
    const { proxy, bucket } = await startGcs(t)
    const endpoint = `http://127.0.0.1:${proxy.port}`
    return (options) => Object.assign(options, { endpoint, bucket, insecure_allow_http: true })
  },
}

const azure: Backend = {
  skip: withoutAzure,
  start: async (t) => {
    const { sasUrl, container } = await startAzure(t)
    return (options) => Object.assign(options, { sas_url: sasUrl(3_600_000), container, insecure_allow_http: true })
  },
}

/** Another REAPI server. */
const grpc: Backend = {
  skip: false,
  start: async (t) => {
    const services = ['main', ''].map((instance_name) => ({ instance_name, cas_store: 'CAS', ac_store: 'AC' }))
    const memory = { memory: { eviction_policy: { max_bytes: '100MB' } } }
    const cas = services.map(({ instance_name, cas_store }) => ({ instance_name, cas_store }))
    const ac = services.map(({ instance_name, ac_store }) => ({ instance_name, ac_store }))
    const server = { listener: { http: { socket_address: '127.0.0.1:0' } }, services: { cas, ac } }
    const { config } = parseConfig(JSON.stringify({ stores: { CAS: memory, AC: memory }, servers: [server] }), 'other')
    if (config === undefined) throw new Error('the other server has no configuration')
    const running = await assemble(config, { clock: systemClock, log: silentLog })
    t.teardown(() => running.close())
    const address = `grpc://${running.addresses[0]?.address}`
    return (options) => {
      const [first] = options['endpoints'] as Options[]
      options['endpoints'] = [{ ...first, address }]
    }
  },
}

const backendOf = (kind: string, options: Options): Backend | undefined => {
  if (kind === 'redis_store') return redis
  if (kind === 'experimental_mongo') return mongo
  if (kind === 'grpc') return grpc
  if (kind === 'ontap_s3_existence_cache' || kind === 'experimental_s3_store') return s3
  if (kind !== 'experimental_cloud_object_store') return undefined
  if (options['provider'] === 'gcs') return gcs
  if (options['provider'] === 'r2') return r2
  return options['provider'] === 'azure' ? azure : s3
}

/** The number of stores of a configuration that need a backend. */
export const countBackends = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((count, [kind, options]) => {
    const isBackend = typeof options === 'object' && options !== null && backendOf(kind, options) !== undefined
    return count + (isBackend ? 1 : countBackends(options))
  }, 0)
}

/**
 * Starts each backend of a configuration once, and writes its address into the configuration. Returns why
 * some backends are unavailable here; their addresses stay unreachable.
 */
export const placeBackends = async (t: Test, config: unknown): Promise<readonly string[]> => {
  const placed = new Map<Backend, Place>()
  const missing = new Set<string>()
  const visit = async (value: unknown): Promise<void> => {
    if (typeof value !== 'object' || value === null) return
    for (const [kind, options] of Object.entries(value)) {
      const backend = typeof options === 'object' && options !== null ? backendOf(kind, options) : undefined
      if (backend === undefined) await visit(options)
      else if (backend.skip !== false) missing.add(backend.skip)
      else {
        const place = placed.get(backend) ?? (await backend.start(t))
        placed.set(backend, place)
        place(kind === 'ontap_s3_existence_cache' ? options.backend : options)
      }
    }
  }
  await visit((config as { readonly stores: unknown }).stores)
  return [...missing]
}
