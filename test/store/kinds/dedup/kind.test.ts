import fc from 'fast-check'
import t from 'tap'
import { missingOf, type Store } from '../../../../src/blobs/store.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import { dedup } from '../../../../src/store/kinds/dedup/kind.js'
import { asCas } from '../../../../src/store/view/cas.js'
import { bytesOf, call, digestOf, get, isPresent, put, putAll } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'
import { deduplicated, SIZES } from '../../composed.js'
import { rejects, storeSuite } from '../../suite.js'
import { Watched } from '../../watched.js'

storeSuite(t, {
  name: 'dedup over memory',
  isBrief: true,
  open: async () => ({ store: await deduplicated(await memoryStore(), await memoryStore()), close: async () => {} }),
  isPersistent: false,
})

const noise = (sizeBytes: number, seed = 'dedup'): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(sizeBytes / 100_000) }, (_, i) => bytesOf(100_000, `${seed} ${i}`)))

const open = async (): Promise<{ store: Store; index: Watched; content: Watched }> => {
  const index = new Watched(await memoryStore())
  const content = new Watched(await memoryStore())
  return { store: await deduplicated(index, content), index, content }
}

/** The chunks of a blob, from the requests to its content store during the put. */
const chunksOf = async (bytes: Buffer): Promise<string[]> => {
  const { store, content } = await open()
  await put(store, digestOf(bytes), bytes)
  return content.questions.flat()
}

const digestOfKey = (key: string): Digest => {
  const [hash = '', sizeBytes] = key.split('-')
  return Digest.parse({ hash, sizeBytes: Number(sizeBytes) }, digestFunctions.SHA256)
}

t.test('equal parts of two blobs are stored once', async (t) => {
  const { store, content } = await open()
  const first = noise(1_000_000)
  const second = Buffer.concat([first.subarray(0, 400_000), Buffer.from('something new'), first.subarray(400_000)])
  await put(store, digestOf(first), first)
  const chunkCount = content.puts
  t.ok(chunkCount > 20, `${chunkCount} chunks`)
  await put(store, digestOf(second), second)
  t.ok(content.puts - chunkCount <= 3, `${content.puts - chunkCount} chunks are new`)
  for (const bytes of [first, second]) t.ok((await get(store, digestOf(bytes))).equals(bytes))
})

t.test('a part is read only from the chunks that contain it', async (t) => {
  const { store, content } = await open()
  const bytes = noise(2_000_000)
  await put(store, digestOf(bytes), bytes)
  for (const [offset, limit] of [
    [0, 1],
    [1_000_000, 10],
    [777_777, 100_000],
    [1_999_999, 1],
  ] as const) {
    content.reads = 0
    content.readBytes = 0
    const found = await get(store, digestOf(bytes), { offset, limit })
    t.ok(found.equals(bytes.subarray(offset, offset + limit)))
    t.equal(content.readBytes, limit, `${content.reads} chunks`)
    t.ok(content.reads <= 2 + limit / 4096)
  }
})

t.test('of several blobs in one question only that which lost a chunk is missing', async (t) => {
  const { store, content } = await open()
  const blobs = ['first', 'second', 'third'].map((seed) => noise(300_000, seed))
  for (const bytes of blobs) await put(store, digestOf(bytes), bytes)
  const digests = blobs.map(digestOf)
  t.same(await missingOf(store, digests, call), [])
  const [, second = Buffer.alloc(0), third = Buffer.alloc(0)] = blobs
  for (const [at, bytes] of [second, third].entries()) {
    const [key = ''] = await chunksOf(bytes)
    await content.remove(digestOfKey(key), 'unwanted', call)
    t.same(await missingOf(store, digests, call), digests.slice(1, at + 2))
  }
})

