import t from 'tap'
import { parseConfig } from '../../src/config/load.js'

interface Parts {
  readonly cas?: string
  readonly stores?: string
  readonly simple?: string
  readonly workerStore?: string
  readonly worker?: string
  readonly services?: string
  readonly servers?: string
  readonly top?: string
}

/** A configuration without warnings, with parts replaced. */
const text = ({
  cas,
  stores = '',
  simple = '',
  workerStore = 'CAS',
  worker = '',
  services = '',
  servers = '',
  top = '',
}: Parts) => `{
  ${top}
  stores: {
    CAS: ${cas ?? `{ fast_slow: { fast: { filesystem: { content_path: '/c', temp_path: '/t', eviction_policy: { max_bytes: 1000 } } }, slow: { noop: {} } } }`},
    AC: { memory: { eviction_policy: { max_bytes: 1000 } } },
    ${stores}
  },
  schedulers: { S: { simple: { supported_platform_properties: { cpu_count: 'minimum' }, ${simple} } } },
  workers: [{ local: { worker_api_endpoint: { uri: 'grpc://127.0.0.1:2' }, cas_fast_slow_store: '${workerStore}', work_directory: '/w', ${worker} } }],
  servers: [
    { listener: { http: { socket_address: '127.0.0.1:1' } },
      services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], execution: [{ cas_store: 'CAS', scheduler: 'S' }], ${services} } },
    ${servers}
  ],
}`

const check = (parts: Parts) => parseConfig(text(parts), 'lint.json5', { env: { HOME: '/home/user' } })

const filesystem = `{ filesystem: { content_path: '/c', temp_path: '/t', eviction_policy: { max_bytes: 1000 } } }`

