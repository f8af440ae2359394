import t from 'tap'
import { threadCallsOf } from '../../src/assembly/threads/thread-calls.js'
import { explain } from '../../src/config/explain.js'
import { parseConfig } from '../../src/config/load.js'
import type { ThreadNode } from '../../src/store/contract/thread-use.js'
import { threadUsesOf } from '../../src/store/thread-uses-of.js'

const files = (name: string): string => `{ filesystem: { content_path: '/${name}', temp_path: '/temp' } }`

/** A server over stores of all sorts, and more of a configuration. */
const configOf = (more = '', services = '', store = files('cas')) => {
  const text = `{
    global: { threads: 4 ${more.includes('metrics_instance_names') ? ', metrics_instance_names: true' : ''} },
    stores: { CAS: ${store}, AC: { ref_store: { name: 'RESULTS' } }, RESULTS: ${files('ac')}, MEMORY: { memory: {} }, OTHER: ${files('other')} },
    servers: [{ name: 's', listener: { http: { socket_address: '127.0.0.1:0' } }, services: {
      cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], ${services}
    } }],
    ${more.replace('metrics_instance_names', '')}
  }`
  const { config, problems } = parseConfig(text, 'carried.json5', { env: {} })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return config
}

const over = (slow: string, more = ''): string => `{ fast_slow: { fast: ${files('cas')}, slow: ${slow} ${more} } }`

const served = async (config: ReturnType<typeof configOf>, isTraced = false): Promise<number> =>
  threadCallsOf(config, await threadUsesOf(config.stores), { isTraced }).servers.length

/** Of all nodes, the outermost first. */
const pathsOf = (node: ThreadNode): readonly string[] => {
  if (node.form === 'shared') return [node.path]
  const below = node.form === 'passing' ? [node.to] : Object.values(node.below)
  return [node.path, ...below.flatMap(pathsOf)]
}

t.test('which nodes of a store each thread has', async (t) => {
  const nodes = async (store: string): Promise<readonly string[] | string> => {
    const use = (await threadUsesOf(configOf('', '', store).stores)).get('CAS')
    return use?.isOneEach ? pathsOf(use.node) : (use?.because ?? '')
  }
  t.same(await nodes(files('cas')), ['CAS'])
  t.same(await nodes(`{ ref_store: { name: 'OTHER' } }`), ['OTHER'])
  t.same(await nodes(over('{ noop: {} }')), ['CAS', 'CAS/fast'])
  t.same(await nodes(over('{ noop: {} }', `, fast_direction: 'get'`)), 'its two tiers have state in one place')
  t.match(await nodes(over('{ memory: {} }')), /two tiers/)
  t.match(await nodes('{ memory: {} }'), /memory of one thread/)
  t.same(await nodes(`{ verify: { backend: ${files('cas')} } }`), ['CAS', 'CAS/backend'])
  t.same(await nodes(`{ cache_metrics: { cache_type: 'c', backend: ${over('{ noop: {} }')} } }`), [
    ...['CAS', 'CAS/backend', 'CAS/backend/fast'],
  ])
  t.same(
    await nodes(`{ compression: { compression_algorithm: { lz4: {} }, backend: { ref_store: { name: 'OTHER' } } } }`),
    [...['CAS', 'OTHER']],
  )
  const checked = (cas: string): string =>
    `{ completeness_checking: { backend: ${files('checked')}, cas_store: ${cas} } }`
  t.same(await nodes(checked(`{ ref_store: { name: 'OTHER' } }`)), ['CAS', 'CAS/backend', 'OTHER'])
  t.match(await nodes(checked(`{ ref_store: { name: 'MEMORY' } }`)), /memory of one thread/)
  t.match(await nodes(`{ grpc: { store_type: 'cas', endpoints: [{ address: 'grpc://127.0.0.1:1' }] } }`), /connections/)
})

t.test('which servers are served in threads, and why others are not', async (t) => {
  const told = async (config: ReturnType<typeof configOf>): Promise<string> => {
    const lines = explain(config, new Map(), await threadUsesOf(config.stores))
    const line = lines.find((one) => one.startsWith('  server "s"')) ?? ''
    t.equal(await served(config), line.includes('the threads, unless') ? 1 : 0, line)
    return line.replace(/^ *server "s" */, '')
  }
  const IN_THREADS = 'the threads, unless traces are exported'
  t.equal(await told(configOf()), IN_THREADS)
  t.equal(await told(configOf(`security: { identity: { tokens: [] } },`)), IN_THREADS)
  t.equal(await told(configOf('', '', over('{ noop: {} }'))), IN_THREADS)
  t.match(await told(configOf('', '', over('{ memory: {} }'))), /^the main thread: store CAS: its two tiers/)
  const quota = (isolated: string): string => `instances: { a: { ${isolated} } },`
  t.equal(await told(configOf(quota(`isolate: true, retention: '5h', max_blob_size: 9`))), IN_THREADS)
  const limited = configOf(quota('isolate: true, max_stored_bytes: 9'), `bytestream: { '*': { cas_store: 'CAS' } },`)
  t.match(await told(limited), /^the main thread: instance "a": max_stored_bytes/)
  t.equal(await told(configOf(quota('isolate: true, max_stored_bytes: 9'))), IN_THREADS, 'one that is not served here')
  t.match(await told(configOf('metrics_instance_names')), /metrics_instance_names/)
  t.equal(await told(configOf('', `http_cache: { '/': { kind: 'bazel' } },`)), IN_THREADS)
  t.match(
    await told(configOf('', `bytestream: [{ cas_store: 'MEMORY' }],`)),
    /store MEMORY: its blobs are in the memory/,
  )
  t.equal(await served(configOf(), true), 0, 'traces')
})

t.test('callers whose requests are limited are said to be served in the main thread', async (t) => {
  const config = configOf(`security: { identity: {}, request_limits: [{ anonymous: true, requests_per_s: 1 }] },`)
  const lines = explain(config, new Map(), await threadUsesOf(config.stores))
  t.match(
    lines.filter((line) => line.includes('request_limits')),
    [/in the main thread, which counts their requests/],
  )
})

t.test('with one thread nothing is said of threads', async (t) => {
  const { global, ...config } = configOf()
  const lines = explain({ ...config, global: { ...global, threads: 1 } }, new Map(), await threadUsesOf(config.stores))
  t.notMatch(lines.join(), /thread/)
  const told = explain({ ...config, global }, new Map(), await threadUsesOf(config.stores))
  t.match(told, [
    ...['stores', /CAS/, /AC/, /RESULTS/, /MEMORY/, /OTHER/, /^promises/],
    /^4 service threads/,
    '  store CAS      one in each thread, over one index; the main thread commits',
    '  store AC       one in each thread, over one index; the main thread commits',
    '  store RESULTS  one in each thread, over one index; the main thread commits',
    '  store MEMORY   one for all: its blobs are in the memory of one thread',
    '  store OTHER    one in each thread, over one index; the main thread commits',
    `  server "s"     the threads, unless traces are exported`,
  ])
})
