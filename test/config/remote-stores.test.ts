import t from 'tap'
import { parseConfig } from '../../src/config/load.js'

const check = (store: string) => {
  const files = `{ fast_slow: { fast: { filesystem: { content_path: '/c', temp_path: '/t', eviction_policy: { max_bytes: 1 } } }, slow: { noop: {} } } }`
  const isCas = store.includes(`store_type: 'cas'`)
  const services = isCas
    ? `{ cas: [{ cas_store: 'TESTED' }] }`
    : `{ cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'TESTED' }] }`
  const servers = `[{ listener: { http: { socket_address: '127.0.0.1:1' } }, services: ${services} }]`
  const { problems, warnings } = parseConfig(
    `{ stores: { CAS: ${files}, TESTED: ${store} }, servers: ${servers} }`,
    'x',
  )
  return { problems: problems.map(said), warnings: warnings.map(said) }
}

const said = ({ path, message, expected }: { path: string; message: string; expected?: string | undefined }) =>
  `${path.split('.').slice(2).join('.')}: ${message}; ${expected}`

const bucket = (keys: string): string => `{ experimental_cloud_object_store: { ${keys} } }`
const azure = (keys: string): string => bucket(`provider: 'azure', container: 'c', ${keys}`)
const r2 = (keys: string): string => bucket(`provider: 'r2', bucket: 'b', ${keys}`)
const oci = (keys: string): string => bucket(`provider: 'oci', bucket: 'b', region: 'r', ${keys}`)
const grpc = (keys: string): string => `{ grpc: { endpoints: [{ address: 'grpc://h:1' }], ${keys} } }`
const redis = (keys: string): string => `{ redis_store: { addresses: ['redis://h'], ${keys} } }`
const mongo = (options: string, keys = ''): string =>
  `{ experimental_mongo: { connection_string: 'mongodb://me:secret@h/d${options}', ${keys} } }`

const ELSEWHERE =
  /\.account_name: account_name has no effect: (sas_url|endpoint) says where .*; account_name as it stands/

const warned: readonly (readonly [string, readonly RegExp[]])[] = [
  [azure(`account_name: 'mine'`), []],
  [azure(`endpoint: 'https://mine.blob.core.windows.net', account_name: 'Mine'`), []],
  [azure(`sas_url: 'https://127.0.0.1:1/mine/c?sig=x', account_name: 'mine'`), []],
  [azure(`endpoint: 'https://mine.blob.core.windows.net', account_name: 'min'`), [ELSEWHERE]],
  [azure(`sas_url: 'https://mine.blob.core.windows.net/c?sig=x', account_name: 'other'`), [ELSEWHERE]],
  [
    azure(`sas_url: 'https://mine.blob.core.windows.net/c?sig=x', endpoint: 'https://mine.blob.core.windows.net'`),
    [/\.endpoint: endpoint has no effect: sas_url says where the service is; one of the two/],
  ],
  [r2(`account_id: 'mine', endpoint: 'https://mine.eu.r2.cloudflarestorage.com'`), []],
  [r2(`endpoint: 'https://cache.example'`), []],
  [r2(`account_id: 'mine', endpoint: 'https://cache.example'`), [/\.account_id: account_id has no effect/]],
  [oci(`endpoint: 'https://cache.example'`), []],
  [oci(`namespace: 'mine', endpoint: 'https://cache.example'`), [/\.namespace: namespace has no effect/]],
  [grpc(`store_type: 'ac'`), []],
  [grpc(`store_type: 'ac', forward_headers: ['a']`), []],
  [
    grpc(
      `store_type: 'ac', use_legacy_resource_names: false, experimental_read_batching: {}, experimental_remote_cache_compression: false`,
    ),
    [
      /use_legacy_resource_names has no effect: it is about blobs, and this store is an action cache/,
      /experimental_read_batching has no effect/,
      /experimental_remote_cache_compression has no effect/,
    ],
  ],
  [redis(`connection_timeout_s: 1`), []],
  [mongo(''), []],
  [mongo('?authSource=admin&w=majority&journal=true&maxPoolSize=3&appName=connectTimeoutMS'), []],
  [
    mongo('?ConnectTimeoutMS=5&authSource=a&serverSelectionTimeoutMS=6&socketTimeoutMS=7'),
    [
      /connection_string: ConnectTimeoutMS in connection_string has no effect: connection_timeout_ms says it; an address/,
      /serverSelectionTimeoutMS in .* connection_timeout_ms says it/,
      /socketTimeoutMS in .* command_timeout_ms says it/,
    ],
  ],
  [
    mongo('?retryReads=true&retryWrites=true&heartbeatFrequencyMS=9'),
    [/retryReads .*: requests are tried/, /retryWrites .*: requests are tried/, /heartbeatFrequencyMS .*two seconds/],
  ],
  [
    mongo('?w=3&journal=true&wtimeoutMS=9', `write_concern_w: '1', write_concern_timeout_ms: 3`),
    [/: w in connection_string .* write_concern_w says it/, /wtimeoutMS .* write_concern_timeout_ms says it/],
  ],
  [mongo('?j=true&wtimeout=9', `write_concern_w: '1', write_concern_j: false`), [/: j in .* write_concern_j says it/]],
]

void t.test('options that a remote store ignores cause warnings', async (t) => {
  for (const [store, expected] of warned) {
    const { problems, warnings } = check(store)
    t.same(problems, [], store)
    t.equal(warnings.length, expected.length, `${store}: ${warnings}`)
    for (const [index, message] of expected.entries()) t.match(warnings[index], message)
    t.notMatch(String(warnings), /secret/)
  }
})

const refused: readonly (readonly [string, RegExp])[] = [
  [azure(''), /: provider azure needs account_name; account_name, sas_url or endpoint$/],
  [r2(''), /: provider r2 needs account_id; account_id, or endpoint$/],
  [oci(''), /: provider oci needs namespace; namespace, or endpoint$/],
  [
    redis(`connection_timeout_s: 3, connection_timeout_ms: 3000`),
    /connection_timeout_s and connection_timeout_ms say the same; one of the two/,
  ],
  [
    grpc(`store_type: 'cas', forward_headers: ['a'], experimental_read_batching: {}`),
    /joins calls of several clients, and forward_headers tells them apart; one of the two/,
  ],
]

void t.test('options that a remote store does not support are rejected', async (t) => {
  for (const [store, expected] of refused) {
    const { problems } = check(store)
    t.equal(problems.length, 1, store)
    t.match(problems[0], expected)
  }
})