t.test(
  'a blob that lost a chunk is missing, is NOT_FOUND before there is a stream, and an upload restores it',
  async (t) => {
    const bytes = noise(1_000_000)
    const chunks = await chunksOf(bytes)
    for (const key of [chunks[0], chunks[7], chunks.at(-1)]) {
      const { store, content } = await open()
      await put(store, digestOf(bytes), bytes)
      await content.remove(digestOfKey(key ?? ''), 'unwanted', call)
      t.notOk(await isPresent(store, digestOf(bytes)))
      await rejects(t, store.get(digestOf(bytes), { offset: 0, limit: Number.POSITIVE_INFINITY }, call), 'NOT_FOUND')
      content.puts = 0
      await put(store, digestOf(bytes), bytes)
      t.equal(content.puts, 1, 'only the lost chunk is written')
      t.ok((await get(store, digestOf(bytes))).equals(bytes))
    }
  },
)

t.test('a part in a single lost chunk is NOT_FOUND too', async (t) => {
  const bytes = noise(300_000)
  const [first = ''] = await chunksOf(bytes)
  const { store, content } = await open()
  await put(store, digestOf(bytes), bytes)
  await content.remove(digestOfKey(first), 'unwanted', call)
  await rejects(t, get(store, digestOf(bytes), { offset: 0, limit: 10 }), 'NOT_FOUND')
})

t.test('a chunk changed on disk is DATA_LOSS once, then missing', async (t) => {
  const bytes = noise(500_000)
  const key = (await chunksOf(bytes))[3] ?? ''
  const { store, content } = await open()
  await put(store, digestOf(bytes), bytes)
  await put(content, digestOfKey(key), Buffer.alloc(digestOfKey(key).sizeBytes))
  await rejects(t, get(store, digestOf(bytes)), 'DATA_LOSS')
  t.notOk(await isPresent(store, digestOf(bytes)))
  await rejects(t, get(store, digestOf(bytes)), 'NOT_FOUND')
  await put(store, digestOf(bytes), bytes)
  t.ok((await get(store, digestOf(bytes))).equals(bytes))
})

t.test('a damaged list is dropped, and its blob is missing', async (t) => {
  const bytes = noise(500_000)
  const other = noise(400_000, 'other')
  const [mine, theirs] = [await open(), await open()]
  await put(mine.store, digestOf(bytes), bytes)
  await put(theirs.store, digestOf(other), other)
  const list = await get(mine.index, digestOf(bytes))
  const damaged = {
    'a changed byte': Buffer.concat([list.subarray(0, 50), Buffer.from([list.readUInt8(50) ^ 1]), list.subarray(51)]),
    'its first half': list.subarray(0, list.length / 2),
    nothing: Buffer.alloc(0),
    'the list of another blob': await get(theirs.index, digestOf(other)),
  }
  for (const [what, found] of Object.entries(damaged)) {
    const index = new Watched(await memoryStore())
    const store = await deduplicated(index, mine.content)
    await put(index, digestOf(bytes), found)
    t.notOk(await isPresent(store, digestOf(bytes)), what)
    t.notOk(await isPresent(index, digestOf(bytes)), 'it is gone')
    await put(index, digestOf(bytes), found)
    await rejects(t, get(store, digestOf(bytes)), 'NOT_FOUND')
  }
})

t.test('the list is written last: a blob whose upload fails is absent', async (t) => {
  const { store, index, content } = await open()
  const bytes = noise(2_500_000)
  const failing = bytes.subarray(0, 2_499_999)
  await rejects(t, put(asCas(store), digestOf(bytes), failing), 'INVALID_ARGUMENT')
  t.equal(index.puts, 0)
  t.ok(content.puts > 0, 'received chunks are kept for the next upload')
  t.notOk(await isPresent(store, digestOf(bytes)))
})

