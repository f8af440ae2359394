import { createHash } from 'node:crypto'
import { pairOf } from './certificates.js'

const CAS_BYTES = 40 * 10 ** 9

const serving = (dataPath: string, cas: object, worker: object = {}, isFast = true): object => ({
  stores: [
    { name: 'CAS', ...(isFast ? { fast_slow: { fast: cas, slow: { noop: {} } } } : cas) },
    { name: 'AC', filesystem: { content_path: `${dataPath}/ac/content`, temp_path: `${dataPath}/ac/temp` } },
  ],
  schedulers: [{ name: 'MAIN', simple: {} }],
  workers: [
    {
      local: {
        worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' },
        cas_fast_slow_store: 'CAS',
        upload_action_result: { ac_store: 'AC' },
        work_directory: `${dataPath}/work`,
        platform_properties: {},
        ...worker,
      },
    },
  ],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ instance_name: '', cas_store: 'CAS' }],
        ac: [{ instance_name: '', ac_store: 'AC' }],
        execution: [{ instance_name: '', cas_store: 'CAS', scheduler: 'MAIN' }],
      },
    },
  ],
})

const filesystem = (dataPath: string, more: object = {}): object => ({
  filesystem: {
    ...more,
    content_path: `${dataPath}/cas/content`,
    temp_path: `${dataPath}/cas/temp`,
    eviction_policy: { max_bytes: CAS_BYTES },
  },
})

/** What a user starts with: everything in one process, blobs and results on disk. */
export const benchConfig = (dataPath: string): object => serving(dataPath, filesystem(dataPath))

/** The same with a compressed action cache, as the README has it. */
export const compressedResults = (dataPath: string): object => {
  const config = benchConfig(dataPath) as { readonly stores: readonly { readonly name: string }[] }
  const compressed = ({ name, ...backend }: { readonly name: string }): object => ({
    name,
    compression: { compression_algorithm: { lz4: {} }, backend },
  })
  return { ...config, stores: config.stores.map((store) => (store.name === 'AC' ? compressed(store) : store)) }
}

/** The same without promises to clients. */
export const unpromised = (dataPath: string): object => serving(dataPath, filesystem(dataPath, { retention: 0 }))

/** As many actions at a time as a case asks for, whatever the default of a build is: then builds are compared and not defaults. */
export const PLACES = 16

export const withPlaces = (dataPath: string): object =>
  serving(dataPath, filesystem(dataPath), { max_inflight_tasks: PLACES })

/**
 * An action cache at an instance that has no CAS: there a hit is given without a look at its outputs. With a CAS, as in
 * `benchConfig`, each hit is checked.
 */
export const uncheckedResults = (dataPath: string): object => ({
  stores: [{ name: 'AC', filesystem: { content_path: `${dataPath}/ac/content`, temp_path: `${dataPath}/ac/temp` } }],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: { ac: [{ instance_name: '', ac_store: 'AC' }] },
    },
  ],
})

/** Of `callersOnly`. */
export const TOKEN = 'token-of-the-bench'

/** Callers with a token may read and write, by rules as a site has them. */
const callers = {
  identity: { tokens: [{ name: 'bench', sha256: createHash('sha256').update(TOKEN).digest('hex'), groups: ['ci'] }] },
  access: [
    { anonymous: true, instances: ['public-*'], may: ['read_cas', 'read_ac'] },
    { groups: ['ci'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute'] },
  ],
}

/** The same as `uncheckedResults` for callers with a token. */
export const callersOnly = (dataPath: string): object => ({ ...uncheckedResults(dataPath), security: callers })

const guarded = (dataPath: string, listener: object, rest: object = {}): object => ({
  stores: [
    { name: 'CAS', ...filesystem(dataPath) },
    { name: 'AC', filesystem: { content_path: `${dataPath}/ac/content`, temp_path: `${dataPath}/ac/temp` } },
  ],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0', ...listener } },
      services: {
        cas: [{ instance_name: '', cas_store: 'CAS' }],
        ac: [{ instance_name: '', ac_store: 'AC' }],
      },
    },
  ],
  ...rest,
})

