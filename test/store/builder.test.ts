import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { HealthProbe } from '../../src/base/health.js'
import { StatusError } from '../../src/base/status-error.js'
import type { EvictionPolicy, StoreConfig } from '../../src/config/config.js'
import { silentLog } from '../../src/log/log.js'
import { unhiddenSecrets } from '../../src/log/secrets.js'
import type { Digest } from '../../src/reapi/digest.js'
import { buildStores } from '../../src/store/builder.js'
import { StoreNode } from '../../src/store/contract/node.js'
import { Blob } from '../../src/stream/blob/blob.js'
import { Resources } from '../../src/work/resources.js'
import { bytesOf, call, digestOf, get, isPresent, put } from './blobs.js'
import { tierDefaults } from './build.js'
import { rejects, storeSuite } from './suite.js'
import { Watched } from './watched.js'

const policy: EvictionPolicy = { max_bytes: 0, evict_bytes: 0, max_seconds: 0, max_count: 0 }
const memory: StoreConfig = { kind: 'memory', options: { eviction_policy: policy, retention: 0, when_full: 'break' } }
const ref = (name: string): StoreConfig => ({ kind: 'ref_store', options: { name } })
const verified = (backend: StoreConfig): StoreConfig => ({
  kind: 'verify',
  options: { backend, verify_size: true, verify_hash: true },
})
const compressed = (backend: StoreConfig): StoreConfig => ({
  kind: 'compression',
  options: { backend, compression_algorithm: { lz4: { block_size: 65536, max_decode_block_size: 0 } } },
})
const tiers = (fast: StoreConfig, slow: StoreConfig): StoreConfig => ({
  kind: 'fast_slow',
  options: {
    fast,
    slow,
    ...tierDefaults,
  },
})

const build = async (configs: Record<string, StoreConfig>) => {
  const probes: HealthProbe[] = []
  const resources = new Resources(silentLog)
  const watch = (probe: HealthProbe): void => void probes.push(probe)
  const parts = { resources, clock: systemClock, log: silentLog, secrets: unhiddenSecrets, watch }
  const stores = await buildStores(new Map(Object.entries(configs)), parts)
  const store = (name: string) => {
    const found = stores.get(name)
    if (found === undefined) throw new Error(`no store ${name}`)
    return found
  }
  return { store, probes, resources, names: [...stores.keys()] }
}

storeSuite(t, {
  name: 'ref_store to a nest of kinds',
  isBrief: true,
  open: async () => {
    const { store, resources } = await build({ CAS: ref('BELOW'), BELOW: verified(tiers(memory, compressed(memory))) })
    return { store: store('CAS'), close: () => resources.close() }
  },
  isPersistent: false,
  checksUploads: true,
})

t.test('a named store is built once, whatever refers to it and wherever it is defined', async (t) => {
  const { store, names } = await build({ A: ref('C'), B: tiers(memory, ref('C')), C: memory, D: ref('A') })
  t.same(names, ['A', 'B', 'C', 'D'])
  t.equal(store('A'), store('C'))
  t.equal(store('D'), store('C'))
  const bytes = bytesOf(10)
  await put(store('B'), digestOf(bytes), bytes)
  t.ok(await isPresent(store('C'), digestOf(bytes)))
  t.ok((await get(store('D'), digestOf(bytes))).equals(bytes))
})

t.test('every store is watched under its path in the configuration', async (t) => {
  const { probes } = await build({
    CAS: verified(tiers(memory, compressed(memory))),
    AC: tiers(memory, ref('CAS')),
    NONE: { kind: 'noop', options: {} },
    ALIAS: ref('CAS'),
  })
  const seen = probes.map(({ namespace, structName }) => `${namespace} ${structName}`)
  t.same(seen.sort(), [
    '/stores/AC FastSlowStore',
    '/stores/AC/fast MemoryStore',
    '/stores/ALIAS VerifyStore',
    '/stores/CAS VerifyStore',
    '/stores/CAS/backend FastSlowStore',
    '/stores/CAS/backend/fast MemoryStore',
    '/stores/CAS/backend/slow CompressionStore',
    '/stores/CAS/backend/slow/backend MemoryStore',
    '/stores/NONE NoopStore',
  ])
  for (const probe of probes) {
    t.equal(probe.component, probe.namespace.slice(1))
    t.match(await probe.check(call.signal), { state: 'Ok' })
  }
})

t.test(
  'a slow store that may be away is optional in the health report, with all below it, if it has no name',
  async (t) => {
    const mayBeAway = (slow: StoreConfig): StoreConfig => ({
      kind: 'fast_slow',
      options: { ...tierDefaults, fast: memory, slow, when_slow_is_away: 'serve_fast' },
    })
    const { probes } = await build({
      A: mayBeAway(compressed(memory)),
      B: mayBeAway(ref('C')),
      C: memory,
      D: tiers(memory, memory),
    })
    const optional = probes.filter(({ isOptional }) => isOptional).map(({ component }) => component)
    t.same(optional.sort(), ['stores/A/slow', 'stores/A/slow/backend'])
  },
)

t.test('a failure of its own names the store once', async (t) => {
  const { store } = await build({ CAS: verified(tiers(memory, compressed(memory))) })
  const failing = (code: 'UNAVAILABLE' | 'NOT_FOUND') =>
    new (class extends Watched {
      override async get(): Promise<never> {
        throw new StatusError(code, 'it is not here')
      }
      override async put(_digest: Digest, blob: Blob): Promise<never> {
        blob.discard()
        throw new StatusError(code, 'it cannot be kept')
      }
    })(store('CAS'))
  const node = (code: 'UNAVAILABLE' | 'NOT_FOUND') => {
    const inner = new StoreNode(failing(code), { path: 'CAS/slow' })
    return new StoreNode(inner, { path: 'CAS' })
  }
  const digest = digestOf(Buffer.from('x'))
  await t.rejects(get(node('UNAVAILABLE'), digest), { message: 'store CAS/slow: it is not here' })
  await t.rejects(get(node('NOT_FOUND'), digest), { message: 'it is not here' })
  const blob = Blob.ofBytes(Buffer.from('x'))
  await t.rejects(node('UNAVAILABLE').put(digest, blob, call), { message: 'store CAS/slow: it cannot be kept' })
})

t.test('an error while a store is built names its path', async (t) => {
  await rejects(t, build({ A: ref('B') }), 'INVALID_ARGUMENT')
  await t.rejects(build({ A: ref('B') }), { message: 'store A: there is no store named B, expected one of A' })
  await t.rejects(build({ A: ref('B'), B: tiers(memory, ref('A')) }), { message: /A -> B -> A refer to each other/ })
  const lz4 = { block_size: 1, max_decode_block_size: 0 }
  const wrong: StoreConfig = { kind: 'compression', options: { backend: memory, compression_algorithm: { lz4 } } }
  await t.rejects(build({ CAS: verified(wrong) }), { message: /store CAS\/backend: lz4 cannot work with block_size 1/ })
})
