import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Config } from '../../src/config/config.js'
import { explain } from '../../src/config/explain.js'
import { checkConfig, parseConfig } from '../../src/config/load.js'
import { resultStoresOf } from '../../src/config/result-stores.js'
import { limitBytes } from '../../src/config/store-path.js'
import { promisesOf } from '../../src/store/promises-of.js'
import { threadUsesOf } from '../../src/store/thread-uses-of.js'

type Json = Record<string, unknown>

const server = (cas: string) => ({
  listener: { http: { socket_address: '127.0.0.1:1' } },
  services: { cas: [{ cas_store: cas }] },
})

const configOf = (stores: Json, more: Json = {}): string =>
  JSON.stringify({ stores, servers: { main: server('CAS') }, ...more })

const ref = (name: string) => ({ ref_store: { name } })

/** Each store refers twice to the one below it, so a walk along all references takes 2^40 steps. */
const diamonds = (kind: (below: string) => Json): Json => {
  const stores: Json = { CAS: ref('S40'), S0: { memory: { eviction_policy: { max_bytes: 1000 } } } }
  for (let depth = 1; depth <= 40; depth++) stores[`S${depth}`] = kind(`S${depth - 1}`)
  return stores
}

const KINDS: readonly (readonly [string, (below: string) => Json])[] = [
  ['shard', (below) => ({ shard: { stores: [{ store: ref(below) }, { store: ref(below) }] } })],
  [
    'size_partitioning',
    (below) => ({ size_partitioning: { size: 10, lower_store: ref(below), upper_store: ref(below) } }),
  ],
  ['fast_slow', (below) => ({ fast_slow: { fast: ref(below), slow: ref(below) } })],
]

for (const [kind, below] of KINDS) {
  t.test(`stores of kind ${kind} that refer to each other 2^40 times over are checked and explained`, async (t) => {
    const { config, problems } = parseConfig(configOf(diamonds(below)), 'x.json5')
    t.same(problems, [])
    const { stores, servers } = config as Config
    const promises = await promisesOf(stores, resultStoresOf(servers))
    const text = explain(config as Config, promises, await threadUsesOf(stores)).join('\n')
    t.ok(text.length < 100_000, `${text.length} characters`)
    const cas = stores.get('CAS')
    t.ok(cas !== undefined && limitBytes(cas, stores) > 0)
  })
}

t.test('20,000 unknown keys: the first hundred are listed, the others are counted', async (t) => {
  const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]))
  const { problems } = parseConfig(configOf({ CAS: { memory: {} } }, unknown), 'x.json5')
  t.equal(problems.length, 101)
  t.match(problems.at(-1)?.message, 'and 19900 more errors, which are not listed')
})

t.test('5,000 stores of an unknown kind: the first hundred are listed, the others are counted', async (t) => {
  const stores = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`S${index}`, { memry: {} }]))
  const { problems } = parseConfig(configOf(stores), 'x.json5')
  t.equal(problems.length, 101)
  t.match(problems.at(-1)?.message, /and 49\d\d more errors/)
})

t.test('1,000 servers of one port are each compared with the first one only', async (t) => {
  const servers = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`s${index}`, server('CAS')]))
  const { problems } = parseConfig(configOf({ CAS: { memory: {} } }, { servers }), 'x.json5')
  t.equal(problems.length, 101)
  t.match(problems[0]?.message, 'server "s1" listens where server "s0" already does')
})

t.test('a file of 50 MB, and one without an end, is refused before it is read', async (t) => {
  const path = join(t.testdir(), 'large.json5')
  writeFileSync(path, '{')
  truncateSync(path, 50_000_000)
  for (const file of [path, '/dev/zero']) {
    const { problems } = await checkConfig(file)
    t.match(problems, [{ message: /more than 4194304 bytes: expected a configuration, which is smaller/ }], file)
  }
})

t.test('a path with a NUL is an error', async (t) => {
  const store = { filesystem: { content_path: '/tmp/x\0y', temp_path: '/tmp/t' } }
  const { problems } = parseConfig(configOf({ CAS: store }), 'x.json5')
  t.match(problems, [{ path: 'stores.CAS.filesystem.content_path', message: /character NUL/ }])
})
