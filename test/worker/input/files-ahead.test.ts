/** Inputs of a worker whose store has another server behind it: in flight side by side, within the bounds of the ledger. */
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LruCache } from '../../../src/base/lru-cache.js'
import { ForwardingStore } from '../../../src/blobs/forwarding.js'
import type { DirectoryBytes, FarTrees, Store } from '../../../src/blobs/store.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import type { DirectoryInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import { type Call, internalCall } from '../../../src/rpc/call.js'
import { fastSlow } from '../../../src/store/kinds/fast_slow/kind.js'
import { asCas } from '../../../src/store/view/cas.js'
import type { Blob } from '../../../src/stream/blob/blob.js'
import type { Range } from '../../../src/stream/path.js'
import { leaseInputs } from '../../../src/worker/input/lease.js'
import { readInputTree } from '../../../src/worker/input/tree.js'
import { bytesOf, digestOf, isPresent, put } from '../../store/blobs.js'
import { buildStore, given, memoryStore, tierDefaults } from '../../store/build.js'
import { openFilesystem } from '../../store/kinds/filesystem/open.js'
import { until } from '../../until.js'

/** A far server that sends the pages of its tree one by one, when the test lets it. */
class Far extends ForwardingStore {
  readonly asked: string[] = []
  pages: readonly (readonly DirectoryBytes[])[] = []
  beforePage: (at: number) => Promise<void> = async () => {}
  readonly trees: FarTrees = {
    read: async (_root, take) => {
      for (const [at, page] of this.pages.entries()) {
        await this.beforePage(at)
        await take(page)
      }
    },
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    this.asked.push(digest.key)
    return super.get(digest, range, call)
  }
}

const setUp = async (t: Test) => {
  const far = new Far(await memoryStore())
  const { store: fast, close } = await openFilesystem(t.testdir())
  t.teardown(close)
  const children = { fast, slow: far as Store }
  const store = asCas(await buildStore(fastSlow, { ...tierDefaults, fast: given, slow: given }, { children }))
  const keep = async (bytes: Buffer): Promise<DirectoryBytes> => {
    await put(far, digestOf(bytes), bytes)
    return { digest: digestOf(bytes), bytes }
  }
  const directory = (message: DirectoryInput) => keep(encodeDirectory(message))
  const below = async (name: string, { digest }: DirectoryBytes) =>
    directory({ directories: [{ name, digest: digest.toMessage() }] })
  return { far, fast, store, keep, directory, below }
}

t.test('files of the first page of a tree arrive before the second page', async (t) => {
  const { far, fast, store, keep, directory, below } = await setUp(t)
  const [early, late] = [await keep(bytesOf(1000, 'early')), await keep(bytesOf(100_000, 'late'))]
  const deepest = await directory({ files: [{ name: 'late', digest: late.digest.toMessage() }] })
  const parent = await directory({
    files: [{ name: 'early', digest: early.digest.toMessage() }],
    directories: [{ name: 'e', digest: deepest.digest.toMessage() }],
  })
  const root = await below('b', await below('c', parent))
  far.pages = [[parent], [deepest]]
  let isEarly = false
  far.beforePage = async (at) => {
    if (at === 0) return
    await until(() => isPresent(fast, early.digest), 'the file of the first page')
    isEarly = true
  }
  const call = internalCall()
  const tree = await readInputTree(root.digest, store, new LruCache(1 << 20), call)
  t.ok(isEarly)
  t.same(
    tree.files.map(({ path }) => path),
    ['b/c/early', 'b/c/e/late'],
  )
  const lease = await leaseInputs(tree, store, call)
  for (const { digest } of [early, late]) {
    t.ok(await isPresent(fast, digest))
    t.equal(far.asked.filter((key) => key === digest.key).length, 1, 'it was fetched once')
  }
  lease.release()
})

t.test('a file that exists nowhere is told by the attempt, whatever was fetched ahead', async (t) => {
  const { far, store, directory, below } = await setUp(t)
  const lost = digestOf(bytesOf(1000, 'lost'))
  const parent = await directory({ files: [{ name: 'lost', digest: lost.toMessage() }] })
  const root = await below('b', await below('c', parent))
  far.pages = [[parent]]
  const tree = await readInputTree(root.digest, store, new LruCache(1 << 20), internalCall())
  await t.rejects(leaseInputs(tree, store, internalCall()), { code: 9 })
})

t.test('small inputs wait for room in the ledger, and give it back', async (t) => {
  const { far, store, keep } = await setUp(t)
  const blobs = await Promise.all(Array.from({ length: 40 }, (_, at) => keep(bytesOf(1000, `${at}`))))
  const ledger = new Ledger()
  const { inputs } = ledger.kinds
  const holder = ledger.attempt()
  const call = internalCall({ held: { ledger, holder } })
  const all = inputs.reserveOrThrow(holder, inputs.boundOf(holder))
  const leasing = leaseInputs({ blobs: blobs.map(({ digest }) => digest), missing: [] }, store, call)
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  t.same(far.asked, [])
  all.release()
  const lease = await leasing
  t.equal(far.asked.length, 40)
  t.equal(inputs.heldBytes, 0)
  lease.release()
})

t.test('an attempt that is killed while it waits for room leaves nothing reserved', async (t) => {
  const { store, keep } = await setUp(t)
  const { digest } = await keep(bytesOf(1000))
  const ledger = new Ledger()
  const { inputs } = ledger.kinds
  const holder = ledger.attempt()
  const killed = new AbortController()
  const call = internalCall({ held: { ledger, holder }, signal: killed.signal })
  const all = inputs.reserveOrThrow(holder, inputs.boundOf(holder))
  const leasing = leaseInputs({ blobs: [digest], missing: [] }, store, call)
  const waits = until(() => inputs.limitedCount > 0, 'the wait for room')
  await waits
  killed.abort()
  await t.rejects(leasing, { code: 1 })
  all.release()
  t.equal(inputs.heldBytes, 0)
})
