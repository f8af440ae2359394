import { once } from 'node:events'
import t from 'tap'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import type { Store } from '../../../../src/blobs/store.js'
import type { FastSlowOptions } from '../../../../src/config/config.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import type { Call } from '../../../../src/rpc/call.js'
import { fastSlow } from '../../../../src/store/kinds/fast_slow/kind.js'
import { noop } from '../../../../src/store/kinds/noop/kind.js'
import { asCas } from '../../../../src/store/view/cas.js'
import { isolatedView } from '../../../../src/store/view/isolated.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { zstdCompress } from '../../../../src/stream/compression/zstd.js'
import { type Range, WHOLE } from '../../../../src/stream/path.js'
import { until } from '../../../until.js'
import { bytesOf, call, cut, digestOf, get, isPresent, put } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'
import { rejects } from '../../suite.js'
import { unpack, upload, wire, zstdStore } from '../compression/zstd-store.js'

const tiers = (fast: Store, slow: Store, options: Partial<FastSlowOptions> = {}): Promise<Store> => {
  const both = { fast_direction: 'both', slow_direction: 'both', bypass_dedup_threshold_bytes: 0 } as const
  return buildStore(fastSlow, { fast: given, slow: given, ...both, ...options }, { children: { fast, slow } })
}

class Counted extends ForwardingStore {
  reads = 0

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    this.reads += 1
    return super.get(digest, range, call)
  }
}

const nothing = (): Promise<Store> => buildStore(noop, {})
const zstdMemory = async (): Promise<Store> => zstdStore(await memoryStore())

const bytes = bytesOf(3_000_000)
const digest = digestOf(bytes)
// Different from the store's own encoding: one frame, not several.
const made = zstdCompress(bytes)
const wrong = zstdCompress(bytesOf(3_000_000, 'wrong'))

const frames = (content: Buffer, bytesEach: number): Buffer =>
  Buffer.concat(cut(content, [bytesEach]).map((part) => zstdCompress(part)))

const shapes = {
  'plain over zstd': async () => [await memoryStore(), await zstdMemory(), {}],
  'zstd over zstd': async () => [await zstdMemory(), await zstdMemory(), {}],
  'plain that takes nothing over zstd': async () => [
    await memoryStore(),
    await zstdMemory(),
    { fast_direction: 'get' },
  ],
  'plain over zstd that takes nothing': async () => [
    await memoryStore(),
    await zstdMemory(),
    { slow_direction: 'get' },
  ],
  'zstd over zstd that takes nothing': async () => [await zstdMemory(), await zstdMemory(), { slow_direction: 'get' }],
  'zstd over nothing': async () => [await zstdMemory(), await nothing(), {}],
} satisfies Record<string, () => Promise<[Store, Store, Partial<FastSlowOptions>]>>

for (const [name, open] of Object.entries(shapes)) {
  t.test(`compressed blobs through ${name}`, async (t) => {
    const [fast, slow, options] = await open()
    const store = asCas(await tiers(fast, slow, options))
    await rejects(t, wire(store, digest), 'NOT_FOUND')
    for (const body of [wrong, made.subarray(0, -1), bytes]) {
      await rejects(t, upload(store, digest, body), 'INVALID_ARGUMENT')
      for (const tier of [fast, slow])
        t.ok(slow.properties.keepsNothing || !(await isPresent(tier, digest)), 'leaves nothing')
    }
    await upload(store, digest, made)
    t.ok((await get(store, digest)).equals(bytes), 'up compressed, down plain')
    t.ok((await unpack(await wire(store, digest))).equals(bytes), 'down compressed')
  })
}

t.test('a compressed upload and read through tiers are not compressed again', async (t) => {
  const slow = await zstdMemory()
  const fast = await memoryStore()
  const store = await tiers(fast, slow)
  await upload(store, digest, made)
  t.ok((await get(fast, digest)).equals(bytes), 'fast has the blob itself')
  t.ok((await wire(slow, digest)).equals(made), 'slow has it as it came')
  t.ok((await wire(store, digest)).equals(made))
})

t.test('a compressed read fills a fast store that keeps blobs compressed too', async (t) => {
  const [fast, slow] = [await zstdMemory(), await zstdMemory()]
  const store = await tiers(fast, slow)
  await upload(slow, digest, made)
  const found = await Promise.all(Array.from({ length: 5 }, () => wire(store, digest)))
  for (const sent of found) t.ok((await unpack(sent)).equals(bytes))
  await until(() => isPresent(fast, digest))
  const kept = await wire(fast, digest)
  await slow.remove(digest, 'unwanted', call)
  t.ok((await wire(store, digest)).equals(kept), 'from fast, as it is kept there')
})

t.test(
  'the first reader of a blob that both tiers keep compressed gets the stored bytes, even if it lags',
  async (t) => {
    const [fast, slow] = [await zstdMemory(), await zstdMemory()]
    const store = await tiers(fast, slow)
    const large = bytesOf(24_000_000, 'large')
    const largeDigest = digestOf(large)
    const largeMade = frames(large, 6_000_000)
    await upload(slow, largeDigest, largeMade)
    const range = { ...WHOLE, wantedAs: 'ZSTD' } as const
    const [quick, lagging] = [await store.get(largeDigest, range, call), await store.get(largeDigest, range, call)]
    t.ok((await quick.as('ZSTD').bytes(1e9, call)).equals(largeMade), 'one that keeps up')
    await until(() => isPresent(fast, largeDigest))
    t.ok((await lagging.as('ZSTD').bytes(1e9, call)).equals(largeMade), 'one that begins when the copy is over')
  },
)