/** One cache in four ways: for anybody, over TLS, for callers with a token, and for those who show a certificate as well. */
export const openCache = (dataPath: string): object => guarded(dataPath, {})

export const tlsCache = (dataPath: string): object => {
  const { certFile, keyFile } = pairOf('server')
  return guarded(dataPath, { tls: { cert_file: certFile, key_file: keyFile } })
}

export const tokenCache = (dataPath: string): object => guarded(dataPath, {}, { security: callers })

export const mutualTlsTokenCache = (dataPath: string): object => {
  const { certFile, keyFile } = pairOf('server')
  const tls = { cert_file: certFile, key_file: keyFile, client_ca_file: pairOf('client').certFile }
  return guarded(dataPath, { tls }, { security: callers })
}

/**
 * One of these caches that is full after 1 GB, so that files take the memory that others gave back: on a virtual machine the host takes up
 * to 3 ms to give 1 MiB that was never used, more than the upload of a blob of that size.
 */
export const recycling = (cache: (dataPath: string) => object): ((dataPath: string) => object) => {
  const configure = (dataPath: string): object =>
    JSON.parse(JSON.stringify(cache(dataPath)), (key, value) => (key === 'max_bytes' ? 10 ** 9 : value))
  return Object.defineProperty(configure, 'name', { value: `${cache.name} of 1 GB` })
}

/** One of these caches with as many service threads; 1 is a server without. A server of a run is known by the name of this. */
export const threaded = (threads: number, cache: (dataPath: string) => object): ((dataPath: string) => object) => {
  const configure = (dataPath: string): object => ({ ...cache(dataPath), global: { threads } })
  return Object.defineProperty(configure, 'name', { value: `${cache.name} with ${threads} threads` })
}

/** The cache with two caches over HTTP on the same port: that of Bazel, and one of any files. */
export const httpCaches = (dataPath: string): object => {
  const config = openCache(dataPath) as { readonly servers: readonly { readonly services: object }[] }
  const http_cache = { '/': { kind: 'bazel' }, '/files': { kind: 'opaque' } }
  return { ...config, servers: config.servers.map((each) => ({ ...each, services: { ...each.services, http_cache } })) }
}

/** As it is where a configuration says nothing else: health and status page, counting, no line of a call that went well. */
export const observed = (dataPath: string): object => withServices(dataPath, { health: {} }, {})

/** The same with the line of one call in a thousand. */
export const observedClosely = (dataPath: string): object =>
  withServices(dataPath, { health: {} }, { log_call_share: 0.001 })

/** Nothing of that. */
export const unobserved = (dataPath: string): object => withServices(dataPath, {}, { disable_metrics: true })

/** Another process of each: how much two differ that are the same. */
export const observedToo = (dataPath: string): object => observed(dataPath)
export const unobservedToo = (dataPath: string): object => unobserved(dataPath)

/** A server that keeps build events and has pages, of which nobody asks any; and one without, all else alike. */
export const withPages = (dataPath: string): object =>
  withServices(dataPath, { build_events: { path: `${dataPath}/events` }, pages: {} }, {})
export const withoutPages = (dataPath: string): object => withServices(dataPath, {}, {})
/** Another process of each: how much two differ that are the same. */
export const withPagesToo = (dataPath: string): object => withPages(dataPath)
export const withoutPagesToo = (dataPath: string): object => withoutPages(dataPath)

const withServices = (dataPath: string, services: object, global: object): object => {
  const config = benchConfig(dataPath) as { readonly servers: readonly { readonly services: object }[] }
  const servers = config.servers.map((server) => ({ ...server, services: { ...server.services, ...services } }))
  return { ...config, servers, global }
}