const warned: readonly (readonly [string, Parts, readonly (readonly [string, RegExp])[]])[] = [
  ['nothing', {}, []],
  [
    'a store without a limit',
    { cas: `{ fast_slow: { fast: { filesystem: { content_path: '/c', temp_path: '/t' } }, slow: { noop: {} } } }` },
    [['stores.CAS.fast_slow.fast.filesystem', /grows until the disk is full/]],
  ],
  [
    'an action cache whose slow store others may write to',
    {
      stores: `
        NEAR: { fast_slow: { fast: { memory: { eviction_policy: { max_bytes: 1000 } } }, slow: { ref_store: { name: 'FAR' } } } },
        FAR: { redis_store: { addresses: ['redis://127.0.0.1:1'] } },`,
      servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'NEAR' }] } },`,
    },
    [['stores.NEAR.fast_slow', /other servers replace in the slow store are never noticed/]],
  ],
  [
    'a named slow store that may be away',
    {
      stores: `
        NEAR: { fast_slow: { fast: { memory: { eviction_policy: { max_bytes: 1000 } } }, slow: { ref_store: { name: 'AC' } }, when_slow_is_away: 'serve_fast' } },`,
      servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { cas: [{ cas_store: 'NEAR' }] } },`,
    },
    [['stores.NEAR.fast_slow.slow', /still counts as not healthy, because a named store does/]],
  ],
  [
    'uploads that fast acknowledges while lookups fail',
    {
      cas: `{ fast_slow: { fast: ${filesystem}, slow: { memory: { eviction_policy: { max_bytes: 1000 } } }, acknowledge: 'fast' } }`,
    },
    [['stores.CAS.fast_slow.acknowledge', /uploads succeed, but lookups fail/]],
  ],
  [
    'bounds of a queue without uploads',
    {
      cas: `{ fast_slow: { fast: ${filesystem}, slow: { memory: { eviction_policy: { max_bytes: 1000 } } }, upload_queue: { max_count: 7 } } }`,
    },
    [['stores.CAS.fast_slow.upload_queue', /nothing is queued/]],
  ],
  [
    'results that overtake the blobs that wait',
    {
      cas: `{ fast_slow: { fast: ${filesystem}, slow: { memory: { eviction_policy: { max_bytes: 1000 } } }, acknowledge: 'fast', when_slow_is_away: 'serve_fast' } }`,
      stores: `FAR: { redis_store: { addresses: ['redis://127.0.0.1:1'] } },`,
      servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'FAR' }] } },`,
    },
    [['stores.FAR.redis_store', /before the blobs that they name/]],
  ],
  [
    'results that follow the blobs that wait',
    {
      cas: `{ fast_slow: { fast: ${filesystem}, slow: { memory: { eviction_policy: { max_bytes: 1000 } } }, acknowledge: 'fast', when_slow_is_away: 'serve_fast' } }`,
      stores: `FAR: { fast_slow: { fast: { filesystem: { content_path: '/d', temp_path: '/e', eviction_policy: { max_bytes: 1000 } } }, slow: { redis_store: { addresses: ['redis://127.0.0.1:1'] } }, acknowledge: 'fast', when_slow_is_away: 'serve_fast', action_result_max_age_s: 60 } },`,
      servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'FAR' }] } },`,
    },
    [],
  ],
  [
    'an action cache that says for how long its fast store is believed',
    {
      stores: `
        NEAR: { fast_slow: { fast: { memory: { eviction_policy: { max_bytes: 1000 } } }, slow: { ref_store: { name: 'FAR' } }, action_result_max_age_s: 0 } },
        FAR: { redis_store: { addresses: ['redis://127.0.0.1:1'] } },`,
      servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'NEAR' }] } },`,
    },
    [],
  ],
  [
    'evicting everything',
    {
      cas: `{ fast_slow: { fast: { filesystem: { content_path: '/c', temp_path: '/t', eviction_policy: { max_bytes: 10, evict_bytes: 10 } } }, slow: { noop: {} } } }`,
    },
    [['stores.CAS.fast_slow.fast.filesystem.eviction_policy.evict_bytes', /not below max_bytes/]],
  ],
  [
    'the size of a request with Google, whose uploads have a key of their own for it',
    {
      cas: `{ experimental_cloud_object_store: { provider: 'gcs', bucket: 'b', max_retry_buffer_per_request: '8mb' } }`,
      workerStore: 'FILES',
      stores: `FILES: { fast_slow: { fast: ${filesystem}, slow: { ref_store: { name: 'CAS' } } } },`,
    },
    [['stores.CAS.experimental_cloud_object_store.max_retry_buffer_per_request', /resumable_chunk_size/]],
  ],
  ['a store nobody uses', { stores: `EXTRA: { noop: {} },` }, [['stores.EXTRA', /"EXTRA" is used nowhere/]]],
  [
    'verifying nothing',
    {
      stores: `V: { verify: { backend: { noop: {} } } },`,
      services: `bytestream: [{ instance_name: 'v', cas_store: 'V' }],`,
    },
    [['stores.V.verify', /checks nothing/]],
  ],
  [
    'bytestream from another store',
    { stores: `V: { noop: {} },`, services: `bytestream: [{ cas_store: 'V' }],` },
    [['servers[0].services.bytestream[0]', /different stores/]],
  ],
  [
    'impatience with clients',
    { simple: 'client_action_timeout_s: 10,' },
    [['schedulers.S.simple.client_action_timeout_s', /within 10 seconds/]],
  ],
  [
    'no retries',
    { simple: 'max_job_retries: 0,' },
    [['schedulers.S.simple.max_job_retries', /a lost worker fails the action/]],
  ],
  [
    'a property nobody can ask for',
    { worker: `platform_properties: { gpu: { values: ['1'] } },` },
    [['workers[0].local.platform_properties.gpu', /does not list gpu/]],
  ],
  [
    'two kinds in one entry',
    { stores: `X: { noop: {}, memory: {} },`, services: `bytestream: [{ instance_name: 'x', cas_store: 'X' }],` },
    [['stores.X.memory', /already is of kind noop/]],
  ],
  [
    'a worker whose store holds no inputs',
    {
      stores: `OTHER: { fast_slow: { fast: { filesystem: { content_path: '/d', temp_path: '/e', eviction_policy: { max_bytes: 1000 } } }, slow: { noop: {} } } },`,
      workerStore: 'OTHER',
    },
    [['workers[0].local.cas_fast_slow_store', /shares nothing with "CAS"/]],
  ],
  [
    'health where people look',
    { services: `health: { path: '/' },` },
    [['servers[0].services.health.path', /status page at \/ is not served/]],
  ],
  [
    'operators where people look',
    {
      servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { health: {}, admin: { path: '/' } } },`,
    },
    [['servers[1].services.admin.path', /status page at \/ is not served/]],
  ],
  [
    'health and operators beside each other',
    {
      servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { health: { path: '/admin/health/' }, admin: {} } },`,
    },
    [],
  ],
  [
    'options without effect',
    {
      worker: `directory_cache: { max_entries: 5, max_concurrent_fetches: 2 }, experimental_active_input_leases: true,`,
    },
    [['workers[0].local.directory_cache.max_concurrent_fetches', /256 at a time/]],
  ],
  [
    'input roots that cannot be kept, for what runs before the command',
    { worker: `directory_cache: {}, experimental_precondition_script: '/bin/true',` },
    [['workers[0].local.directory_cache', /no effect beside experimental_precondition_script/]],
  ],
  [
    'input roots that cannot be kept, for what the command writes beside them',
    { worker: `directory_cache: {}, additional_environment: { A: { value: 'x' }, B: 'side_channel_file' },` },
    [['workers[0].local.directory_cache', /no effect beside B of additional_environment/]],
  ],
  [
    'persistent workers beside what writes outside of their roots',
    { worker: `persistent_workers: {}, experimental_precondition_script: '/bin/true',` },
    [['workers[0].local.persistent_workers', /no effect beside experimental_precondition_script/]],
  ],
  [
    'persistent workers whose root is the root',
    {
      worker: `persistent_workers: {}, input_root_is_root: true, use_namespaces: true, use_mount_namespace: true,`,
    },
    [['workers[0].local.persistent_workers', /no effect with input_root_is_root/]],
  ],
  ['input roots that can', { worker: `directory_cache: {}, additional_environment: { A: 'timeout_millis' },` }, []],
  [
    'how inputs are protected where they are not',
    { worker: `read_only_inputs: false,` },
    [['workers[0].local.read_only_inputs', /no effect without use_mount_namespace/]],
  ],
  [
    'how they are where they can be',
    { worker: `use_namespaces: true, use_mount_namespace: true, read_only_inputs: false,` },
    [],
  ],
  [
    'a store for what is never kept',
    {
      worker: `upload_action_result: { ac_store: 'AC', historical_results_store: 'CAS', upload_historical_results_strategy: 'never' },`,
    },
    [['workers[0].local.upload_action_result.historical_results_store', /where .* is "never"/]],
  ],
  [
    'settings of the process without effect, whatever their value',
    {
      top: `global: { max_open_files: 24576, default_digest_size_health_check: '1MiB' },`,
      worker: `max_cleanup_wait_s: 30, upload_action_result: { ac_store: 'AC', historical_results_store: 'CAS', upload_historical_results_strategy: 'failures_only' },`,
    },
    [
      ['global.max_open_files', /no effect: Node raises its limit at start/],
      ['global.default_digest_size_health_check', /no effect/],
      ['workers[0].local.max_cleanup_wait_s', /no effect/],
    ],
  ],
  [
    'settings of the listener without effect',
    {
      servers: `{ listener: { http: { socket_address: ':9', freebind: true } }, services: {} },`,
    },
    [['servers[1].listener.http.freebind', /no effect: Node has no way to ask/]],
  ],
  [
    'settings that ask for what is done anyway',
    {
      servers: `{ listener: { http: { socket_address: ':9', freebind: false, transport: 'grpc-js', compression: { send_compression_algorithm: 'none' } } }, services: {} },`,
    },
    [],
  ],
  [
    'what operators may do, where clients are served too',
    {
      servers: `{ listener: { http: { socket_address: ':9' } }, services: { cas: [{ instance_name: 'y', cas_store: 'CAS' }], ac: [{ instance_name: 'y', ac_store: 'AC' }], admin: {} } },`,
    },
    [['servers[1].services.admin', /whoever reaches this server may drain workers/]],
  ],
  ['the same on the loopback address', { services: 'admin: {},' }, []],
  [
    'execution and the worker API on every address',
    {
      servers: `{ listener: { http: { socket_address: ':9' } }, services: { execution: [{ cas_store: 'CAS', scheduler: 'S' }], cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], worker_api: { scheduler: 'S' } } },`,
    },
    [
      ['servers[1].listener.http.socket_address', /everyone who reaches this address may run commands/],
      ['servers[1].listener.http.socket_address', /may take actions and report results/],
    ],
  ],
  [
    'a name on a nested store',
    {
      cas: `{ fast_slow: { fast: { name: 'FAST', filesystem: { content_path: '/c', temp_path: '/t', eviction_policy: { max_bytes: 1000 } } }, slow: { noop: {} } } }`,
    },
    [['stores.CAS.fast_slow.fast.name', /has no effect: only an entry of stores has a name/]],
  ],
  [
    'execution for an instance that has no cas',
    {
      services: `capabilities: [{ instance_name: 'x' }],`,
      servers: `{ listener: { http: { socket_address: '127.0.0.1:9' } }, services: { ac: [{ instance_name: 'x', ac_store: 'AC' }], execution: [{ instance_name: 'x', cas_store: 'CAS', scheduler: 'S' }] } },`,
    },
    [['servers[1].services.execution[0]', /instance "x" is served by no cas: clients cannot upload/]],
  ],
  [
    'security by which nobody can be known',
    { top: 'security: {},' },
    [['security', /nobody can be known here and everybody else may do nothing/]],
  ],
  ['security for everybody', { top: `security: { access: [{ anonymous: true, may: ['read_cas'] }] },` }, []],
  [
    'security by which those with a token are known',
    { top: `security: { identity: { tokens: [{ name: 'a', sha256: '${'0'.repeat(64)}' }] } },` },
    [],
  ],
  [
    'client certificates that no server asks for',
    { top: 'security: { identity: { client_certificates: {} } },' },
    [['security.identity.client_certificates', /no server asks its clients for certificates/]],
  ],
]

t.test("for a service's usual name its key is suggested", async (t) => {
  for (const [written, meant] of [
    ['action_cache', 'ac'],
    ['content_addressable_storage', 'cas'],
    ['byte_stream', 'bytestream'],
    ['remote_execution', 'execution'],
  ]) {
    const { problems } = check({ services: `${written}: {},` })
    t.match(problems, [{ message: `unknown key "${written}"`, suggestion: meant }], String(written))
  }
})

t.test('threads that would carry every call to the main thread are a warning with the reason', async (t) => {
  const warningsOf = (global: string) => parseConfig(text({ top: `global: { ${global} },` }), 'x.json5').warnings
  t.match(
    warningsOf('threads: 4, metrics_instance_names: true').filter(({ path }) => path === 'global.threads'),
    [
      {
        message: /all calls are served by the main thread: `metrics_instance_names` counts each instance/,
        expected: /^threads: 1, or/,
      },
    ],
  )
  for (const fine of ['threads: 4', 'metrics_instance_names: true'])
    t.notOk(
      warningsOf(fine).some(({ path }) => path === 'global.threads'),
      fine,
    )
})

t.test('uri for address, and address for uri, are understood as each other', async (t) => {
  const grpc = `{ grpc: { instance_name: '', endpoints: [{ uri: 'grpc://127.0.0.1:9' }], store_type: 'cas' } }`
  const { problems } = parseConfig(text({ stores: `G: ${grpc},` }), 'x.json5')
  t.match(problems, [{ path: 'stores.G.grpc.endpoints[0].uri', suggestion: 'address' }])
  t.equal(problems.length, 1)
})

t.test('configuration files of other servers lead to a recipe', async (t) => {
  const files = {
    'bazel-remote': 'dir: /data\nmax_size: 100\ngrpc_address: 0.0.0.0:9092\n',
    BuildBuddy: 'app:\n  build_buddy_url: "http://localhost:8080"\ndatabase:\n  data_source: "sqlite3:///tmp/x.db"\n',
    Buildfarm: 'digestFunction: SHA256\nserver:\n  port: 8980\nbackplane:\n  redisUri: "redis://localhost:6379"\n',
    'Buildbarn (jsonnet)': "local common = import 'common.libsonnet';\n{\n  blobstore: common.blobstore,\n}\n",
  }
  for (const [name, content] of Object.entries(files)) {
    const [problem] = parseConfig(content, 'x').problems
    t.match(problem?.message, `it looks like a configuration of ${name}: remexec init `)
  }
  const [problem] = parseConfig('a: 1\nb: 2\n', 'x').problems
  t.match(problem?.message, 'it looks like YAML')
})

t.test('service threads need our own transport', async (t) => {
  const servers = (transport: string): string =>
    `{ listener: { http: { socket_address: ':9', transport: '${transport}' } }, services: {} },`
  t.same(check({ servers: servers('remexec'), top: 'global: { threads: 4 },' }).problems, [])
  t.match(check({ servers: servers('grpc-js'), top: 'global: { threads: 4 },' }).problems, [
    {
      path: 'servers[1].listener.http.transport',
      message: 'grpc-js serves all connections on the main thread',
      expected: 'the transport remexec, or global without threads',
    },
  ])
  t.match(check({ top: 'global: { threads: 65 },' }).problems, [
    { path: 'global.threads', message: /65 must be <= 64/ },
  ])
  t.match(check({ top: 'global: { threads: 0 },' }).problems, [{ path: 'global.threads' }])
})

t.test('unsupported HTTP/2 settings are rejected, and all of them with grpc-js', async (t) => {
  const listening = (http: string): string => `{ listener: { http: { socket_address: ':9', ${http} } }, services: {} },`
  const { problems } = check({
    servers: listening(
      `advanced_http: { experimental_http2_max_frame_size: 65536, experimental_http2_adaptive_window: true, experimental_http2_enable_connect_protocol: 'true', experimental_http2_initial_connection_window_size: 1000 }`,
    ),
  })
  t.match(
    problems.map(({ path, message }) => `${path}: ${message}`),
    [
      /max_frame_size: 65536 must be <= 16384/,
      /adaptive_window: .*not available/,
      /connect_protocol: .*not available/,
      /connection_window_size: 1000 must be >= 65535/,
    ],
  )
  const overGrpcJs = check({
    servers: listening(
      `transport: 'grpc-js', request_timeout_s: 5, advanced_http: { http2_keep_alive_interval: 30, experimental_http2_max_frame_size: 16384, experimental_http2_keep_alive_timeout: 7 }`,
    ),
  })
  t.match(overGrpcJs.problems, [
    {
      path: 'servers[1].listener.http.request_timeout_s',
      message: 'transport "grpc-js" waits for requests for ever',
      expected: 'the key left out, or transport "remexec"',
    },
    { path: /keep_alive_timeout/ },
    {
      path: 'servers[1].listener.http.advanced_http.http2_keep_alive_interval',
      message: 'transport "grpc-js" cannot be told how to speak HTTP/2',
      expected: 'the key left out, or transport "remexec"',
    },
  ])
})

t.test('an isolated instance shares no store with one that is not', async (t) => {
  const other = `{ memory: { eviction_policy: { max_bytes: 1000 } } }`
  const isolated = (names: readonly string[], more = ''): Parts => ({
    top: `instances: [${names.map((name) => `{ instance_name: '${name}', isolate: true }`).join(', ')}],`,
    stores: `BLOBS: ${other}, RESULTS: ${other}, BEHIND: { verify: { backend: { ref_store: { name: 'BLOBS' } } } },`,
    servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { ${more} } },`,
  })
  const cases: readonly (readonly [Parts, string, RegExp])[] = [
    [isolated(['']), '', /^$/],
    [isolated(['a'], `cas: { a: { cas_store: 'BLOBS' } }, ac: { a: { ac_store: 'RESULTS' } }`), '', /^$/],
    [
      isolated(['a'], `cas: { a: { cas_store: 'CAS' } }, ac: { a: { ac_store: 'RESULTS' } }`),
      'instances[0].isolate',
      /instance "" uses store "CAS" too, and is not isolated/,
    ],
    [
      isolated(
        ['a'],
        `cas: { a: { cas_store: 'BLOBS' }, b: { cas_store: 'BEHIND' } }, ac: { '*': { ac_store: 'RESULTS' } }`,
      ),
      'instances[0].isolate',
      /instance "b" uses store "BLOBS" too/,
    ],
    [isolated(['*']), 'instances[0]', /is no instance of its own/],
    [
      { top: `instances: [{ max_stored_bytes: '1gb' }],` },
      'instances[0].max_stored_bytes',
      /blobs that instances share have no owner/,
    ],
  ]
  for (const [parts, path, message] of cases) {
    const [problem] = check(parts).problems
    t.equal(problem?.path ?? '', path)
    t.match(problem?.message ?? '', message)
  }
  const [warning] = check(isolated(['', 'absent'])).warnings.filter(({ path }) => path.startsWith('instances'))
  t.match(warning?.message, /no service has an instance "absent"/)
})

