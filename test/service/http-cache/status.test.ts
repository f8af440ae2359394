import { createHash } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { keptSizes } from '../../../src/assembly/kept-sizes.js'
import { version } from '../../../src/base/version.js'
import type { StoreUsage } from '../../../src/blobs/meter.js'
import { parseConfig } from '../../../src/config/load.js'
import { hashOf as tokenHash } from '../../../src/security/identity/credential.js'
import { bodyOf, KIB, serveCaches } from './harness.js'

const BAZEL = [{ path: '/', kind: 'bazel', instance_name: 'main' }]
const memory = (max_bytes: number) => ({ memory: { eviction_policy: { max_bytes } } })

t.test('scripts of bazel-remote find the sizes of the cache in /status', async (t) => {
  const { ask } = await serveCaches(t, BAZEL, { cas: memory(1_000_000) })
  const status = async () => JSON.parse((await ask('GET', '/status')).text)
  t.match(await status(), { CurrSize: 0, NumFiles: 0, MaxSize: 1_000_000 + 200_000_000 })
  const bytes = bodyOf(50 * KIB)
  const path = `/cas/${createHash('sha256').update(bytes).digest('hex')}`
  t.equal((await ask('PUT', path, { body: bytes })).status, 200)
  const now = await status()
  t.match(now, { CurrSize: 50 * KIB, UncompressedSize: 50 * KIB, NumFiles: 1, GitCommit: `remexec ${version()}` })
  t.ok(now.ServerTime > 1_700_000_000)
})

t.test('what a store does not know is absent, not 0', async (t) => {
  const compression = { compression_algorithm: { zstd: {} }, backend: { memory: {} } }
  const { ask } = await serveCaches(t, BAZEL, { cas: { compression } })
  const keys = Object.keys(JSON.parse((await ask('GET', '/status')).text))
  t.same(keys, ['CurrSize', 'NumFiles', 'ServerTime', 'GitCommit'])
})

t.test('sizes are for callers that may read, the time is for probes too', async (t) => {
  const security = {
    identity: { tokens: [{ name: 'reader', sha256: tokenHash('a-token-of-a-reader') }] },
    access: [{ names: ['reader'], may: ['read_cas', 'read_ac'] }],
  }
  const { ask } = await serveCaches(t, BAZEL, { security })
  const keysFor = async (headers: Record<string, string>) => {
    const { status, text } = await ask('GET', '/status', { headers })
    return [status, status === 200 && Object.keys(JSON.parse(text)).includes('CurrSize')]
  }
  t.same(await keysFor({ authorization: 'Bearer a-token-of-a-reader' }), [200, true])
  t.same(await keysFor({}), [200, false])
})

t.test('a blob in two tiers counts once, and a store of two names too', async (t) => {
  const folder = t.testdir()
  const disk = (name: string) => ({
    filesystem: {
      content_path: join(folder, name),
      temp_path: join(folder, `${name}-t`),
      eviction_policy: { max_bytes: 900 },
    },
  })
  const text = JSON.stringify({
    stores: {
      DISK: disk('d'),
      CAS: { fast_slow: { fast: memory(100), slow: { ref_store: { name: 'DISK' } } } },
      BUCKET: { fast_slow: { fast: disk('f'), slow: { noop: {} } } },
      AC: { completeness_checking: { backend: memory(50), cas_store: { ref_store: { name: 'CAS' } } } },
    },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: { '': { cas_store: 'CAS' } }, ac: { '': { ac_store: 'AC' } } },
      },
    },
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  const usage = (sizeBytes: number, maxBytes: number) => (): StoreUsage => ({
    ...{ entryCount: 1, evictedCount: 0, evictFailureCount: 0, lastEvictedIdleMs: undefined, sizeBytes, maxBytes },
  })
  const usages = new Map([
    ['DISK', usage(90, 900)],
    ['CAS/fast', usage(10, 100)],
    ['BUCKET/fast', usage(70, 900)],
    ['AC/backend', usage(5, 50)],
  ])
  const kept = (...names: string[]) => keptSizes(names, config.stores, usages)
  t.match(kept('CAS'), { sizeBytes: 90, maxBytes: 900, entryCount: 1 }, 'slow has all')
  t.match(kept('BUCKET'), { sizeBytes: 70, maxBytes: 900 }, 'slow keeps nothing here')
  t.match(kept('CAS', 'AC', 'DISK'), { sizeBytes: 95, maxBytes: 950, entryCount: 2 })
  t.equal(kept('ELSEWHERE'), undefined)
})