t.test('each store is asked for missing blobs in batches', async (t) => {
  const { store, index, content } = await open()
  const blobs = Array.from({ length: 100 }, (_, i) => bytesOf(20_000, `${i}`))
  const kept = blobs.filter((_, i) => i % 2 === 0)
  await putAll(
    store,
    kept.map((bytes) => ({ digest: digestOf(bytes), bytes })),
  )
  index.questions.length = 0
  content.questions.length = 0
  const missing = await missingOf(store, blobs.map(digestOf), call)
  t.same(
    missing.map(({ key }) => key),
    blobs.filter((_, i) => i % 2 === 1).map((bytes) => digestOf(bytes).key),
  )
  t.equal(index.questions.length, 1)
  t.equal(content.questions.length, 1)
})

t.test('reads no further ahead than configured', async (t) => {
  const content = new Watched(await memoryStore())
  const store = await deduplicated(await memoryStore(), content, 2)
  const bytes = noise(1_000_000)
  await put(store, digestOf(bytes), bytes)
  content.reads = 0
  const blob = await store.get(digestOf(bytes), { offset: 0, limit: Number.POSITIVE_INFINITY }, call)
  const [source] = blob.path()
  for await (const _ of source) break
  t.ok(content.reads <= 2 + Math.ceil((256 * 1024) / 4096), `${content.reads} chunks were opened`)
  t.ok(source.destroyed)
})

t.test('after any sequence of puts and losses, every blob reported as present can be read', async (t) => {
  const blobs = Array.from({ length: 4 }, (_, i) =>
    Buffer.concat([noise(100_000 * (i % 3), `${i % 2}`), bytesOf(500, `${i}`)]),
  )
  const chunks = [...new Set((await Promise.all(blobs.map(chunksOf))).flat())]
  const step = fc.oneof(
    fc.record({ put: fc.nat(blobs.length - 1) }),
    fc.record({ lose: fc.nat(chunks.length - 1) }),
    fc.record({ remove: fc.nat(blobs.length - 1) }),
  )
  const holds = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    const { store, content } = await open()
    for (const one of steps) {
      if ('put' in one) await put(store, digestOf(blobs[one.put] as Buffer), blobs[one.put] as Buffer)
      else if ('lose' in one) await content.remove(digestOfKey(chunks[one.lose] as string), 'unwanted', call)
      else await store.remove(digestOf(blobs[one.remove] as Buffer), 'unwanted', call)
      for (const bytes of blobs) {
        const isThere = await isPresent(store, digestOf(bytes))
        const found = await get(store, digestOf(bytes)).catch(() => undefined)
        if (isThere !== (found?.equals(bytes) ?? false)) return false
      }
    }
    return true
  })
  await t.resolves(fc.assert(holds, { numRuns: 30 }))
})

t.test('min_size, normal_size and max_size', async (t) => {
  const bytes = noise(2_000_000)
  const sizesWith = async (min_size: number, normal_size: number, max_size: number): Promise<number[]> => {
    const content = new Watched(await memoryStore())
    const options = { ...SIZES, index_store: given, content_store: given, max_concurrent_fetch_per_get: 10 }
    const children = { index_store: await memoryStore(), content_store: content }
    const store = await buildStore(dedup, { ...options, min_size, normal_size, max_size }, { children })
    await put(store, digestOf(bytes), bytes)
    // All but the last, which ends with the blob.
    return content.questions
      .flat()
      .map((key) => digestOfKey(key).sizeBytes)
      .slice(0, -1)
  }
  const sizes = await sizesWith(1024, 8192, 65_536)
  t.ok(Math.min(...sizes) < 4096 && Math.min(...sizes) >= 1024, `the smallest has ${Math.min(...sizes)} bytes`)
  t.ok(Math.max(...sizes) > 10_000, `the largest has ${Math.max(...sizes)} bytes`)
  t.ok(Math.min(...(await sizesWith(4096, 8192, 65_536))) >= 4096, 'min_size')
  t.ok(Math.max(...(await sizesWith(1024, 8192, 10_000))) <= 10_000, 'max_size')
  const larger = await sizesWith(1024, 16_384, 65_536)
  t.ok(larger.length < sizes.length * 0.75, `normal_size: ${larger.length} chunks instead of ${sizes.length}`)
})