t.test('isolated instances on a shared worker without confinement cause a warning', async (t) => {
  const parts = (isolated: readonly string[], worker: string, executing = true): Parts => ({
    top: `instances: [${isolated.map((name) => `{ instance_name: '${name}', isolate: true }`).join(', ')}],`,
    worker,
    servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: {
      cas: { a: { cas_store: 'CAS' } }, ac: { a: { ac_store: 'AC' } },
      ${executing ? `execution: { a: { cas_store: 'CAS', scheduler: 'S' } },` : ''}
    } },`,
  })
  const warningsOf = (given: Parts) => {
    const { problems, warnings } = check(given)
    t.same(problems, [])
    return warnings.map(({ path, message }) => [path, message])
  }
  const warning = [
    ['workers[0].local', 'actions of the instances "" and "a" can read each other\'s files on this worker'],
  ]
  t.same(warningsOf(parts(['', 'a'], '')), warning)
  t.same(warningsOf(parts(['', 'a'], 'use_namespaces: true')), warning, 'namespaces alone hide no files')
  t.same(warningsOf(parts(['', 'a'], 'use_namespaces: true, use_mount_namespace: true')), [])
  t.same(warningsOf(parts([], '')), [], 'no instance is isolated')
  t.same(warningsOf(parts(['', 'a'], '', false)), [], 'one instance executes')
})

t.test('a health path that is taken or cannot be requested is rejected', async (t) => {
  const at = (services: string): Parts => ({
    servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { ${services} } },`,
  })
  const cases: readonly (readonly [string, string, RegExp, RegExp])[] = [
    [`health: { path: 'status' }`, 'health', /"status"/, /starts with a slash/],
    [`health: { path: '/status?x=1' }`, 'health', /status\?x=1/, /without blanks, \? and #/],
    [`health_status: { path: '/sta tus' }`, 'health_status', /sta tus/, /without blanks/],
    [`health: { path: '/zustand-ä' }`, 'health', /zustand/, /starts with a slash/],
    [
      `health: { path: '/admin' }, admin: {}`,
      'health',
      /\/admin is a path of both health and admin/,
      /none of \/admin, \/admin\/drain/,
    ],
    [
      `health: { path: '/x' }, admin: { path: '/x/ready' }`,
      'health',
      /\/x\/ready is a path of both/,
      /another|none of/,
    ],
    [`health: { path: '/a/drain/' }, admin: { path: '/a' }`, 'health', /^$/, /^$/],
  ]
  for (const [services, key, message, expected] of cases) {
    const { problems } = check(at(services))
    if (String(message) === '/^$/') {
      t.same(problems, [], services)
      continue
    }
    t.equal(problems.length, 1, services)
    t.equal(problems[0]?.path, `servers[1].services.${key}.path`)
    t.match(`${problems[0]?.message} ${problems[0]?.found}`, message)
    t.match(problems[0]?.expected, expected)
  }
})