t.test('a lagging reader does not continue in another encoding of the blob', async (t) => {
  const [fast, slow] = [await zstdMemory(), await zstdMemory()]
  const store = await tiers(fast, slow)
  const large = bytesOf(24_000_000, 'large')
  const largeDigest = digestOf(large)
  await upload(slow, largeDigest, frames(large, 6_000_000))
  const lagging = (await store.get(largeDigest, { ...WHOLE, wantedAs: 'ZSTD' }, call)).as('ZSTD').path()
  const [source] = lagging
  const [first] = await once(source, 'data')
  source.pause()
  t.ok(first.length > 0)
  await until(() => isPresent(fast, largeDigest))
  await upload(slow, largeDigest, frames(large, 1_000_000))
  source.resume()
  const [error] = await once(source, 'error').catch((thrown: unknown) => [thrown])
  t.match(error, { message: /uploaded again/ })
})

t.test('a blob that both tiers keep compressed is copied as stored, and can be read plain meanwhile', async (t) => {
  const [fast, slow] = [await zstdMemory(), await zstdMemory()]
  const store = await tiers(fast, slow)
  const large = bytesOf(12_000_000, 'large')
  const largeDigest = digestOf(large)
  const largeMade = frames(large, 6_000_000)
  await upload(slow, largeDigest, largeMade)
  const lagging = await store.get(largeDigest, WHOLE, call)
  t.ok((await get(store, largeDigest)).equals(large), 'one that keeps up')
  await until(() => isPresent(fast, largeDigest))
  t.ok((await lagging.bytes(large.length, call)).equals(large), 'one that begins when the copy is over')
  t.ok((await wire(fast, largeDigest)).equals(largeMade), 'two frames, where an encoder makes more')
})

t.test('a wrong compressed blob in slow is not copied to fast', async (t) => {
  const [fast, slow] = [await zstdMemory(), await zstdMemory()]
  const store = await tiers(fast, slow)
  for (const other of [wrong, zstdCompress(bytes.subarray(1)), zstdCompress(Buffer.concat([bytes, bytes]))]) {
    await slow.put(digest, Blob.ofBytes(other, { encoding: 'ZSTD' }).as('IDENTITY'), call)
    await rejects(t, get(store, digest), 'DATA_LOSS')
    t.notOk(await isPresent(fast, digest))
  }
  await upload(slow, digest, made)
  t.ok((await get(store, digest)).equals(bytes), 'the blob itself')
})

t.test('a blob that only fast has can be read compressed', async (t) => {
  const fast = await memoryStore()
  const store = await tiers(fast, await zstdMemory())
  await put(fast, digest, bytes)
  t.ok((await unpack(await wire(store, digest))).equals(bytes))
})

t.test('a compressed upload that no tier accepts is rejected', async (t) => {
  const store = await tiers(await zstdMemory(), await nothing(), { fast_direction: 'get' })
  await rejects(t, upload(store, digest, made), 'PERMISSION_DENIED')
})

t.test('a slow store that keeps blobs plain announces no encoding', async (t) => {
  t.same((await tiers(await zstdMemory(), await memoryStore())).properties.encodings, [])
  t.same((await tiers(await memoryStore(), await nothing())).properties.encodings, [])
})

t.test('an isolated instance reads what both tiers keep compressed, plain and as stored', async (t) => {
  for (const wantedAs of [undefined, 'ZSTD'] as const) {
    const [fast, slow] = [await zstdMemory(), await zstdMemory()]
    await upload(isolatedView(slow, 'team'), digest, made)
    const store = isolatedView(await tiers(fast, slow), 'team')
    const blob = await store.get(digest, { ...WHOLE, wantedAs }, call)
    t.ok((await blob.as('IDENTITY', bytes.length).bytes(bytes.length, call)).equals(bytes), wantedAs ?? 'plain')
    await until(() => isPresent(isolatedView(fast, 'team'), digest))
  }
})

t.test('a reader that wants a blob plain shares a copy whose first reader wants it as stored', async (t) => {
  const [fast, zstd] = [await zstdMemory(), await zstdMemory()]
  const slow = new Counted(zstd)
  const store = await tiers(fast, slow)
  await upload(zstd, digest, made)
  const [stored, plain] = await Promise.all([wire(store, digest), get(store, digest)])
  t.ok(stored.equals(made))
  t.ok(plain.equals(bytes))
  t.equal(slow.reads, 1)
})

t.test('a lagging reader of the stored form fails if the rest of it is damaged', async (t) => {
  const [fast, slow] = [await zstdMemory(), await zstdMemory()]
  const store = await tiers(fast, slow)
  const large = bytesOf(24_000_000, 'large')
  const largeDigest = digestOf(large)
  await upload(slow, largeDigest, frames(large, 6_000_000))
  const lagging = (await store.get(largeDigest, { ...WHOLE, wantedAs: 'ZSTD' }, call)).as('ZSTD')
  await until(() => isPresent(fast, largeDigest))
  const damaged = frames(Buffer.concat([large.subarray(0, 18_000_000), bytesOf(6_000_000, 'other')]), 6_000_000)
  await slow.put(largeDigest, Blob.ofBytes(damaged, { encoding: 'ZSTD' }).as('IDENTITY'), call)
  await rejects(t, lagging.bytes(1e9, call), 'DATA_LOSS')
})
