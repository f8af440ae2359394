import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { Code } from '../../../../src/base/status-error.js'
import { keep, missingOf, outcomeOf, putBytes, type Store } from '../../../../src/blobs/store.js'
import { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import { internalCall } from '../../../../src/rpc/call.js'
import { Invocations } from '../../../../src/rpc/invocations.js'
import { fastSlow } from '../../../../src/store/kinds/fast_slow/kind.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, isPresent } from '../../blobs.js'
import { buildStore, given, memoryStore, tierDefaults } from '../../build.js'
import { openFilesystem } from './open.js'

const MINUTE_MS = 60_000
const policy = { max_bytes: 10_000 }
const [one, two] = ['one', 'two'].map((seed) => bytesOf(6000, seed)) as [Buffer, Buffer]
/** Each blob is a file. */
const options = { policy, retention: 600, small_blob_size: 0 }

t.test('the retention survives a restart, counted from the last use', async (t) => {
  const clock = new ManualClock(1_000_000_000_000)
  const folder = t.testdir()
  const parts = { ...options, when_full: 'refuse', clock } as const
  const before = await openFilesystem(folder, parts)
  await putBytes(before.store, digestOf(one), one, call)
  clock.advance(9 * MINUTE_MS)
  t.ok(await isPresent(before.store, digestOf(one)))
  await before.close()

  const after = await openFilesystem(folder, parts)
  t.teardown(() => after.close())
  clock.advance(9 * MINUTE_MS)
  const refused = await outcomeOf(putBytes(after.store, digestOf(two), two, call))
  t.match(refused, { code: Code.RESOURCE_EXHAUSTED, message: /6000 bytes of 10000 are promised.*raise max_bytes/ })
  clock.advance(3 * MINUTE_MS)
  await putBytes(after.store, digestOf(two), two, call)
  t.ok(await isPresent(after.store, digestOf(two)))
  t.equal(after.usage().promised?.brokenCount, 0)
})

/** Uploads a blob for which there is no room beside `one`, and lets the store evict. */
const flood = async (store: Store): Promise<void> => {
  await putBytes(store, digestOf(two), two, call)
  for (let turn = 0; turn < 100; turn++) await setImmediate()
}

t.test('a promise alone loses the input of an action when there is no room; a lease does not', async (t) => {
  for (const isLeased of [false, true]) {
    const opened = await openFilesystem(t.testdir(), options)
    t.teardown(() => opened.close())
    const { store } = opened
    await putBytes(store, digestOf(one), one, call)
    t.equal((await keep(store, DigestBatch.of([digestOf(one)]), 24 * 60 * MINUTE_MS, call)).count, 0)
    if (isLeased) await store.files?.lease([digestOf(one)], call)
    await flood(store)
    if (!isLeased) await until(() => opened.usage().promised?.brokenCount === 1, 'a broken promise')
    const located = await store.files?.locate(digestOf(one), false).then(
      () => 'there',
      ({ code }) => code,
    )
    t.equal(located, isLeased ? 'there' : Code.NOT_FOUND)
  }
})

t.test('tiers keep a promise in slow, and the file that an action links is in fast', async (t) => {
  for (const isLeased of [false, true]) {
    // As the builder opens a store of copies.
    const opened = await openFilesystem(t.testdir(), { ...options, retention: 0 })
    t.teardown(() => opened.close())
    const tiers = await buildStore(
      fastSlow,
      { ...tierDefaults, fast: given, slow: given },
      { children: { fast: opened.store, slow: await memoryStore() } },
    )
    await putBytes(tiers, digestOf(one), one, call)
    t.equal((await keep(tiers, DigestBatch.of([digestOf(one)]), 24 * 60 * MINUTE_MS, call)).count, 0)
    if (isLeased) await tiers.files?.lease([digestOf(one)], call)
    await flood(tiers)
    if (!isLeased) await until(() => opened.usage().entryCount === 1, 'an eviction')
    t.ok(await isPresent(tiers, digestOf(one)), 'the promise is kept')
    t.equal(await isPresent(opened.store, digestOf(one)), isLeased, 'the file is there for a lease only')
  }
})

t.test('a lease does not survive a restart', async (t) => {
  const clock = new ManualClock(1_000_000_000_000)
  const folder = t.testdir()
  const invocations = new Invocations(clock)
  const ofBuild = { ...internalCall(), invocation: invocations.touch('build') }
  const before = await openFilesystem(folder, { ...options, policy: { max_bytes: 30_000 }, clock, invocations })
  await putBytes(before.store, digestOf(one), one, ofBuild)
  t.equal(before.usage().promised?.heldBytes, 6000)
  await before.close()
  const after = await openFilesystem(folder, { ...options, policy: { max_bytes: 30_000 }, clock })
  t.teardown(() => after.close())
  t.equal(after.usage().promised?.heldBytes, 0)
  t.equal(after.usage().promised?.promisedBytes, 6000)
})

t.test(
  'a restart in the middle of a build: what was used in the ten minutes before goes last in the ten minutes after',
  async (t) => {
    const clock = new ManualClock(1_000_000_000_000)
    const folder = t.testdir()
    const parts = { ...options, policy: { max_bytes: 40_000 }, clock }
    const flood = Array.from({ length: 8 }, (_, at) => bytesOf(6000, `flood ${at}`))
    const before = await openFilesystem(folder, parts)
    await putBytes(before.store, digestOf(two), two, call)
    clock.advance(11 * MINUTE_MS)
    await putBytes(before.store, digestOf(one), one, call)
    await before.close()

    clock.advance(MINUTE_MS)
    const after = await openFilesystem(folder, parts)
    t.teardown(() => after.close())
    for (const bytes of flood) await putBytes(after.store, digestOf(bytes), bytes, call)
    t.same(await missingOf(after.store, [digestOf(one), digestOf(two)], call), [digestOf(two)])
    clock.advance(11 * MINUTE_MS)
    for (const bytes of flood) await putBytes(after.store, digestOf(bytes), bytes, call)
    t.notOk(await isPresent(after.store, digestOf(one)))
  },
)

t.test('an eviction in flight and a question never meet: what was found stays, what is gone was missing', async (t) => {
  const clock = new ManualClock(1_000_000_000_000)
  const { store, usage, close } = await openFilesystem(t.testdir(), {
    ...options,
    policy: { max_bytes: 100_000 },
    clock,
  })
  t.teardown(close)
  const blobs = Array.from({ length: 16 }, (_, at) => bytesOf(6000, `old ${at}`))
  // The oldest, so that eviction begins with them.
  const asked = blobs.slice(0, 6).map(digestOf)
  const foundCounts = new Set<number>()
  for (let turns = 0; turns < 40; turns++) {
    for (const bytes of blobs) await putBytes(store, digestOf(bytes), bytes, call)
    clock.advance(20 * MINUTE_MS)
    // Each of these evicts an old blob: some before the question, the others while it comes so many turns later.
    const flood = Array.from({ length: 8 }, (_, at) => bytesOf(6000, `new ${turns} ${at}`))
    const beforehand = turns % 8
    for (const bytes of flood.slice(0, beforehand)) await putBytes(store, digestOf(bytes), bytes, call)
    const uploads = flood.slice(beforehand).map((bytes) => putBytes(store, digestOf(bytes), bytes, call))
    for (let turn = 0; turn < turns / 8; turn++) await setImmediate()
    const missing = new Set((await missingOf(store, asked, call)).map(({ key }) => key))
    const found = asked.filter(({ key }) => !missing.has(key))
    foundCounts.add(found.length)
    await Promise.all(uploads)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    t.same(await missingOf(store, found, call), [], `${turns} turns: ${found.length} were found`)
    t.equal(usage().promised?.brokenCount, 0)
    clock.advance(20 * MINUTE_MS)
  }
  t.ok(foundCounts.size > 2, `the question met evictions: ${[...foundCounts]}`)
})
