import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import JSON5 from 'json5'
import t from 'tap'
import type { Config } from '../../src/config/config.js'
import { formatProblems } from '../../src/config/format.js'
import { innermost } from '../../src/config/innermost.js'
import { checkConfig, loadConfig, parseConfig } from '../../src/config/load.js'
import { ConfigError } from '../../src/config/problem.js'
import { Document } from '../../src/config/read/document.js'
import { DEFAULT, fixtures, goodConfigs as good } from '../configs.js'

const env = { HOME: '/home/user' }

const broken = readdirSync(new URL('broken/', fixtures)).filter((name) => name.endsWith('.json5'))

const parse = (text: string, variables: Readonly<Record<string, string>> = env) =>
  parseConfig(text, 'test.json5', { env: variables })

const configOf = (text: string): Config => {
  const { config, problems } = parse(text)
  if (config === undefined) throw new ConfigError(problems)
  return config
}

const fixture = (name: string): Config => configOf(readFileSync(new URL(name, fixtures), 'utf8'))

t.test('good fixtures load; only older forms and keys without effect cause warnings', async (t) => {
  const warned = {
    ...{ 'older-spellings.json5': 13, 'interface-specification.json5': 2 },
    ...{ 'remote-stores.json5': 6, 'every-worker-key.json5': 9, 'worker-images.json5': 1, 'every-store.json5': 1 },
  }
  for (const name of good) {
    const { problems, warnings } = await checkConfig(new URL(name, fixtures).pathname, { env })
    t.equal(formatProblems(problems), '', name)
    // The file modes of fixtures depend on the checkout; their listeners are open.
    const told = warnings.filter(({ message }) => !/^(?:every user of this machine|everyone who reaches)/.test(message))
    t.equal(told.length, new Map(Object.entries(warned)).get(name) ?? 0, `${name}: warnings`)
  }
})

t.test('each broken fixture is reported as in its .txt', async (t) => {
  for (const name of broken) {
    const text = readFileSync(new URL(`broken/${name}`, fixtures), 'utf8')
    const expected = readFileSync(new URL(`broken/${name.replace('.json5', '.txt')}`, fixtures), 'utf8')
    const { problems, warnings, config } = parseConfig(text, name, { env })
    t.equal(formatProblems([...problems, ...warnings], 'human', new Map([[name, text]])), expected, name)
    t.ok(problems.length > 0, `${name} has an error`)
    t.equal(config, undefined, `${name} gives no configuration`)
  }
})

t.test('momoa and json5 read the same values from every fixture', async (t) => {
  for (const name of [
    ...good,
    ...broken.filter((name) => !/^(syntax|yaml)\.json5$/.test(name)).map((name) => `broken/${name}`),
  ]) {
    const text = readFileSync(new URL(name, fixtures), 'utf8')
    t.same(new Document(text).root, JSON5.parse(text), name)
  }
  const odd = `{a: 0x1F, 'b': .5, "c": +1, d: -Infinity, e: 'x\\\n\\x41\\u0042', ü: [1,], /* */ $f: NaN} // end`
  t.same(new Document(odd).root, JSON5.parse(odd))
})