t.test('valid settings that are probably mistakes cause warnings', async (t) => {
  for (const [what, parts, expected] of warned) {
    const { warnings, problems } = check(parts)
    t.same(problems, [], what)
    t.same(
      warnings.map(({ path }) => path),
      expected.map(([path]) => path),
      what,
    )
    for (const [index, [, message]] of expected.entries()) t.match(warnings[index]?.message, message, what)
  }
})

t.test('workers are attached to the server that they connect to', async (t) => {
  const serverOf = (uri: string, parts: Parts = {}) => {
    const { config, problems } = parseConfig(text(parts).replace('grpc://127.0.0.1:2', uri), 'place.json5')
    return config ? config.workers[0]?.server : problems[0]?.message
  }
  t.equal(serverOf('grpc://127.0.0.1:2'), 'worker_api', 'a listener of its own')
  t.equal(serverOf('grpc://localhost:0'), 'worker_api', 'on any free port')
  const anyPort = `{ name: 'any', listener: { http: { socket_address: '127.0.0.1:0' } }, services: {} },`
  t.equal(serverOf('grpc://127.0.0.1:0', { servers: anyPort }), 'worker_api', 'port 0 is another port at each listener')
  t.equal(serverOf('grpc://127.0.0.1:1'), '0', 'a server that is there already')
  t.equal(serverOf('grpc://192.0.2.1:2'), undefined, 'on another machine')
  const servers = `{ name: 'api', listener: { http: { socket_address: ':7' } }, services: { worker_api: { scheduler: 'S' } } },`
  t.equal(serverOf('grpc://localhost:7', { servers }), 'api')
  t.match(serverOf('grpcs://localhost:7', { servers }), /server "api" listens there without TLS/)
  t.match(serverOf('grpcs://localhost:8'), /no server serves worker_api with TLS at grpcs:\/\/localhost:8/)
  const secure = servers.replace("':7'", "':7', tls: { cert_file: '/c', key_file: '/k' }")
  t.equal(serverOf('grpcs://localhost:7', { servers: secure }), 'api')
  t.match(serverOf('grpc://localhost:7', { servers: secure }), /server "api" listens there with TLS/)
})

