/** Every kind of connection that a server opens to other hosts goes through the proxy of its environment. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { TestClient } from '../server/client.js'
import { Authority } from '../tls/authority.js'
import { untilSo } from '../until.js'
import { startProxy } from './connect-proxy.js'
import { root, serve } from './program.js'

/** What a store kind connects to, or why none of its connections takes a proxy. A new kind has to be added. */
const STORES: Readonly<Record<string, string | { readonly direct: string }>> = {
  experimental_cloud_object_store:
    's3.test.invalid:443 gcs.test.invalid:443 azure.test.invalid:443 sts.test.invalid:443',
  experimental_s3_store: 's3.test.invalid:443',
  ontap_s3_existence_cache: 's3.test.invalid:443',
  grpc: 'cache.test.invalid:50051 secured.test.invalid:443',
  redis_store: { direct: 'no HTTP: docs/operation.md' },
  experimental_mongo: { direct: 'no HTTP: docs/operation.md' },
  ...Object.fromEntries(
    ['cache_metrics', 'completeness_checking', 'compression', 'dedup', 'existence_cache', 'fast_slow', 'filesystem']
      .concat(['memory', 'noop', 'ref_store', 'shard', 'size_partitioning', 'verify'])
      .map((kind) => [kind, { direct: 'no connections' }]),
  ),
}

/** Everything else that connects to other hosts. */
const OTHERS = [
  'queue.test.invalid:50051',
  'workers.test.invalid:50061',
  'metrics.test.invalid:443',
  'traces.test.invalid:4317',
  'downloads.test.invalid:443',
]

const EXPECTED = new Set([
  ...Object.values(STORES).flatMap((to) => (typeof to === 'string' ? to.split(' ') : [])),
  ...OTHERS,
])

const bucket = (more: object) => ({ experimental_cloud_object_store: { bucket: 'b', ...more } })
const server = (address: string, more: object = {}) => ({
  grpc: { store_type: 'cas', endpoints: [{ address, ...more }] },
})

const configOf = (folder: string, caFile: string) => ({
  stores: {
    CAS: { memory: {} },
    AC: { memory: {} },
    WORKER: {
      fast_slow: {
        fast: { filesystem: { content_path: `${folder}/c`, temp_path: `${folder}/t` } },
        slow: { ref_store: { name: 'CAS' } },
      },
    },
    S3: bucket({ provider: 'r2', endpoint: 'https://s3.test.invalid', access_key_id: 'a', secret_access_key: 'b' }),
    // Its credentials come from the security token service.
    STS: bucket({ provider: 'aws', region: 'r' }),
    S3_STORE: { experimental_s3_store: { bucket: 'b', region: 'r' } },
    GCS: bucket({ provider: 'gcs', endpoint: 'https://gcs.test.invalid' }),
    AZURE: {
      experimental_cloud_object_store: {
        provider: 'azure',
        container: 'c',
        sas_url: 'https://azure.test.invalid/c?sig=x',
      },
    },
    GRPC: server('grpc://cache.test.invalid:50051'),
    SECURED: server('grpcs://secured.test.invalid:443', { tls_config: { ca_file: caFile } }),
  },
  schedulers: { ELSEWHERE: { grpc: { endpoint: { address: 'grpc://queue.test.invalid:50051' } } } },
  workers: [
    {
      local: {
        worker_api_endpoint: { uri: 'grpc://workers.test.invalid:50061' },
        cas_fast_slow_store: 'WORKER',
        work_directory: `${folder}/w`,
        platform_properties: { cpu_count: { values: ['1'] } },
      },
    },
  ],
  servers: [
    {
      name: 'public',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: ['CAS', 'S3', 'STS', 'S3_STORE', 'GCS', 'AZURE', 'GRPC', 'SECURED'].map((name) => ({
          instance_name: name === 'CAS' ? '' : name,
          cas_store: name,
        })),
        ac: [{ ac_store: 'AC' }],
        execution: [{ cas_store: 'CAS', scheduler: 'ELSEWHERE' }],
        fetch: [{ fetch_store: 'AC', download: { allow: ['downloads.test.invalid'] } }],
        health: { path: '/status' },
      },
    },
  ],
})

