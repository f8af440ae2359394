import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ManualClock, systemClock } from '../../../../src/base/clock.js'
import { missingOf, putBytes } from '../../../../src/blobs/store.js'
import { Invocations } from '../../../../src/rpc/invocations.js'
import type { SharedStore } from '../../../../src/store/contract/kind.js'
import { draftsOf } from '../../../../src/store/kinds/filesystem/records/drafts.js'
import { bytesOf, call, digestOf, get } from '../../blobs.js'
import { type FilesystemParts, openFilesystem } from './open.js'

/** A file store, and what a service thread has of it. */
const openShared = async (folder: string, parts: FilesystemParts = {}) => {
  const shares: SharedStore[] = []
  const threads = { threadCount: 1, register: (store: SharedStore) => void shares.push(store) }
  const opened = await openFilesystem(folder, { ...parts, threads })
  const [share] = shares
  if (share === undefined) throw new Error('a file store registers what threads use')
  const commit = (blobs: readonly Buffer[], claimant = {}) =>
    share.commitSmall(draftsOf(blobs.map((bytes) => ({ digest: digestOf(bytes), bytes }))), claimant)
  return { ...opened, commit }
}

t.test(
  'small blobs of one message are found and read, the empty and the repeated too, also after kill -9',
  async (t) => {
    const folder = t.testdir()
    const { store, commit, close } = await openShared(join(folder, 'a'))
    t.teardown(close)
    const one = bytesOf(1000, 'one')
    const blobs = [one, Buffer.alloc(0), bytesOf(64, 'two'), one, bytesOf(8, 'three')]
    t.same(await commit(blobs), [])
    for (const bytes of blobs) t.same(await get(store, digestOf(bytes)), bytes)
    await cp(join(folder, 'a'), join(folder, 'killed'), { recursive: true, filter: (path) => !path.endsWith('/lock') })
    const after = await openFilesystem(join(folder, 'killed'))
    t.teardown(after.close)
    for (const bytes of blobs) t.same(await get(after.store, digestOf(bytes)), bytes)
  },
)

t.test('a small blob that another call is storing is stored after it', async (t) => {
  const { store, commit, close } = await openShared(t.testdir())
  t.teardown(close)
  const [one, two] = [bytesOf(100, 'one'), bytesOf(100, 'two')] as const
  const storing = putBytes(store, digestOf(one), one, call)
  const [refused] = await Promise.all([commit([two, one]), storing])
  t.same(refused, [])
  t.same(await missingOf(store, [digestOf(one), digestOf(two)], call), [])
})

t.test('a small blob without room is refused by its place, and those beside it are stored', async (t) => {
  const policy = { max_bytes: 40_000 }
  const clock = new ManualClock(1_000_000_000_000)
  const parts = { policy, clock, retention: 600, when_full: 'refuse' } as const
  const { store, commit, close } = await openShared(t.testdir(), parts)
  t.teardown(close)
  const [large, small, other] = [bytesOf(20_000, 'large'), bytesOf(100, 'small'), bytesOf(25_000, 'other')] as const
  t.same(await commit([small]), [])
  t.same(await commit([large]), [])
  const refused = await commit([small, other])
  t.match(refused, [{ at: 1, error: { code: 8, message: /25000 bytes of blob .* of 40000 are promised/ } }])
  t.same(await missingOf(store, [large, small, other].map(digestOf), call), [digestOf(other)])
})

t.test('what a build uploads by a thread is held for it', async (t) => {
  const clock = new ManualClock(1_000_000_000_000)
  const invocations = new Invocations(clock)
  const parts = { policy: { max_bytes: 200_000 }, clock, retention: 600, invocations }
  const { usage, commit, close } = await openShared(t.testdir(), parts)
  t.teardown(close)
  await commit([bytesOf(1000, 'a')])
  t.equal(usage().promised?.heldBytes, 0)
  await commit([bytesOf(1000, 'b'), bytesOf(500, 'c')], { invocation: invocations.touch('build') })
  t.ok((usage().promised?.heldBytes ?? 0) >= 1500)
})

t.test('a store that closes refuses small blobs of threads', async (t) => {
  const { commit, close } = await openShared(t.testdir(), { clock: systemClock })
  const begun = commit([bytesOf(100, 'one')])
  const closing = close()
  t.match(await commit([bytesOf(100, 'two'), bytesOf(100, 'three')]), [
    { at: 0, error: { code: 14, message: /the store is closed/ } },
    { at: 1, error: { code: 14 } },
  ])
  t.same(await begun, [])
  await closing
})
