import { join } from 'node:path'
import t from 'tap'
import { explain } from '../../src/config/explain.js'
import { parseConfig } from '../../src/config/load.js'
import { validateCommand } from '../../src/config/validate-command.js'

const config = `{
  stores: {
    CAS: { verify: { verify_hash: true, backend: { fast_slow: {
      fast: { filesystem: { content_path: '/c', temp_path: '/t' } },
      slow: { shard: { stores: [{ store: { compression: { compression_algorithm: { lz4: {} }, backend: { memory: {} } } } }, { store: { ref_store: { name: 'FAR' } } }] } },
    } } } },
    FAR: { dedup: { index_store: { memory: {} }, content_store: { noop: {} } } },
    WORK: { fast_slow: { fast: { filesystem: { content_path: '/d', temp_path: '/e' } }, slow: { ref_store: { name: 'CAS' } } } },
    AC: { memory: {} },
    LISTS: { memory: {} },
    REDIS: { redis_store: { addresses: ['redis://127.0.0.1:6379'] } },
  },
  schedulers: {
    S: { simple: {} },
    FAR: { cache_lookup: { ac_store: 'AC', scheduler: { grpc: { endpoint: { address: 'grpc://10.0.0.1:1' } } } } },
    MANY: { property_modifier: { modifications: [], scheduler: { simple: {
      experimental_backend: { redis: { redis_store: 'REDIS' } }, peers: { endpoint: { address: 'grpc://127.0.0.1:50051' } },
    } } } },
  },
  workers: [{ local: { name: 'w', worker_api_endpoint: { uri: 'grpc://127.0.0.1:50061' }, cas_fast_slow_store: 'WORK', work_directory: '/w', upload_action_result: { ac_store: 'AC' } } }],
  servers: [{ name: 'public', listener: { http: { socket_address: '127.0.0.1:50051' } }, services: {
    cas: [{ instance_name: 'main', cas_store: 'CAS', experimental_chunking: { index_store: 'LISTS' } }],
    ac: [{ instance_name: 'main', ac_store: 'AC', read_only: true }],
    execution: [{ instance_name: 'main', cas_store: 'CAS', scheduler: 'S' }],
    health: {},
  } }],
}`

const CAS =
  'verify > fast_slow(fast: filesystem, slow: shard(0: compression > memory, 1: dedup(index_store: memory, content_store: noop)))'

t.test('describes the stages of each store, and the stores of services and workers', async (t) => {
  const parsed = parseConfig(config, 'explained.json5')
  t.same(parsed.problems, [])
  if (parsed.config === undefined) return
  t.same(explain(parsed.config, new Map([['CAS', '3 h after the last use']]), new Map()), [
    'stores',
    `  CAS    ${CAS}`,
    '  FAR    dedup(index_store: memory, content_store: noop)',
    `  WORK   fast_slow(fast: filesystem, slow: ${CAS})`,
    '  AC     memory',
    '  LISTS  memory',
    '  REDIS  redis_store',
    'promises: how long a blob is kept at least',
    '  CAS  3 h after the last use',
    'schedulers',
    '  S     its queue is in this process',
    '  FAR   forwards to another server',
    '  MANY  one queue with all servers that elect one of them by REDIS; the others reach this one at grpc://127.0.0.1:50051',
    'server "public" at 127.0.0.1:50051',
    `  cas           "main"  CAS: ${CAS}`,
    '  chunk lists   "main"  LISTS: memory',
    `  bytestream    "main"  CAS: ${CAS}`,
    '  ac            "main"  AC: memory, read only',
    '  execution     "main"  scheduler S, inputs in CAS, results in AC',
    '  capabilities  "main"  what the others offer',
    '  health                /status',
    'server "worker_api" at 127.0.0.1:50061',
    '  worker_api    scheduler S',
    'worker "w"',
    '  connects to         server "worker_api" of this process',
    `  inputs and outputs  WORK: fast_slow(fast: filesystem, slow: ${CAS})`,
    '  results             AC: memory',
    '  input roots         made anew for every action (directory_cache keeps them)',
    '  persistent workers  kept for actions with persistentWorkerKey: at most twice max_inflight_tasks (at least 8), until 600 s without a request or 500 requests',
  ])
})

