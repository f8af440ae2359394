import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import type { ChunkUsage } from '../../../../src/blobs/meter.js'
import type { Store } from '../../../../src/blobs/store.js'
import type { StoreOptions } from '../../../../src/config/config.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { CUTS_AT_A_TIME, dedup } from '../../../../src/store/kinds/dedup/kind.js'
import { isolatedView } from '../../../../src/store/view/isolated.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { bytesOf, call, digestOf, get, isPresent, put, putAll, putStream } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'
import { SIZES } from '../../composed.js'
import { rejects, storeSuite } from '../../suite.js'
import { Watched } from '../../watched.js'

const KIB = 1024

interface Tiers {
  readonly index: Watched
  readonly content: Watched
}

const tiers = async (): Promise<Tiers> => ({
  index: new Watched(await memoryStore()),
  content: new Watched(await memoryStore()),
})

/** Chunks of `averageKib`: from a quarter of it to four times as much. */
const over = (
  { index, content }: Tiers,
  averageKib: number,
  more: Partial<StoreOptions['dedup']> = {},
  cuts: (usage: () => ChunkUsage) => void = () => {},
): Promise<Store> =>
  buildStore(
    dedup,
    {
      ...{
        ...SIZES,
        index_store: given,
        content_store: given,
        min_size: 65_536,
        normal_size: 262_144,
        max_size: 524_288,
      },
      ...{
        max_concurrent_fetch_per_get: 2,
        chunking_function: 'fast_cdc_2020',
        avg_chunk_size_bytes: averageKib * KIB,
      },
      ...more,
    },
    { children: { index_store: index, content_store: content }, cuts },
  )

const blob = (sizeBytes: number, seed = 'chunks'): { digest: Digest; bytes: Buffer } => {
  const bytes = Buffer.concat(
    Array.from({ length: Math.ceil(sizeBytes / 100_000) }, (_, at) => bytesOf(100_000, `${seed} ${at}`)),
  ).subarray(0, sizeBytes)
  return { digest: digestOf(bytes), bytes }
}

const listOf = async (store: Store, digest: Digest): Promise<readonly Digest[]> =>
  (await store.chunks?.listOf(digest, call))?.chunks ?? []

storeSuite(t, {
  name: 'dedup in the sizes of the protocol',
  isBrief: true,
  open: async () => ({ store: await over(await tiers(), 16), close: async () => {} }),
  isPersistent: false,
})

storeSuite(t, {
  name: 'dedup by REP_MAX_CDC',
  isBrief: true,
  open: async () => ({
    store: await over(await tiers(), 512, { chunking_function: 'rep_max_cdc', min_chunk_size_bytes: 16 * KIB }),
    close: async () => {},
  }),
  isPersistent: false,
})

t.test('a blob no larger than the largest chunk is one entry, and its digest is looked up only there', async (t) => {
  const both = await tiers()
  const store = await over(both, 16)
  const { digest, bytes } = blob(64 * KIB)
  await put(store, digest, bytes)
  await putAll(store, [blob(10, 'a'), blob(20, 'b')])
  t.equal(both.content.puts, 3)
  t.equal(both.index.puts, 0)
  both.index.questions.length = 0
  t.ok(await isPresent(store, digest))
  t.ok((await get(store, digest)).equals(bytes))
  t.ok((await get(store, digest, { offset: 5, limit: 10 })).equals(bytes.subarray(5, 15)))
  t.same(both.index.questions, [])
  await put(store, blob(64 * KIB + 1).digest, blob(64 * KIB + 1).bytes)
  t.equal(both.index.puts, 1)
})

t.test('a chunk can be read, found and uploaded as a blob', async (t) => {
  const store = await over(await tiers(), 16)
  const { digest, bytes } = blob(1_000_000)
  await put(store, digest, bytes)
  let at = 0
  for (const chunk of await listOf(store, digest)) {
    t.ok(await isPresent(store, chunk))
    t.ok((await get(store, chunk)).equals(bytes.subarray(at, at + chunk.sizeBytes)))
    at += chunk.sizeBytes
  }
  t.equal(at, bytes.length)
})