t.test(
  'the default configuration serves any instance name from disk, ignores undeclared properties, and runs as many actions as there are cores',
  async (t) => {
    const config = fixture(DEFAULT)
    const [server, workerApi] = config.servers
    t.same([server?.listener.host, server?.listener.port], ['127.0.0.1', 50051])
    t.same([...(server?.services.bytestream.keys() ?? [])], ['*'], 'bytestream comes with cas')
    t.same([...(server?.services.capabilities.keys() ?? [])], ['*'], 'so do capabilities')
    t.same(server?.services.capabilities.get('*')?.remote_execution, { scheduler: 'MAIN' })
    t.same(server?.services.health, { path: '/status', timeout_seconds: 5 })
    t.equal(server?.services.execution.get('*')?.ac_store, 'AC')
    t.equal(innermost(config.schedulers.get('MAIN'))?.supported_platform_properties.get('*'), 'ignore')
    t.same(workerApi?.services.worker_api, { scheduler: 'MAIN' }, 'the listener of the worker API is opened')
    t.equal(config.workers[0]?.server, workerApi?.name)
    t.ok((config.workers[0]?.options.max_inflight_tasks ?? 0) > 0)
    t.ok(config.global.drain_s < 10, 'done before Docker and podman kill what they stop')
    const cas = config.stores.get('CAS')
    const files = cas?.kind === 'fast_slow' ? cas.options.fast : undefined
    t.match(files, { kind: 'filesystem', options: { content_path: '/home/user/.cache/remexec/cas/content' } })
    t.match(files, { options: { eviction_policy: { max_bytes: 20e9, evict_bytes: 1e9, max_count: 0 } } })
    const chunking = server?.services.cas.get('*')?.experimental_chunking
    t.match(chunking, { chunking_function: 'fast_cdc_2020', index_store: 'CAS' }, 'chunks are made when a client asks')
    const moved = parse(readFileSync(new URL(DEFAULT, fixtures), 'utf8'), {
      REMEXEC_DATA: '/srv',
      REMEXEC_PORT: '0',
    })
    t.match(moved.config?.workers[0]?.options.work_directory, '/srv/work')
    t.equal(moved.config?.servers[0]?.listener.port, 0)
  },
)

t.test('older spellings and the worker form of the specification keep their meaning', async (t) => {
  const older = fixture('older-spellings.json5')
  t.equal(older.workers[0]?.options.max_action_timeout_s, 600)
  t.same(older.servers[0]?.services.bytestream.get('main'), {
    instance_name: 'main',
    cas_store: 'CHECKED',
    max_bytes_per_stream: 64000,
    persist_stream_on_disconnect_timeout_s: 10,
  })
  t.same(older.servers[0]?.services.health, { path: '/status', timeout_seconds: 5 })
  t.match(older.stores.get('BUCKET'), {
    kind: 'experimental_cloud_object_store',
    options: { provider: 'aws', region: 'eu-west-1', key_prefix: 'old/', retry: { max_retries: 1 } },
  })
  const { workers, servers, stores } = fixture('interface-specification.json5')
  t.equal(workers[0]?.kind, 'local')
  t.equal(workers[0]?.options.name, 'worker_0')
  t.equal(
    workers[0]?.options.max_inflight_tasks,
    availableParallelism(),
    'an action for each core, unless it says more',
  )
  t.same(workers[0]?.options.worker_api_endpoint, { uri: 'grpc://127.0.0.1:50051', timeout: 5, headers: new Map() })
  t.equal(workers[0]?.server, 'main', 'a server on the address of the worker gets the worker API')
  t.same(servers[0]?.services.worker_api, { scheduler: 'MAIN_SCHEDULER' })
  t.same(servers[0]?.services.ac.get('main'), { instance_name: 'main', ac_store: 'implicit_ac/main', read_only: false })
  t.match(stores.get('implicit_ac/main'), { kind: 'memory', options: { eviction_policy: { max_bytes: 268435456 } } })
})

t.test('a worker in its other form takes every key of a local one, and has the same defaults', async (t) => {
  const document = JSON5.parse(readFileSync(new URL('every-worker-key.json5', fixtures), 'utf8'))
  const uri = 'grpc://127.0.0.1:9'
  const sames = [{}, ...Object.values<{ local: object }>(document.workers).map(({ local }) => local)]
  for (const same of sames) {
    const options = { cas_fast_slow_store: 'WORKER', work_directory: '/tmp/w', ...same }
    const { worker_api_endpoint: _, ...others } = options as { readonly worker_api_endpoint?: object }
    const optionsOf = (worker: object) => {
      const { workers } = configOf(JSON.stringify({ ...document, workers: [worker] }))
      return workers[0]?.options
    }
    t.same(
      optionsOf({ worker: { ...others, scheduler_endpoint: uri } }),
      optionsOf({ local: { ...others, worker_api_endpoint: { uri } } }),
    )
  }
})

