import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { missingOf, putBytes, type Store } from '../../../../src/blobs/store.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import { bytesOf, call, digestOf } from '../../blobs.js'
import { memoryStore } from '../../build.js'
import { sharded } from '../../composed.js'
import { rejects, storeSuite } from '../../suite.js'

storeSuite(t, {
  name: 'shard over memory',
  isBrief: true,
  open: async () => ({
    store: await sharded([await memoryStore(), await memoryStore(), await memoryStore()], [1, 2, 0]),
    close: async () => {},
  }),
  isPersistent: false,
})

const DIGESTS = Array.from({ length: 4000 }, (_, i) =>
  Digest.parse({ hash: createHash('sha256').update(`${i}`).digest('hex'), sizeBytes: i }, digestFunctions.SHA256),
)

/** The store of each digest in a shard with these weights. */
const placesOf = async (weights: readonly number[], digests: readonly Digest[] = DIGESTS): Promise<number[]> => {
  const stores: Store[] = []
  for (const _ of weights) stores.push(await memoryStore())
  const store = await sharded(stores, weights)
  for (const digest of digests) await putBytes(store, digest, Buffer.from('x'), call)
  const places = new Map<string, number>()
  for (const [place, part] of stores.entries()) {
    const missing = new Set((await missingOf(part, digests, call)).map(({ key }) => key))
    for (const { key } of digests) if (!missing.has(key)) places.set(key, place)
  }
  return digests.map(({ key }) => places.get(key) ?? -1)
}

const weights = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 })
  .filter((list) => list.some(Boolean))

const sum = (list: readonly number[]): number => list.reduce((total, each) => total + each, 0)

t.test('every store gets its share', async (t) => {
  const holds = fc.asyncProperty(weights, async (list) => {
    const places = await placesOf(list)
    return list.every((weight, store) => {
      const share = places.filter((place) => place === store).length / places.length
      // 4,000 digests: five standard deviations are 4 %.
      return weight === 0 ? share === 0 : Math.abs(share - weight / sum(list)) < 0.04
    })
  })
  await t.resolves(fc.assert(holds, { numRuns: 10 }))
})

t.test('an added store takes its share, and nothing moves between the others', async (t) => {
  const holds = fc.asyncProperty(weights, fc.integer({ min: 1, max: 9 }), async (list, added) => {
    const before = await placesOf(list)
    const after = await placesOf([...list, added])
    const moved = after.filter((place, i) => place !== before[i])
    const expected = added / (sum(list) + added)
    return moved.every((place) => place === list.length) && Math.abs(moved.length / after.length - expected) < 0.04
  })
  await t.resolves(fc.assert(holds, { numRuns: 10 }))
})

t.test('a changed weight moves blobs only to or from that store', async (t) => {
  const holds = fc.asyncProperty(weights, fc.nat(5), fc.integer({ min: 0, max: 9 }), async (list, at, weight) => {
    const store = at % list.length
    const changed = list.map((old, index) => (index === store ? weight : old))
    if (!changed.some(Boolean)) return true
    const before = await placesOf(list)
    const after = await placesOf(changed)
    const isMore = weight > (list[store] ?? 0)
    return after.every((place, i) => place === before[i] || (isMore ? place : before[i]) === store)
  })
  await t.resolves(fc.assert(holds, { numRuns: 10 }))
})

t.test('digests of every function spread, and a key goes where its digest goes', async (t) => {
  for (const digestFunction of Object.values(digestFunctions)) {
    const digests = Array.from({ length: 300 }, (_, i) => Digest.of(Buffer.from(`${i}`), digestFunction))
    const places = await placesOf([1, 1], digests)
    const share = places.filter((place) => place === 0).length / places.length
    t.ok(share > 0.35 && share < 0.65, `${digestFunction.name}: ${share}`)
    t.same(
      await placesOf(
        [1, 1],
        digests.map((digest) => digest.asKey()),
      ),
      places,
    )
  }
})

t.test('the store of a digest does not change between versions', async (t) => {
  t.same((await placesOf([1, 2, 3])).slice(0, 24).join(''), '101201002200010221012222')
})

t.test('weights that leave no store are rejected', async (t) => {
  await rejects(t, sharded([await memoryStore()], [0]), 'INVALID_ARGUMENT')
})

t.test('a missing store affects only its own blobs', async (t) => {
  const stores = [await memoryStore(), await memoryStore()]
  const store = await sharded(stores, [1, 1])
  const blobs = Array.from({ length: 30 }, (_, i) => bytesOf(100, `${i}`))
  for (const bytes of blobs) await putBytes(store, digestOf(bytes), bytes, call)
  const held = await missingOf(stores[1] as Store, blobs.map(digestOf), call)
  t.ok(held.length > 5 && held.length < 25)
  const [broken] = stores
  if (broken === undefined) return
  broken.health = async () => ({ state: 'Failed', message: 'is gone', error: 'refused' })
  t.match(await store.health(call), { state: 'Failed', message: '0: is gone' })
})