t.test('accepted forms of a worker store with hard links', async (t) => {
  const fits = (cas: string, stores = '') => check({ cas, stores }).problems.map(({ message }) => message)
  t.same(
    fits(`{ fast_slow: { fast: { ref_store: { name: 'DISK' } }, slow: { noop: {} } } }`, `DISK: ${filesystem},`),
    [],
  )
  t.same(
    fits(`{ ref_store: { name: 'TIERS' } }`, `TIERS: { fast_slow: { fast: ${filesystem}, slow: { noop: {} } } },`),
    [],
  )
  t.match(fits(filesystem), [/the store "CAS" of the worker is filesystem/])
})

t.test('fetch and push: mistakes in what may be downloaded, and stores that cannot hold records', async (t) => {
  const problems = (services: string) => check({ services }).problems.map(({ path, message }) => `${path}: ${message}`)
  const download = (text: string): string => `fetch: [{ fetch_store: 'AC', download: ${text} }],`
  t.same(problems(download(`{ allow: ['*', 'a.example', '*.b.example'], allow_addresses: ['10.0.0.0/8', '::1'] }`)), [])
  t.match(problems(download(`{ allow: ['https://a.example/x'] }`)), [/allow\[0\]: .* is no host/])
  t.match(problems(download(`{ allow: ['*'], allow_addresses: ['10.0.0.0/40'] }`)), [/no address or network/])
  t.match(problems(download(`{ allow: ['*'], proxy: 'proxy:3128' }`)), [/proxy is no URL/])
  t.same(
    problems(`push: [{ push_store: 'CAS' }], fetch: [{ fetch_store: 'CAS' }],`),
    [],
    'as NativeLink for BuildStream',
  )
  const elsewhere = `fetch: [{ instance_name: 'other', fetch_store: 'AC', download: { allow: ['*'] } }],`
  t.match(problems(elsewhere), [/instance "other" has no cas on this server/])
})