t.test('array and map forms give the same configuration', async (t) => {
  const stores = `{ CAS: { memory: { eviction_policy: { max_bytes: '1gb' } } }, AC: { memory: { eviction_policy: { max_count: 5 } } } }`
  const asArray = `[{ name: 'CAS', memory: { eviction_policy: { max_bytes: '1gb' } } }, { name: 'AC', memory: { eviction_policy: { max_count: 5 } } }]`
  const services = `{ cas: { a: { cas_store: 'CAS' } }, ac: { a: { ac_store: 'AC' } } }`
  const servicesAsArray = `{ cas: [{ instance_name: 'a', cas_store: 'CAS' }], ac: [{ instance_name: 'a', ac_store: 'AC' }] }`
  const text = (first: string, second: string) =>
    `{ stores: ${first}, servers: [{ listener: { http: { socket_address: ':1' } }, services: ${second} }] }`
  t.same(configOf(text(stores, services)), configOf(text(asArray, servicesAsArray)))
})

const cache = (parts: { readonly max?: string; readonly top?: string; readonly services?: string }) => `{
  stores: { CAS: { memory: { eviction_policy: { max_bytes: ${parts.max ?? 1000} } } }, AC: { memory: { eviction_policy: { max_count: 5 } } } },
  ${parts.top ?? ''}
  servers: [{ listener: { http: { socket_address: '127.0.0.1:1' } }, services: { ${parts.services ?? `cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }]`} } }],
}`

t.test('the environment is expanded in every text', async (t) => {
  const bytes = (max: string, variables: Readonly<Record<string, string>>) => {
    const { config, problems } = parse(cache({ max }), variables)
    const store = config?.stores.get('CAS')
    return store?.kind === 'memory' ? store.options.eviction_policy.max_bytes : problems[0]?.message
  }
  t.equal(bytes(`'$MAX'`, { MAX: '2kb' }), 2000)
  t.equal(bytes(`'\${MAX}'`, { MAX: '2kb' }), 2000)
  t.equal(bytes(`'\${MAX:-3kb}'`, {}), 3000)
  t.equal(bytes(`'\${N}kb'`, { N: '4' }), 4000)
  t.equal(bytes(`'$MAX'`, {}), 'the environment variable MAX is not set')
  t.equal(bytes(`'\${MAX:-3kb}'`, { MAX: '' }), '"": an empty text is no size', 'set but empty is set')
  t.match(bytes(`'\${MAX'`, {}), /not closed/)
  t.match(bytes(`'$constructor'`, {}), /constructor is not set/)
  const named = (instance: string, variables = {}) => [
    ...(parse(
      cache({ services: `cas: [{ instance_name: ${instance}, cas_store: 'CAS' }]` }),
      variables,
    ).config?.servers[0]?.services.cas.keys() ?? []),
  ]
  t.same(named(`'\${UNSET:-/var}x'`), [], 'an empty segment')
  t.same(named(`'$$HOME'`), ['$HOME'])
  t.same(named(`'~/a'`, { HOME: 'h' }), ['h/a'])
  t.same(named(`'a~/b'`), ['a~/b'])
})

t.test('nulls count as absent, and numbers may be text', async (t) => {
  t.match(configOf(cache({ max: 'null', top: 'global: null,' })).stores.get('CAS'), {
    options: { eviction_policy: { max_bytes: 0 } },
  })
  const health = `cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], health: { timeout_seconds: '7' }`
  t.equal(configOf(cache({ services: health })).servers[0]?.services.health?.timeout_seconds, 7)
  const blank = parse(cache({ services: health.replace(`'7'`, `'  '`) }))
  t.equal(blank.config?.servers[0]?.services.health?.timeout_seconds, 5, 'blanks count as left out')
  t.equal(parse(cache({ services: health.replace(`'7'`, `-1`) })).problems.length, 1)
  t.equal(parse(cache({ services: health.replace(`'7'`, `'-1'`) })).problems.length, 1)
})

t.test('a bare number from the environment is a duration in seconds', async (t) => {
  const simple = (value: string) => `schedulers: { S: { simple: { worker_timeout_s: ${value} } } },`
  const services = `cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], execution: [{ cas_store: 'CAS', scheduler: 'S' }], worker_api: { scheduler: 'S' }`
  const seconds = (value: string) =>
    innermost(configOf(cache({ top: simple(value), services })).schedulers.get('S'))?.worker_timeout_s
  t.equal(seconds(`'\${WT:-7}'`), 7)
  t.equal(seconds(`'250ms'`), 0.25)
})

