import { PassThrough } from 'node:stream'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { getBytes, missingOf, outcomeOf, putBytes } from '../../../../src/blobs/store.js'
import { noop } from '../../../../src/store/kinds/noop/kind.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { pour } from '../../../../src/stream/blob/pour.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, LentFeed, put, putLent, putStream, source } from '../../blobs.js'
import { buildStore, memoryStore } from '../../build.js'
import { rejects, storeSuite } from '../../suite.js'

storeSuite(t, {
  name: 'memory',
  open: async () => ({ store: await memoryStore(), close: async () => {} }),
  isPersistent: false,
})

const blob = (i: number) => {
  const bytes = bytesOf(1000, `blob ${i}`)
  return { bytes, digest: digestOf(bytes) }
}

const present = async (store: Awaited<ReturnType<typeof memoryStore>>, count: number): Promise<number[]> => {
  const all = Array.from({ length: count }, (_, i) => i)
  const missing = new Set(
    (
      await missingOf(
        store,
        all.map((i) => blob(i).digest),
        call,
      )
    ).map(({ key }) => key),
  )
  return all.filter((i) => !missing.has(blob(i).digest.key))
}

t.test('above max_bytes the least recently used are evicted, down to evict_bytes below it', async (t) => {
  const store = await memoryStore({ max_bytes: 10_000, evict_bytes: 3000 })
  for (let i = 0; i < 10; i++) await put(store, blob(i).digest, blob(i).bytes)
  t.ok(await isPresent(store, blob(0).digest), 'all fit, and asking counts as use')
  await get(store, blob(1).digest)
  await put(store, blob(10).digest, blob(10).bytes)
  t.same(await present(store, 11), [0, 1, 6, 7, 8, 9, 10])
})

t.test('max_count bounds the entries', async (t) => {
  const store = await memoryStore({ max_count: 3 })
  for (let i = 0; i < 5; i++) await put(store, blob(i).digest, blob(i).bytes)
  t.same(await present(store, 5), [2, 3, 4])
})

t.test('blobs unused for max_seconds are evicted, even in an idle store', async (t) => {
  const clock = new ManualClock(1_000_000)
  const store = await memoryStore({ max_seconds: 60 }, clock)
  await put(store, blob(0).digest, blob(0).bytes)
  await put(store, blob(1).digest, blob(1).bytes)
  clock.advance(40_000)
  await get(store, blob(1).digest)
  clock.advance(30_000)
  const { message } = await store.health(call)
  t.equal(message, 'keeps 1 blob of 1 kB')
  t.same(await present(store, 2), [1])
})

t.test('a blob larger than max_bytes is rejected before it has arrived completely', async (t) => {
  const store = await memoryStore({ max_bytes: 100_000, evict_bytes: 90_000 })
  await put(store, blob(0).digest, blob(0).bytes)
  const large = bytesOf(100_001)
  await rejects(t, put(store, digestOf(large), large), 'RESOURCE_EXHAUSTED')
  t.same(await present(store, 1), [0], 'nothing was evicted for it')
  const fits = bytesOf(100_000)
  await put(store, digestOf(fits), fits)
  t.ok((await get(store, digestOf(fits))).equals(fits), 'a blob that just fits can be read, whatever evict_bytes is')
})

t.test('uploads in flight together hold no more memory than a third above max_bytes', async (t) => {
  const store = await memoryStore({ max_bytes: 1_000_000 })
  const uploads = Array.from({ length: 8 }, (_, i) => {
    const bytes = bytesOf(600_000, `under way ${i}`)
    const feed = new PassThrough()
    const putting = outcomeOf(store.put(digestOf(bytes), Blob.ofPath([feed]), call))
    return { bytes, feed, putting }
  })
  for (const { bytes, feed } of uploads) feed.write(bytes.subarray(0, 400_000))
  await until(async () => uploads.filter(({ feed }) => feed.destroyed).length === 5)
  for (const { feed } of uploads.slice(0, 3)) feed.end()
  const outcomes = await Promise.all(uploads.map(({ putting }) => putting))
  t.same(
    outcomes.map((outcome) => outcome?.code),
    [undefined, undefined, undefined, 8, 8, 8, 8, 8],
  )
  const again = bytesOf(900_000, 'afterwards')
  await put(store, digestOf(again), again)
  t.ok((await get(store, digestOf(again))).equals(again), 'what they held was given back')
})

t.test('keeps no more memory than the bytes of its blobs', async (t) => {
  const store = await memoryStore()
  const frame = Buffer.alloc(4 * 1024 * 1024, 'frame')
  const part = frame.subarray(1000, 1100)
  await putBytes(store, digestOf(part), part, call)
  const found = await getBytes(store, digestOf(part), 100, call)
  t.equal(found.buffer.byteLength, 100, 'a slice of a message does not keep the message')
  frame.fill(0)
  t.equal(found.toString(), Buffer.alloc(4096, 'frame').subarray(1000, 1100).toString())
})

t.test('keeps immutable bytes that fill their memory, and copies the others', async (t) => {
  const store = await memoryStore()
  const [own, small] = [Buffer.allocUnsafeSlow(100_000), Buffer.allocUnsafeSlow(1000)]
  own.fill('own')
  small.fill('small')
  const slice = Buffer.alloc(300_000, 'slice').subarray(1)
  const bytes = Buffer.concat([small, own, slice, own, small])
  const digest = digestOf(bytes)
  await store.put(digest, Blob.ofPath([source([small, own, slice, own, small])]).immutable(), call)
  const form = await (await store.get(digest, WHOLE, call)).take()
  const memories: ArrayBufferLike[] = []
  await pour(form, (chunk) => void memories.push(chunk.buffer), call.signal)
  t.equal(memories.filter((memory) => memory === own.buffer).length, 2)
  t.notOk(memories.includes(slice.buffer))
  t.notOk(memories.includes(small.buffer))
  const held = [...new Set(memories)].reduce((sum, memory) => sum + memory.byteLength, 0)
  t.equal(held, 2 * small.length + own.length + slice.length, 'and no more memory than the bytes')
  for (const [offset, limit] of [
    [0, 5],
    [990, 20],
    [1000, 100_000],
    [1001, 99_999],
    [100_500, 350_000],
    [bytes.length - 1001, 2000],
    [bytes.length, 1],
  ] as const)
    t.ok((await get(store, digest, { offset, limit })).equals(bytes.subarray(offset, offset + limit)), `from ${offset}`)

  const lent = new LentFeed([own, own])
  const twice = Buffer.concat([own, own])
  await putLent(store, digestOf(twice), lent)
  t.ok((await get(store, digestOf(twice))).equals(twice), 'what is lent is copied')
  await putStream(store, digest.asKey(), source([own, own]))
  own.fill(0)
  t.ok((await get(store, digest.asKey())).equals(twice), 'and bytes of streams, which their owner may overwrite')
})

t.test('noop accepts every blob and stores none', async (t) => {
  const store = await buildStore(noop, {})
  const { bytes, digest } = blob(0)
  await put(store, digest, bytes)
  t.equal(store.properties.keepsNothing, true)
  t.notOk(await isPresent(store, digest))
  await rejects(t, store.get(digest, WHOLE, call), 'NOT_FOUND')
  await store.remove(digest, 'unwanted', call)
  t.equal((await store.health(call)).state, 'Ok')
})
