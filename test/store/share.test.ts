import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { internalCall } from '../../src/rpc/call.js'
import { asCas } from '../../src/store/view/cas.js'
import { isolatedView } from '../../src/store/view/isolated.js'
import { SharedStore } from '../../src/store/view/quota.js'
import { Blob } from '../../src/stream/blob/blob.js'
import { bytesOf, digestOf, get, isPresent, put } from './blobs.js'
import { memoryStore } from './build.js'
import { rejects, storeSuite } from './suite.js'

const call = internalCall()
const blob = (seed: string, sizeBytes = 100) => {
  const bytes = bytesOf(sizeBytes, seed)
  return { bytes, digest: digestOf(bytes) }
}

const open = async (maxBytes = 350) => {
  const shared = asCas(await memoryStore())
  const clock = new ManualClock(1_700_000_000_000)
  const storeOf = (instanceName: string) =>
    new SharedStore(isolatedView(shared, instanceName), { instanceName, maxBytes, clock })
  return { a: storeOf('a'), b: storeOf('b'), storeOf }
}

storeSuite(t, {
  name: 'the share of an instance of memory',
  isBrief: true,
  open: async () => ({ store: (await open(1024 ** 3)).a, close: async () => {} }),
  isPersistent: false,
  checksUploads: true,
  runs: 3,
})

t.test('beyond its share an instance loses its own least recently used blobs, and no others', async (t) => {
  const { a, b } = await open()
  const [first, second, third, fourth] = ['1', '2', '3', '4'].map((seed) => blob(seed)) as [Made, Made, Made, Made]
  for (const { digest, bytes } of [first, second, third]) await put(a, digest, bytes)
  await put(b, first.digest, first.bytes)
  t.ok((await get(a, first.digest)).equals(first.bytes))
  await put(a, fourth.digest, fourth.bytes)
  await a.settled()
  t.notOk(await isPresent(a, second.digest), 'the one that was not used')
  for (const { digest } of [first, third, fourth]) t.ok(await isPresent(a, digest))
  t.ok(await isPresent(b, first.digest), 'others keep what is theirs')
})

t.test('blobs from before the start count as soon as they are used', async (t) => {
  const { a, storeOf } = await open()
  const blobs = ['1', '2', '3'].map((seed) => blob(seed))
  for (const { digest, bytes } of blobs) await put(a, digest, bytes)
  const later = storeOf('a')
  for (const { digest } of blobs) t.ok(await isPresent(later, digest))
  const more = blob('4')
  await put(later, more.digest, more.bytes)
  await later.settled()
  t.equal((await Promise.all(blobs.map(({ digest }) => isPresent(later, digest)))).filter((is) => is).length, 2)
})

t.test('a blob larger than the share is rejected with the bound', async (t) => {
  const { a } = await open()
  const [large, small] = [blob('large', 351), blob('small', 350)]
  const message = /no room for 351 bytes.*instance "a" may keep 350 bytes in this store/
  await t.rejects(put(a, large.digest, large.bytes), { code: 8, message })
  const outcomes = await a.putAll(
    [large, small].map(({ digest, bytes }) => ({ digest, blob: Blob.ofBytes(bytes) })),
    call,
  )
  t.match(outcomes, [{ code: 8, message }, undefined], 'of many the others are kept')
  t.ok(await isPresent(a, small.digest))
  await rejects(t, a.get(large.digest, { offset: 0, limit: 1 }, call), 'NOT_FOUND')
})

t.test('uploads in flight are bounded by the share too, and a failed one frees its room', async (t) => {
  const { a } = await open()
  const [wrong, right] = [blob('w', 300), blob('r', 300)]
  const failing = a.put(wrong.digest, Blob.ofBytes(right.bytes), call)
  await t.rejects(put(a, right.digest, right.bytes), { code: 8, message: /beside 300 that are coming/ })
  await t.rejects(failing, { code: 3 })
  await put(a, right.digest, right.bytes)
  t.ok(await isPresent(a, right.digest))
})

type Made = ReturnType<typeof blob>