t.test('chunks that a client spliced are kept as it cut them, with no second copy', async (t) => {
  const both = await tiers()
  const store = await over(both, 16)
  const { digest, bytes } = blob(200_000)
  const parts = [0, 60_000, 60_001, 125_000].map((from, at, all) => {
    const part = bytes.subarray(from, all[at + 1])
    return { digest: digestOf(part), bytes: part }
  })
  for (const part of parts.slice(0, 3)) await put(store, part.digest, part.bytes)
  const chunks = parts.map((part) => part.digest)
  // The last is larger than a chunk: the caller has to cut it.
  t.ok((parts[3]?.bytes.length ?? 0) > 64 * KIB)
  const [first, second] = [parts[0], parts[1]].map((part) => part?.digest as Digest) as [Digest, Digest]
  const joined = digestOf(bytes.subarray(0, 60_001))
  await rejects(
    t,
    store.chunks?.splice(digest, { chunks: [first, second], chunkingFunction: 1 }, call) as never,
    'INVALID_ARGUMENT',
  )
  t.notOk(await isPresent(store, digest))
  await rejects(t, store.chunks?.splice(digest, { chunks, chunkingFunction: 1 }, call) as never, 'NOT_FOUND')
  const whole = blob(120_000, 'whole')
  const halves = [whole.bytes.subarray(0, 60_000), whole.bytes.subarray(60_000)]
  for (const half of halves) await put(store, digestOf(half), half)
  const before = both.content.puts
  await store.chunks?.splice(whole.digest, { chunks: halves.map(digestOf), chunkingFunction: 0 }, call)
  t.equal(both.content.puts, before)
  t.ok((await get(store, whole.digest)).equals(whole.bytes))
  t.same(
    (await listOf(store, whole.digest)).map(({ key }) => key),
    halves.map((half) => digestOf(half).key),
  )
  t.notOk(await isPresent(store, joined))
})

t.test(
  'chunks grow: what exists only as a list and is now of chunk size is there for whoever asks first',
  async (t) => {
    for (const ask of ['FindMissing', 'Read', 'Read of a part'] as const) {
      const both = await tiers()
      const older = await over(both, 4)
      const { digest, bytes } = blob(60_000)
      await put(older, digest, bytes)
      t.ok((await listOf(older, digest)).length > 3)
      const store = await over(both, 16)
      if (ask === 'FindMissing') t.ok(await isPresent(store, digest))
      else if (ask === 'Read') t.ok((await get(store, digest)).equals(bytes))
      else t.ok((await get(store, digest, { offset: 100, limit: 7 })).equals(bytes.subarray(100, 107)))
      t.ok(await isPresent(both.content, digest), `${ask}: it is a chunk now`)
      t.notOk(await isPresent(both.index, digest.asKey()), 'and has no list')
      t.ok((await get(store, digest)).equals(bytes))
    }
  },
)

t.test(
  'chunks grow: an older list whose chunk is gone does not count as the chunk that a client asks for',
  async (t) => {
    const both = await tiers()
    const older = await over(both, 4)
    const { digest, bytes } = blob(60_000)
    await put(older, digest, bytes)
    const [first] = await listOf(older, digest)
    await both.content.remove(first as Digest, 'unwanted', call)
    const store = await over(both, 16)
    t.notOk(await isPresent(store, digest))
    await rejects(t, get(store, digest), 'NOT_FOUND')
    await put(store, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes))
  },
)