/** Answers every host over HTTP/1.1 and HTTP/2, and remembers which were asked. */
const startOrigin = async (t: Test, authority: Authority) => {
  const names = ['s3', 'sts', 'gcs', 'azure', 'secured', 'metrics', 'traces', 'downloads']
  const alternativeNames = names.map((name) => `DNS:${name}.test.invalid`).join(',')
  const { certFile, keyFile } = authority.issue('origin', { alternativeNames })
  const heard = new Set<string>()
  const origin = createSecureServer({ allowHTTP1: true, cert: readFileSync(certFile), key: readFileSync(keyFile) })
  origin.on('request', (request, response) => {
    heard.add(String(request.headers[':authority'] ?? request.headers.host).replace(/:\d+$/, ''))
    request.resume()
    const isGrpc = request.headers['content-type']?.startsWith('application/grpc') === true
    response.writeHead(isGrpc ? 200 : 404, isGrpc ? { 'content-type': 'application/grpc', 'grpc-status': '5' } : {})
    response.end()
  })
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
  t.teardown(() => origin.close())
  return { heard, port: (origin.address() as { port: number }).port, names }
}

const start = async (t: Test, more: NodeJS.ProcessEnv = {}) => {
  const folder = t.testdir({ identity: 'a-token' })
  const authority = new Authority(join(folder, 'authority'))
  const backend = serve(t, `${root}deploy/recipes/workers/server.json5`, join(folder, 'backend'), {
    REMEXEC_HOST: '127.0.0.1',
  })
  const [, main = ''] = await backend.hears(/serving grpc:\/\/127\.0\.0\.1:(\d+) server=public/)
  const [, workers = ''] = await backend.hears(/serving grpc:\/\/127\.0\.0\.1:(\d+) server=workers/)
  const origin = await startOrigin(t, authority)
  const proxy = await startProxy(t, (authority) => {
    if (authority === 'workers.test.invalid:50061') return Number(workers)
    return authority.endsWith(':50051') ? Number(main) : origin.port
  })
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify(configOf(folder, authority.caFile)))
  const program = serve(t, config, join(folder, 'data'), {
    HTTPS_PROXY: proxy.address.replace('//', '//ann:a%20word@'),
    NODE_EXTRA_CA_CERTS: authority.caFile,
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://metrics.test.invalid/v1/metrics',
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE: authority.caFile,
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.test.invalid:4317',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: authority.caFile,
    AWS_ROLE_ARN: 'arn:aws:iam::1:role/r',
    AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'identity'),
    AWS_ENDPOINT_URL_S3: 'https://s3.test.invalid',
    AWS_ENDPOINT_URL_STS: 'https://sts.test.invalid',
    ...more,
  })
  const [, address = ''] = await program.hears(/serving grpc:\/\/(\S+) server=public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const download = () =>
    client
      .unary('build.bazel.remote.asset.v1.Fetch/FetchBlob', { uris: ['https://downloads.test.invalid/a'] })
      .response.catch(() => undefined)
  /** Asks every backend. */
  const ask = async (): Promise<string> => (await fetch(`http://${address}/status`)).text()
  return { program, proxy, origin, download, ask }
}

t.test('every store kind is known here', async (t) => {
  t.same(
    Object.keys(STORES).sort(),
    readdirSync(`${root}schema/store`)
      .map((name) => name.replace('.json', ''))
      .sort(),
  )
})

t.test('all connections take the proxy, with its password, and arrive', async (t) => {
  const { program, proxy, origin, download, ask } = await start(t)
  t.match(program.said(), /connections to other hosts go through a proxy.*this machine/)
  t.notMatch(program.said(), /a word|a%20word/)
  await program.hears(/connected to the scheduler/)
  await untilSo(async () => {
    await Promise.all([ask(), download()])
    return proxy.asked.length > 0 && [...EXPECTED].every((one) => proxy.asked.includes(one))
  })
  t.same(new Set(proxy.asked), EXPECTED)
  t.equal(proxy.credentials(), `Basic ${Buffer.from('ann:a word').toString('base64')}`)
  await untilSo(async () => {
    await Promise.all([ask(), download()])
    return origin.names.every((name) => origin.heard.has(`${name}.test.invalid`))
  })
})

t.test('hosts in NO_PROXY are connected to without it', async (t) => {
  const { program, proxy, download, ask } = await start(t, { NO_PROXY: 'example.com,.test.invalid' })
  await program.hears(/no connection to the scheduler/)
  await Promise.all([ask(), download()])
  t.match(await ask(), /there is no host of that name|cannot be looked up|Name resolution failed/)
  t.same(proxy.asked, [])
})