t.test(
  'build events: one folder for all servers, which nothing else uses, and files for experimental_bep',
  async (t) => {
    const problems = (services: string) =>
      check({ services }).problems.map(({ path, message }) => `${path}: ${message}`)
    t.same(problems(`build_events: { path: '/events' },`), [])
    t.match(problems(`experimental_bep: { store: 'AC' },`), [/store "AC" keeps no files/])
    t.match(problems(`experimental_bep: { store: 'AC' }, build_events: { path: '/events' },`), [/are the same service/])
    const files = `FILES: { filesystem: { content_path: '/kept/bep/', temp_path: '/kept/tmp', eviction_policy: { max_bytes: 5000, max_seconds: 60 } } },`
    const stores = (path: string) =>
      `A: { memory: { eviction_policy: { max_bytes: 9 } } }, ${files} R: { ref_store: { name: 'FILES' } },${path}`
    const server = (port: number, services: string) =>
      `{ listener: { http: { socket_address: '127.0.0.1:${port}' } }, services: { ${services} } }`
    const bep = check({ servers: `${server(3, `experimental_bep: { store: 'R' }`)},`, stores: stores('') })
    t.same(bep.problems, [])
    t.match(bep.config?.servers[1]?.services.build_events, {
      path: '/kept/bep-build-events',
      max_bytes: 5000,
      max_age_s: 60,
    })
    const inside = check({ servers: `${server(3, `build_events: { path: '/kept/bep/x' }`)},`, stores: stores('') })
    t.match(inside.problems, [{ message: /build events are kept in the content_path of store "FILES"/ }])
    const two = `${server(3, `build_events: { path: '/e' }`)}, ${server(4, `build_events: { path: '/f' }`)},`
    t.match(check({ servers: two, stores: stores('') }).problems, [{ message: /two servers have different settings/ }])
  },
)

