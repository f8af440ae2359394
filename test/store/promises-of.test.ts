import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { resultStoresOf } from '../../src/config/result-stores.js'
import { silentLog } from '../../src/log/log.js'
import { unhiddenSecrets } from '../../src/log/secrets.js'
import { buildStores } from '../../src/store/builder.js'
import { promisesOf } from '../../src/store/promises-of.js'
import { Resources } from '../../src/work/resources.js'

const HOUR = 3600
const bounded = (retention: string, more = '') =>
  `{ memory: { eviction_policy: { max_bytes: '1mb' ${more} }, retention: '${retention}' } }`
const bucket = (more: string) =>
  `{ experimental_cloud_object_store: { provider: 'aws', bucket: 'b', region: 'eu-north-1', ${more} } }`
const files = (name: string, more: string) =>
  `{ filesystem: { content_path: 'FOLDER/${name}/c', temp_path: 'FOLDER/${name}/t', ${more} } }`

/** A store, the seconds that it promises, and words that say so. */
const CASES: readonly (readonly [string, number, RegExp])[] = [
  [bounded('3h'), 3 * HOUR, /^3 h after the last use, until a restart; without room the oldest promise is broken$/],
  [bounded('0'), 0, /^nothing: its retention is 0$/],
  [bounded('3h', `, max_seconds: '30min'`), HOUR / 2, /^30 min after the last use/],
  ['{ memory: {} }', Number.POSITIVE_INFINITY, /^everything stays, until a restart$/],
  [
    files('a', `eviction_policy: { max_bytes: '1gb' }, when_full: 'refuse'`),
    3 * HOUR,
    /^3 h .*, also across a restart; uploads without room are refused$/,
  ],
  ['{ noop: {} }', 0, /^nothing: it keeps nothing$/],
  [`{ verify: { backend: { ref_store: { name: 'OTHER' } } } }`, 5 * HOUR, /^5 h/],
  [`{ fast_slow: { fast: ${bounded('1h')}, slow: ${bounded('2h')} } }`, 2 * HOUR, /^2 h/],
  [`{ fast_slow: { fast: ${bounded('1h')}, slow: { noop: {} } } }`, HOUR, /^1 h/],
  [`{ fast_slow: { fast: ${bounded('1h')}, slow: ${bounded('2h')}, slow_direction: 'get' } }`, HOUR, /^1 h/],
  [`{ shard: { stores: [{ store: ${bounded('4h')} }, { store: ${bounded('1d')} }] } }`, 4 * HOUR, /^4 h/],
  [
    `{ size_partitioning: { size: 10, lower_store: ${bounded('1d')}, upper_store: { noop: {} } } }`,
    0,
    /^nothing: it keeps nothing$/,
  ],
  [`{ dedup: { index_store: ${bounded('1h')}, content_store: ${bounded('2h')} } }`, HOUR, /^1 h/],
  [
    `{ existence_cache: { backend: ${bounded('36h')} } }`,
    36 * HOUR,
    /^1\.5 d .*; its own answers are in no build's lease$/,
  ],
  [bucket(''), 0, /^nothing: a rule of the bucket may delete any object/],
  [bucket('lifecycle_days: 30'), 7.5 * 24 * HOUR, /^7\.5 d after the last use, if the credentials may write$/],
  [bucket(`lifecycle_days: 30, consider_expired_after_s: '20d'`), 5 * 24 * HOUR, /^5 d/],
  [
    `{ grpc: { endpoints: [{ address: 'grpc://127.0.0.1:1' }], store_type: 'cas' } }`,
    0,
    /^what the other server promises: each FindMissingBlobs is passed on, its retention is not known here$/,
  ],
]

const configOf = (folder: string, store: string) => {
  const text = `{
    stores: { CAS: ${store}, OTHER: ${bounded('5h')}, AC: { memory: {} } },
    servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } },
      services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }] } }],
  }`
  const { config, problems } = parseConfig(text.replaceAll('FOLDER', folder), 'test.json5')
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return config
}

t.test('what a configuration says of its stores is what the built stores promise', async (t) => {
  const folder = t.testdir({})
  for (const [store, seconds, words] of CASES) {
    const { stores, servers } = configOf(folder, store)
    const said = await promisesOf(stores, resultStoresOf(servers))
    t.match(said.get('CAS'), words, store)
    t.equal(said.get('AC'), 'nothing: it has only results, and one that is gone is built again')
    const resources = new Resources(silentLog)
    const parts = { resources, clock: systemClock, log: silentLog, secrets: unhiddenSecrets, watch: () => {} }
    const built = await buildStores(stores, { ...parts, resultStores: resultStoresOf(servers) })
    t.equal(built.get('CAS')?.properties.retentionMs, seconds * 1000, store)
    t.equal(built.get('AC')?.properties.retentionMs, 0)
    await resources.close()
  }
})

t.test('stores that need a backend to be built', async (t) => {
  const words = async (store: string) => (await promisesOf(configOf('', store).stores, new Set())).get('CAS')
  const redis = (ttl: string) => `{ redis_store: { addresses: ['redis://127.0.0.1:1'], key_ttl_s: ${ttl} } }`
  t.equal(
    await words(redis(`'6h'`)),
    '6 h after the last use, which a read is not; if Redis has room, see its maxmemory-policy',
  )
  t.match(await words(redis('0')), /^nothing: key_ttl_s is 0/)
  const mongo = `{ experimental_mongo: { connection_string: 'mongodb://127.0.0.1:1', database: 'b', cas_collection: 'c', key_prefix: '', read_chunk_size: 65536, connection_timeout_ms: 100, command_timeout_ms: 100 } }`
  t.match(await words(mongo), /^nothing: /)
})