t.test('chunks shrink: a list with larger chunks than announced is cut again when it is asked for', async (t) => {
  const both = await tiers()
  const { digest, bytes } = blob(500_000)
  await put(await over(both, 64), digest, bytes)
  const store = await over(both, 4)
  t.ok((await get(store, digest)).equals(bytes), 'as it is')
  const chunks = await listOf(store, digest)
  t.ok(chunks.length > 30 && chunks.every(({ sizeBytes }) => sizeBytes <= 16 * KIB))
  t.ok((await get(store, digest)).equals(bytes))
})

t.test('other sizes than those of the protocol offer no lists', async (t) => {
  const both = await tiers()
  const { chunking_function: _, ...odd } = { chunking_function: undefined, normal_size: 100_000 }
  const other = await buildStore(
    dedup,
    {
      ...SIZES,
      ...odd,
      index_store: given,
      content_store: given,
      min_size: 65_536,
      max_size: 524_288,
      max_concurrent_fetch_per_get: 2,
    },
    { children: { index_store: both.index, content_store: both.content } },
  )
  t.equal(other.chunks, undefined)
})

t.test('an isolated instance has lists and chunks of its own', async (t) => {
  const both = await tiers()
  const store = await over(both, 16)
  const [ours, theirs] = [isolatedView(store, 'ours'), isolatedView(store, 'theirs')]
  const { digest, bytes } = blob(300_000)
  await put(ours, digest, bytes)
  const chunks = await listOf(ours, digest)
  t.ok(chunks.length > 5)
  let at = 0
  for (const chunk of chunks) {
    t.ok((await get(ours, chunk)).equals(bytes.subarray(at, at + chunk.sizeBytes)), 'a chunk is a blob of the instance')
    for (const other of [theirs, store]) t.notOk(await isPresent(other, chunk), 'and of no other')
    at += chunk.sizeBytes
  }
  t.notOk(await isPresent(theirs, digest))
  await rejects(t, listOf(theirs, digest), 'NOT_FOUND')
  await rejects(t, theirs.chunks?.splice(digest, { chunks, chunkingFunction: 1 }, call) as never, 'NOT_FOUND')
  for (const chunk of chunks) await put(theirs, chunk, await get(ours, chunk))
  await theirs.chunks?.splice(digest, { chunks, chunkingFunction: 1 }, call)
  t.ok((await get(theirs, digest)).equals(bytes))
  const [first] = chunks
  await theirs.remove(first as Digest, 'unwanted', call)
  t.notOk(await isPresent(theirs, digest))
  t.ok((await get(ours, digest)).equals(bytes))
})

t.test(
  'chunks shrink: what is one entry and is now larger than a chunk stays readable, and is cut when asked',
  async (t) => {
    const both = await tiers()
    const { digest, bytes } = blob(60_000)
    await put(await over(both, 16), digest, bytes)
    const store = await over(both, 4)
    t.ok(await isPresent(store, digest))
    t.ok((await get(store, digest)).equals(bytes))
    t.ok((await get(store, digest, { offset: 100, limit: 7 })).equals(bytes.subarray(100, 107)))
    const chunks = await listOf(store, digest)
    t.ok(chunks.length > 3)
    t.notOk(await isPresent(both.content, digest), 'there is no second copy')
    t.ok((await get(store, digest)).equals(bytes))
    await put(await over(both, 16), digest, bytes)
    await store.remove(digest, 'unwanted', call)
    t.notOk(await isPresent(store, digest))
  },
)

t.test('a read of a part is a use of all chunks and of the list, asked for in one batch', async (t) => {
  const both = await tiers()
  const store = await over(both, 16)
  const { digest, bytes } = blob(300_000)
  await put(store, digest, bytes)
  const chunks = await listOf(store, digest)
  both.index.questions.length = 0
  both.content.questions.length = 0
  t.ok((await get(store, digest, { offset: 7, limit: 5 })).equals(bytes.subarray(7, 12)))
  t.same(both.index.questions, [[digest.key]])
  t.same(both.content.questions, [chunks.map(({ key }) => key)])
})