t.test(
  'a scheduler waits five seconds for a worker and tries an action three times more, unless it is told otherwise',
  async (t) => {
    const top = 'schedulers: { S: { simple: {} } },'
    const services = `cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], execution: [{ cas_store: 'CAS', scheduler: 'S' }], worker_api: { scheduler: 'S' }`
    const options = innermost(configOf(cache({ top, services })).schedulers.get('S'))
    t.match(options, { worker_timeout_s: 5, max_job_retries: 3 })
  },
)

t.test('the default action timeout is a day, so no client is rejected by default', async (t) => {
  t.equal(fixture(DEFAULT).workers[0]?.options.max_action_timeout_s, 86_400)
})

t.test('keys that NativeLink silently ignores are warned about', async (t) => {
  const { warnings, config } = parse(
    cache({ services: `cas: [{ cas_store: 'CAS', colour: 'red' }], ac: [{ ac_store: 'AC' }]` }),
  )
  t.match(warnings, [{ path: 'servers[0].services.cas[0].colour', message: 'unknown key "colour" is ignored' }])
  t.ok(config)
  const { problems } = parse(
    cache({ services: `cas: { a: { cas_store: 'CAS', colour: 'red' } }, ac: { a: { ac_store: 'AC' } }` }),
  )
  t.match(problems, [{ path: 'servers[0].services.cas.a.colour' }], 'the map form is strict there, and so are we')
})

t.test('zeros with a special meaning cause warnings', async (t) => {
  const top = `schedulers: { S: { simple: { max_job_retries: 0, worker_timeout_s: 0 } } },`
  const services = `cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], execution: [{ cas_store: 'CAS', scheduler: 'S' }], worker_api: { scheduler: 'S' }`
  const { config, warnings } = parse(cache({ top, services }))
  t.match(config?.schedulers.get('S')?.options, { max_job_retries: 0, worker_timeout_s: 5 })
  t.match(
    warnings.map(({ path }) => path),
    ['schedulers.S.simple.max_job_retries', 'schedulers.S.simple.worker_timeout_s'],
  )
})

t.test('an action cache on another server is the action cache of the instance', async (t) => {
  const { config, warnings } = parse(`{
    stores: { CAS: { memory: { eviction_policy: { max_bytes: 1000 } } }, AC: { memory: { eviction_policy: { max_count: 5 } } } },
    schedulers: { S: { simple: {} } },
    servers: {
      cache: { listener: { http: { socket_address: '127.0.0.1:1' } }, services: { cas: { m: { cas_store: 'CAS' } }, ac: { m: { ac_store: 'AC' } } } },
      execution: { listener: { http: { socket_address: '127.0.0.1:2' } }, services: { execution: { m: { cas_store: 'CAS', scheduler: 'S' } }, worker_api: { scheduler: 'S' } } },
    },
  }`)
  t.same(warnings, [])
  t.equal(config?.servers[1]?.services.execution.get('m')?.ac_store, 'AC')
  t.equal(config?.servers[1]?.services.ac.size, 0)
  t.same([...(config?.servers[1]?.services.capabilities.keys() ?? [])], ['m'])
})