t.test(
  'an HTTP cache needs an instance with blobs and results, a path of its own, and security for an overlay',
  async (t) => {
    const at = (caches: string, more = ''): Parts => ({
      servers: `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: {
      cas: { a: { cas_store: 'C' }, b: { cas_store: 'C' }, wrapped: { cas_store: 'C' } },
      ac: { a: { ac_store: 'R' }, b: { ac_store: 'R' }, wrapped: { ac_store: 'COUNTED' } },
      health: { path: '/status' }, http_cache: { ${caches} } } },`,
      stores: `C: { memory: { eviction_policy: { max_bytes: 1000 } } }, R: { memory: { eviction_policy: { max_bytes: 1000 } } },
        COUNTED: { cache_metrics: { cache_type: 'x', backend: { ref_store: { name: 'R' } } } },`,
      top: more,
    })
    const security = `security: { identity: { tokens: [] } },`
    const overlay = `instance_name: 'a', overlay_instance_name: 'b'`
    const cases: readonly (readonly [string, string, RegExp])[] = [
      [`'/c': { kind: 'ccache', instance_name: 'a' }`, '', /^$/],
      [`'/c': { kind: 'ccache', instance_name: 'none' }`, '', /"none" has no cas or no ac/],
      [`'/status': { kind: 'ccache', instance_name: 'a' }`, '', /path of another service/],
      [`'/c/': { kind: 'ccache', instance_name: 'a' }`, '', /shortest form/],
      [`'/c/../d': { kind: 'ccache', instance_name: 'a' }`, '', /shortest form/],
      [`'/c': { kind: 'ccache', ${overlay} }`, '', /without security/],
      [`'/c': { kind: 'ccache', ${overlay} }`, security, /^$/],
      [`'/c': { kind: 'bazel', ${overlay} }`, security, /^$/],
      [`'/c': { kind: 'ccache', instance_name: 'a', overlay_instance_name: 'a' }`, security, /the instance itself/],
    ]
    for (const [caches, more, message] of cases) {
      const { problems } = check(at(caches, more))
      if (String(message) === '/^$/') t.same(problems, [], caches)
      else t.match(problems[0]?.message, message, caches)
    }
  },
)

