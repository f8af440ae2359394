/** Trees of a far server, read in one request through the stores before it. */
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { StatusError } from '../../src/base/status-error.js'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import type { DirectoryBytes, FarTrees, Store } from '../../src/blobs/store.js'
import type { DirectoryInput } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { encodeDirectory } from '../../src/reapi/directory.js'
import { cacheMetrics } from '../../src/store/kinds/cache_metrics/kind.js'
import { fastSlow } from '../../src/store/kinds/fast_slow/kind.js'
import { verify } from '../../src/store/kinds/verify/kind.js'
import { isolatedView } from '../../src/store/view/isolated.js'
import { call, digestOf, isPresent } from './blobs.js'
import { buildStore, given, memoryStore, tierDefaults } from './build.js'
import { deduplicated, existenceCached, partitioned, sharded } from './composed.js'
import { zstdStore } from './kinds/compression/zstd-store.js'
import { openFilesystem } from './kinds/filesystem/open.js'

const directory = (message: DirectoryInput): DirectoryBytes => {
  const bytes = encodeDirectory(message)
  return { digest: digestOf(bytes), bytes }
}
const leaf = directory({ symlinks: [{ name: 'link', target: 'x' }] })
const root = directory({ directories: [{ name: 'd', digest: leaf.digest.toMessage() }] })

/** A server whose trees arrive a Directory at a time. */
class Far extends ForwardingStore {
  failure: StatusError | undefined
  reads = 0
  readonly trees: FarTrees = {
    read: async (_root, take) => {
      this.reads += 1
      if (this.failure !== undefined) throw this.failure
      for (const one of [root, leaf]) await take([one])
    },
  }
}

const passing: Readonly<Record<string, (far: Store) => Promise<Store>>> = {
  verify: (backend) =>
    buildStore(verify, { backend: given, verify_size: true, verify_hash: true }, { children: { backend } }),
  cache_metrics: (backend) => buildStore(cacheMetrics, { backend: given, cache_type: 'x' }, { children: { backend } }),
  existence_cache: (backend) => existenceCached(backend),
}

const hiding: Readonly<Record<string, (far: Store) => Promise<Store> | Store>> = {
  compression: (backend) => zstdStore(backend),
  dedup: async (backend) => deduplicated(await memoryStore(), backend),
  shard: async (backend) => sharded([backend, await memoryStore()], [1, 1]),
  size_partitioning: async (backend) => partitioned(backend, await memoryStore()),
  'an isolated instance': (backend) => isolatedView(backend, 'tenant'),
}

const tiers = async (slow: Store, away: 'fail' | 'serve_fast', clock = new ManualClock(1e12)) => {
  const { store: fast, close } = await openFilesystem(t.testdir())
  const options = { ...tierDefaults, fast: given, slow: given, when_slow_is_away: away }
  return { fast, close, store: await buildStore(fastSlow, options, { children: { fast, slow }, clock }) }
}

for (const [name, wrap] of Object.entries(passing)) {
  for (const away of ['fail', 'serve_fast'] as const) {
    t.test(`a tree is fetched at once through ${name} (when_slow_is_away: ${away})`, async (t) => {
      const far = new Far(await memoryStore())
      const { store, fast, close } = await tiers(await wrap(far), away)
      t.teardown(close)
      const arrived: DirectoryBytes[] = []
      await store.files?.populateTree?.(root.digest, call, (directories) => arrived.push(...directories))
      t.same(arrived, [root, leaf])
      for (const { digest } of [root, leaf]) t.ok(await isPresent(fast, digest))
      await store.files?.populateTree?.(root.digest, call)
      t.equal(far.reads, 1, 'it is here already')
    })
  }
}

for (const [name, wrap] of Object.entries(hiding)) {
  t.test(`${name} does not pass on trees of its backend, which are not its own`, async (t) => {
    t.equal((await wrap(new Far(await memoryStore()))).trees, undefined)
  })
}

t.test('a server without GetTree is not away', async (t) => {
  const far = new Far(await memoryStore())
  const { store, close } = await tiers(far, 'serve_fast')
  t.teardown(close)
  far.failure = new StatusError('UNIMPLEMENTED', 'no GetTree')
  await store.files?.populateTree?.(root.digest, call)
  t.match(await store.health(call), { state: 'Ok' })
})