/** Execution without a worker of its own: the worker API is the server named `workers`. */
export const schedulingOnly = (dataPath: string): object => ({
  stores: [
    { name: 'CAS', ...filesystem(dataPath) },
    { name: 'AC', filesystem: { content_path: `${dataPath}/ac/content`, temp_path: `${dataPath}/ac/temp` } },
  ],
  schedulers: [{ name: 'MAIN', simple: {} }],
  servers: [
    {
      name: 'clients',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ instance_name: '', cas_store: 'CAS' }],
        ac: [{ instance_name: '', ac_store: 'AC' }],
        execution: [{ instance_name: '', cas_store: 'CAS', scheduler: 'MAIN' }],
      },
    },
    {
      name: 'workers',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: { worker_api: { scheduler: 'MAIN' } },
    },
  ],
})

/** A cache without execution over any CAS. */
const cacheOnly = (cas: object): object => ({
  stores: [{ name: 'CAS', ...cas }],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: { cas: [{ instance_name: '', cas_store: 'CAS' }] },
    },
  ],
})

export const filesystemCache = (dataPath: string): object => cacheOnly(filesystem(dataPath))

export const durableCache =
  (durability: 'process_exit' | 'power_loss') =>
  (dataPath: string): object =>
    cacheOnly({
      filesystem: {
        content_path: `${dataPath}/cas/content`,
        temp_path: `${dataPath}/cas/temp`,
        eviction_policy: { max_bytes: CAS_BYTES },
        durability,
      },
    })

/** Blobs count in blocks of this on disk. */
const BLOCK_BYTES = 4096

/** A store that evicts `evicted` small blobs at the next upload and keeps `kept`. */
export const evictingCache =
  (evicted: number, kept: number) =>
  (dataPath: string): object =>
    cacheOnly({
      filesystem: {
        content_path: `${dataPath}/cas/content`,
        temp_path: `${dataPath}/cas/temp`,
        eviction_policy: { max_bytes: (evicted + kept) * BLOCK_BYTES, evict_bytes: evicted * BLOCK_BYTES },
      },
    })

const compressed = (algorithm: 'lz4' | 'zstd', dataPath: string): object => ({
  compression: { compression_algorithm: { [algorithm]: {} }, backend: filesystem(dataPath) },
})

export const lz4Cache = (dataPath: string): object => cacheOnly(compressed('lz4', dataPath))

export const zstdCache = (dataPath: string): object => cacheOnly(compressed('zstd', dataPath))

/** The CAS of `filesystemCache` with larger blobs as chunks, in the sizes that clients know. */
const chunked = (dataPath: string, more: object = {}): object => ({
  dedup: {
    ...more,
    chunking_function: 'fast_cdc_2020',
    index_store: { filesystem: { content_path: `${dataPath}/lists/content`, temp_path: `${dataPath}/lists/temp` } },
    content_store: filesystem(dataPath),
  },
})

/** `benchConfig` over chunks, with whole files for the worker. */
export const chunkedExecution = (dataPath: string): object => {
  const temp_path = `${dataPath}/whole/temp`
  const whole_store = { filesystem: { content_path: `${dataPath}/whole/content`, temp_path } }
  return serving(dataPath, chunked(dataPath, { whole_store }), {}, false)
}

export const chunkedCache = (dataPath: string): object => cacheOnly(chunked(dataPath))

/** Of a branch, in `withScopes`. */
export const BRANCH_TOKEN = 'token-of-a-branch'

const callersOfTwoRefs = (dataPath: string, more: object): object => {
  const tokenOf = (name: string, token: string): object => ({
    ...{ name, sha256: createHash('sha256').update(token).digest('hex') },
  })
  return {
    ...benchConfig(dataPath),
    security: {
      identity: { tokens: [tokenOf('main', TOKEN), tokenOf('branch', BRANCH_TOKEN)] },
      access: [{ names: ['main', 'branch'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute'] }],
      ...more,
    },
  }
}

/** All services, for a caller that is trusted and one that has a scope. */
export const withScopes = (dataPath: string): object =>
  callersOfTwoRefs(dataPath, { scopes: { rules: [{ names: ['branch'], scope: 'refs/pull/{name}' }] } })

/** The same callers, all of them trusted. */
export const withoutScopes = (dataPath: string): object => callersOfTwoRefs(dataPath, {})