t.test('the catch-all entry applies to each name without an entry', async (t) => {
  const services = `cas: [{ instance_name: '*', cas_store: 'CAS' }, { instance_name: 'main', cas_store: 'OTHER' }],
    ac: [{ instance_name: '*', ac_store: 'AC' }],
    bytestream: [{ instance_name: '*', cas_store: 'CAS', max_bytes_per_stream: 1000 }],
    capabilities: [{ instance_name: '*', remote_cache_compression: false }],
    execution: [{ instance_name: '*', cas_store: 'CAS', scheduler: 'S' }], worker_api: { scheduler: 'S' }`
  const text = cache({ services, top: 'schedulers: { S: { simple: {} } },' })
  const { config, warnings } = parse(
    text.replace('stores: {', 'stores: { OTHER: { memory: { eviction_policy: { max_bytes: 1000 } } },'),
  )
  const served = config?.servers[0]?.services
  t.same(warnings, [], 'no instance lacks an action cache')
  t.match(served?.bytestream.get('main'), { cas_store: 'OTHER', max_bytes_per_stream: 1000, instance_name: 'main' })
  t.match(served?.capabilities.get('main'), {
    instance_name: 'main',
    remote_cache_compression: false,
    remote_execution: { scheduler: 'S' },
  })
  const bare = parse(cache({ services: `cas: [{ instance_name: '*', cas_store: 'CAS' }]` }))
  t.match(
    bare.warnings.map(({ message }) => message),
    [/"AC" is used nowhere/, /"\*" has no action cache/],
  )
  t.equal(bare.config?.servers[0]?.services.ac.get('*')?.ac_store, 'implicit_ac/*')
  const shared = (ac: string, cas: string) =>
    parse(
      cache({
        services: `cas: [{ instance_name: '${cas}', cas_store: 'CAS' }], ac: [{ instance_name: '${ac}', ac_store: 'CAS' }]`,
      }),
    ).problems.map(({ message }) => message)
  for (const [ac, cas] of [
    ['*', 'main'],
    ['main', '*'],
    ['*', '*'],
  ] as const)
    t.match(shared(ac, cas), [/one store for blobs and for results/], `${ac}, ${cas}`)
  const part = parse(cache({ services: `cas: [{ instance_name: 'team/*', cas_store: 'CAS' }]` }))
  t.match(part.problems, [{ message: /"\*" stands for every name only where it is the whole name/ }])
})

t.test('a configuration is deeply frozen', async (t) => {
  const config = fixture(DEFAULT)
  const frozen = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return true
    return Object.isFrozen(value) && [...(value instanceof Map ? value.values() : Object.values(value))].every(frozen)
  }
  t.ok(frozen(config))
  t.throws(() => (config.stores as Map<string, unknown>).set('X', 1), TypeError)
})

t.test('an unusable configuration rejects with all its problems', async (t) => {
  const path = new URL('broken/everything-at-once.json5', fixtures).pathname
  const error: unknown = await loadConfig(path, { env }).catch((thrown: unknown) => thrown)
  t.ok(error instanceof ConfigError && error.problems.length === 9)
  await t.rejects(loadConfig('/nowhere/at-all.json5'), { message: /there is no such file/ })
  await t.rejects(loadConfig(new URL('.', fixtures).pathname), { message: /cannot be read: it is a directory/ })
})

t.test('a configuration lists the paths to hide from actions', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'c.json5')
  writeFileSync(
    path,
    `{
      stores: { CAS: { fast_slow: {
        fast: { filesystem: { content_path: '/data/content', temp_path: 'temp' } },
        slow: { grpc: { instance_name: '', endpoints: [{ address: 'grpcs://far:1', tls_config: { ca_file: '/etc/ca.pem', cert_file: '/k/c.pem', key_file: '/k/k.pem' } }], store_type: 'cas' } },
      } } },
      schedulers: { S: { simple: {} } },
      workers: [{ local: { worker_api_endpoint: { uri: 'grpc://127.0.0.1:2' }, cas_fast_slow_store: 'CAS', work_directory: '/data/work' } }],
      security: { identity: { tokens_file: '/etc/tokens', htpasswd_file: '/etc/htpasswd' }, audit_log: { path: '/log/audit', max_files: 2 } },
      servers: [{ listener: { http: { socket_address: '127.0.0.1:1', tls: { cert_file: '/tls/c', key_file: '/tls/k', client_ca_file: '/tls/ca' } } },
        services: { cas: { '': { cas_store: 'CAS' } }, execution: { '': { cas_store: 'CAS', scheduler: 'S' } } } }],
    }`,
  )
  const { config, problems } = await checkConfig(path)
  t.same(problems, [])
  t.same(
    [...(config?.paths ?? [])].sort(),
    [
      ...[path, '/data/content', join(process.cwd(), 'temp'), '/k/c.pem', '/k/k.pem', '/data/work', '/tls/c', '/tls/k'],
      ...['/etc/tokens', '/etc/htpasswd', '/log/audit', '/log/audit.1', '/log/audit.2'],
    ].sort(),
    'all but certificates of authorities',
  )
})
