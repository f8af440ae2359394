import t from 'tap'
import { missingOf, type StoreProperties } from '../../../../src/blobs/store.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { bytesOf, call, digestOf, get, isPresent, put, putAll } from '../../blobs.js'
import { memoryStore } from '../../build.js'
import { partitioned } from '../../composed.js'
import { ContractDouble } from '../../double.js'
import { rejects, storeSuite } from '../../suite.js'
import { Watched } from '../../watched.js'

storeSuite(t, {
  name: 'size_partitioning over memory',
  isBrief: true,
  open: async () => ({ store: await partitioned(await memoryStore(), await memoryStore()), close: async () => {} }),
  isPersistent: false,
})

const keys = (digests: readonly Digest[]): string[] => digests.map(({ key }) => key)

t.test('a blob of the given size goes to upper_store, a smaller one to lower_store', async (t) => {
  const [lower, upper] = [await memoryStore(), await memoryStore()]
  const store = await partitioned(lower, upper, 1000)
  for (const [sizeBytes, holder, other] of [
    [0, lower, upper],
    [999, lower, upper],
    [1000, upper, lower],
    [5000, upper, lower],
  ] as const) {
    const bytes = bytesOf(sizeBytes)
    await put(store, digestOf(bytes), bytes)
    t.ok(await isPresent(holder, digestOf(bytes)), `${sizeBytes} bytes`)
    t.notOk(await isPresent(other, digestOf(bytes)))
    t.ok(await isPresent(store, digestOf(bytes)), 'and is asked for there')
  }
})

t.test('each store is asked once for missing blobs, and the answer keeps the order', async (t) => {
  const [lower, upper] = [new Watched(await memoryStore()), new Watched(await memoryStore())]
  const store = await partitioned(lower, upper, 1000)
  const blobs = Array.from({ length: 40 }, (_, i) => bytesOf(i % 2 === 0 ? 10 + i : 2000 + i, `${i}`))
  const kept = blobs.filter((_, i) => i % 5 === 0)
  const outcomes = await putAll(
    store,
    kept.map((bytes) => ({ digest: digestOf(bytes), bytes })),
  )
  t.ok(outcomes.every((outcome) => outcome === undefined))
  const missing = await missingOf(store, blobs.map(digestOf), call)
  t.same(keys(missing), keys(blobs.filter((_, i) => i % 5 !== 0).map(digestOf)))
  t.same(lower.questions, [keys(blobs.filter((_, i) => i % 2 === 0).map(digestOf))])
  t.same(upper.questions, [keys(blobs.filter((_, i) => i % 2 === 1).map(digestOf))])
  await missingOf(store, blobs.filter((_, i) => i % 2 === 0).map(digestOf), call)
  t.equal(upper.questions.length, 1, 'a store that can have none of them is not asked')
})

t.test('its health is that of the worse store, with its name', async (t) => {
  const lower = new Watched(await memoryStore())
  const store = await partitioned(lower, await memoryStore())
  t.match(await store.health(call), { state: 'Ok' })
  lower.health = async () => ({ state: 'Failed', message: 'is gone', error: 'refused' })
  t.match(await store.health(call), { state: 'Failed', message: 'lower_store: is gone', error: 'refused' })
})

t.test('a rejection by one store does not affect blobs of the other', async (t) => {
  const store = await partitioned(await memoryStore(), await memoryStore({ max_bytes: 1500 }), 1000)
  const [small, large] = [bytesOf(10), bytesOf(2000)]
  const outcomes = await putAll(
    store,
    [large, small].map((bytes) => ({ digest: digestOf(bytes), bytes })),
  )
  t.match(outcomes[0], { code: 8 })
  t.equal(outcomes[1], undefined)
  t.ok((await get(store, digestOf(small))).equals(small))
  await rejects(t, get(store, digestOf(large)), 'NOT_FOUND')
})

t.test('it announces what both stores do, and that lifetimes are extended if either extends them', async (t) => {
  const announced = async (
    lower: Partial<StoreProperties>,
    upper: Partial<StoreProperties>,
  ): Promise<StoreProperties> =>
    (await partitioned(new ContractDouble({ properties: lower }), new ContractDouble({ properties: upper }))).properties
  const none = {
    keepsNothing: false,
    encodings: [],
    checksCompleteness: false,
    detectsDamage: false,
    extendsLifetimes: false,
    findsByHash: false,
    retentionMs: 0,
    maxBlobBytes: Number.POSITIVE_INFINITY,
  }
  t.same(await announced({}, {}), none)
  for (const property of ['keepsNothing', 'checksCompleteness', 'extendsLifetimes'] as const) {
    const has = { [property]: true }
    t.equal((await announced(has, has))[property], true, property)
    const isEnough = property === 'extendsLifetimes'
    t.equal((await announced(has, {}))[property], isEnough, `${property} of lower_store`)
    t.equal((await announced({}, has))[property], isEnough, `${property} of upper_store`)
  }
})