t.test('whatever the sizes were, every blob reported as present can be read', async (t) => {
  const blobs = [100, 5000, 20_000, 50_000, 90_000, 300_000].map((size) => blob(size, `of ${size}`))
  const step = fc.record({
    averageKib: fc.constantFrom(1, 4, 16),
    at: fc.nat(blobs.length - 1),
    what: fc.constantFrom('put', 'get', 'remove', 'lose'),
  })
  const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
    const both = await tiers()
    for (const { averageKib, at, what } of steps) {
      const store = await over(both, averageKib)
      const { digest, bytes } = blobs[at] as (typeof blobs)[0]
      if (what === 'put') await put(store, digest, bytes)
      else if (what === 'remove') await store.remove(digest, 'unwanted', call)
      else if (what === 'lose') {
        const [chunk] =
          digest.sizeBytes > averageKib * 4 * KIB && (await isPresent(store, digest)) ? await listOf(store, digest) : []
        if (chunk !== undefined) await both.content.remove(chunk, 'unwanted', call)
      } else if (await isPresent(store, digest)) t.ok((await get(store, digest)).equals(bytes))
    }
  })
  await fc.assert(property, { numRuns: 40, endOnFailure: true })
})

t.test('counts what was there before: of blobs that are cut here, and of those that clients splice', async (t) => {
  const both = await tiers()
  const usages: (() => ChunkUsage)[] = []
  const store = await over(both, 16, {}, (usage) => usages.push(usage))
  const usage = () => usages[0]?.()
  const { digest, bytes } = blob(300_000)
  await put(store, digest, bytes)
  t.same(usage(), { newBytes: 300_000, knownBytes: 0, sentBytes: 0, unsentBytes: 0 })
  await put(store, digest, bytes)
  t.same(usage(), { newBytes: 300_000, knownBytes: 300_000, sentBytes: 0, unsentBytes: 0 })
  const parts = [blob(50_000, 'a'), blob(40_000, 'b'), blob(30_000, 'c')]
  await put(store, parts[0]?.digest as Digest, parts[0]?.bytes as Buffer)
  await putAll(store, parts.slice(1))
  const spliceOf = async (some: readonly { digest: Digest; bytes: Buffer }[]): Promise<void> => {
    const chunks = some.map((part) => part.digest)
    const whole = digestOf(Buffer.concat(some.map((part) => part.bytes)))
    await store.chunks?.splice(whole, { chunks, chunkingFunction: 1 }, call)
  }
  await spliceOf(parts.slice(0, 2))
  t.same(usage(), { newBytes: 300_000, knownBytes: 300_000, sentBytes: 90_000, unsentBytes: 0 })
  await spliceOf(parts)
  t.same(usage(), { newBytes: 300_000, knownBytes: 300_000, sentBytes: 120_000, unsentBytes: 90_000 })
})

t.test('a bounded number of blobs is cut at a time: further ones wait, and can be cancelled', async (t) => {
  const store = await over(await tiers(), 16)
  const { digest, bytes } = blob(300_000)
  const stalled = Array.from({ length: CUTS_AT_A_TIME }, () => new PassThrough())
  const uploads = stalled.map((stream) => putStream(store, digest, stream))
  for (const stream of stalled) stream.write(bytes.subarray(0, 1000))
  const gone = new AbortController()
  const cancelled = store.put(digest, Blob.ofBytes(bytes), { ...call, signal: gone.signal })
  gone.abort()
  await rejects(t, cancelled, 'CANCELLED')
  let isThere = false
  const waiting = put(store, digest, bytes).then(() => {
    isThere = true
  })
  await new Promise(setImmediate)
  t.notOk(isThere)
  stalled[0]?.end(bytes.subarray(1000))
  await waiting
  for (const stream of stalled.slice(1)) stream.destroy()
  const outcomes = await Promise.allSettled(uploads)
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  t.ok((await get(store, digest)).equals(bytes))
})