t.test('every service of a server is described, also those for people and operators', async (t) => {
  const services = {
    cas: [{ cas_store: 'A' }],
    http_cache: { '/ccache': { kind: 'ccache' } },
    build_events: { path: '/builds' },
    pages: {},
    admin: { path: '/operators' },
    metrics: {},
  }
  const listener = { http: { socket_address: '127.0.0.1:1' } }
  const text = JSON.stringify({ stores: { A: { noop: {} } }, servers: [{ name: 'one', listener, services }] })
  const parsed = parseConfig(text, 'c.json')
  const lines = parsed.config === undefined ? [] : explain(parsed.config, new Map(), new Map())
  for (const line of [
    /^ {2}http_cache +\/ccache +ccache, instance ""$/,
    /^ {2}build_events +kept in \/builds$/,
    /^ {2}pages +\/$/,
    /^ {2}admin +\/operators$/,
    /^ {2}metrics +\/metrics$/,
  ])
    t.ok(
      lines.some((one) => line.test(one)),
      String(line),
    )
})

/** A row of the explanation of a worker with further keys. */
const workerRow = (name: string, keys: string, properties = '{}'): string | undefined => {
  const text = config
    .replace('simple: {}', `simple: { supported_platform_properties: ${properties} }`)
    .replace("work_directory: '/w',", `work_directory: '/w', ${keys}`)
  const parsed = parseConfig(text, 'c.json5')
  t.same(parsed.problems, [])
  const lines = parsed.config === undefined ? [] : explain(parsed.config, new Map(), new Map())
  return lines.find((line) => line.includes(name))
}

t.test('a worker says what becomes of actions that ask for a persistent worker', async (t) => {
  const rowOf = (keys: string): string | undefined => workerRow('persistent workers', keys)
  t.match(rowOf(''), /at most twice max_inflight_tasks \(at least 8\), until 600 s without a request or 500 requests/)
  t.match(
    rowOf('persistent_workers: { max_processes: 3, max_requests: 0, max_idle_s: 5 },'),
    /most 3, until 5 s without a request$/,
  )
  t.match(rowOf('persistent_workers: { enabled: false },'), /none: every command has a process of its own/)
  t.match(rowOf("experimental_precondition_script: '/bin/true',"), /none/)
})

t.test('a worker says what becomes of actions that name an image', async (t) => {
  const rowOf = (properties: string, keys: string): string | undefined => workerRow('named images', keys, properties)
  const confined = 'use_namespaces: true, use_mount_namespace: true,'
  t.match(
    rowOf(`{ '*': 'ignore' }`, ''),
    /not run here: container_images here, or 'container-image': 'ignore' in scheduler S/,
  )
  t.match(
    rowOf(`{ '*': 'ignore' }`, `${confined} container_images: { registries: ['ghcr.io'] },`),
    /from ghcr\.io, kept in/,
  )
  t.match(rowOf('{}', `${confined} container_images: {},`), /every registry with a public address/)
  t.equal(rowOf(`{ '*': 'ignore', 'container-image': 'ignore' }`, ''), undefined)
})

t.test('validate --explain describes usable files after the verdict', async (t) => {
  const directory = t.testdir({ 'fine.json5': config, 'wrong.json5': '{ stores: [] }' })
  let output = ''
  const paths = ['fine.json5', 'wrong.json5'].map((name) => join(directory, name))
  const status = await validateCommand(
    paths,
    { format: 'human', explain: async (config) => explain(config, new Map(), new Map()) },
    (text) => {
      output += text
    },
  )
  t.equal(status, 1)
  t.match(output, /fine\.json5: valid \(.*\)\nstores\n {2}CAS {4}verify > /)
  t.match(output, /wrong\.json5: invalid \(.*\)\n$/)
})

t.test('says which tier acknowledges uploads', (t) => {
  const tiers = (options: string) =>
    `{ stores: { CAS: { fast_slow: { fast: { filesystem: { content_path: '/c', temp_path: '/t' } }, slow: { memory: {} }, ${options} } }, AC: { memory: {} } }, servers: [{ listener: { http: { socket_address: '127.0.0.1:50051' } }, services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }] } }] }`
  const lines = (options: string) => {
    const { config } = parseConfig(tiers(options), 'tiers.json5')
    return config === undefined ? [] : explain(config, new Map(), new Map())
  }
  t.match(lines(`acknowledge: 'fast'`)[1], 'fast_slow(fast, which acknowledges: filesystem, slow: memory)')
  t.match(lines(`acknowledge: 'slow'`)[1], 'fast_slow(fast: filesystem, slow: memory)')
  t.end()
})