t.test('a grpc store of the wrong type for its place is told, through wrappers, in each place', async (t) => {
  const remote = (type: string, more = '') =>
    `{ grpc: { store_type: '${type}', endpoints: [{ address: 'grpc://127.0.0.1:9' }], ${more} } }`
  const stores = `
    RC: ${remote('cas')}, RA: ${remote('ac')}, SECRET: ${remote('ac', `record_secret: '${'x'.repeat(32)}'`)},
    WC: { cache_metrics: { cache_type: 'x', backend: { ref_store: { name: 'RC' } } } }, WA: { existence_cache: { backend: { ref_store: { name: 'RA' } } } },
    COMPLETE: { completeness_checking: { backend: { ref_store: { name: 'RC' } }, cas_store: { ref_store: { name: 'RA' } } } },`
  const wrong = (services: string) => {
    const servers = `{ listener: { http: { socket_address: '127.0.0.1:3' } }, services: { ${services} } },`
    const { problems } = check({ stores, servers })
    return problems.filter(({ severity }) => severity === 'error').map(({ path, message }) => `${path}: ${message}`)
  }
  const complete = wrong(`cas: [{ cas_store: 'RC' }], ac: [{ ac_store: 'RA' }]`)
  t.match(complete.sort(), [/completeness_checking.backend: .*the place of results/, /cas_store: .*the place of blobs/])
  t.equal(complete.length, 2)
  for (const [services, path, what] of [
    [`cas: [{ cas_store: 'RA' }]`, 'cas[0].cas_store', 'the place of blobs'],
    [`cas: [{ cas_store: 'WA' }]`, 'cas[0].cas_store', 'the place of blobs'],
    [`cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'WC' }]`, 'ac[0].ac_store', 'the place of results'],
    [`cas: [{ cas_store: 'CAS' }], fetch: [{ fetch_store: 'RC' }]`, 'fetch[0].fetch_store', 'records under keys'],
    [`cas: [{ cas_store: 'CAS' }], push: [{ push_store: 'RA' }]`, 'push[0].push_store', 'could forge'],
    [
      `cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'RA' }], http_cache: { '/c': { kind: 'nx' } }`,
      'ac[0].ac_store',
      'could forge',
    ],
  ] as const) {
    const found = wrong(services).filter((text) => !text.includes('completeness_checking'))
    t.match(found.join('\n'), new RegExp(`services.${path.replaceAll(/[[\]]/g, '\\$&')}: .*${what}`), services)
  }
  const right = wrong(
    `cas: [{ cas_store: 'RC' }], ac: [{ ac_store: 'SECRET' }], push: [{ push_store: 'SECRET' }], http_cache: { '/c': { kind: 'nx' } }`,
  )
  t.same(
    right.filter((text) => !text.includes('completeness_checking')),
    [],
  )
  const worker = check({ stores, worker: `upload_action_result: { ac_store: 'RC' }` }).problems
  t.match(worker.map(({ path }) => path).join(), /workers\[0\].*upload_action_result.ac_store/)
})
