import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import { keep, missingOf, putBytes } from '../../../../src/blobs/store.js'
import type { EvictionPolicy } from '../../../../src/config/config.js'
import { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import type { Call } from '../../../../src/rpc/call.js'
import { existenceCache } from '../../../../src/store/kinds/existence_cache/kind.js'
import { memory } from '../../../../src/store/kinds/memory/kind.js'
import { bytesOf, call, digestOf, get, isPresent, put, putAll } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'
import { existenceCached } from '../../composed.js'
import { rejects, storeSuite } from '../../suite.js'
import { Watched } from '../../watched.js'

const NO_LIMITS: EvictionPolicy = { max_bytes: 0, evict_bytes: 0, max_seconds: 0, max_count: 0 }

storeSuite(t, {
  name: 'existence_cache over memory',
  isBrief: true,
  open: async () => ({ store: await existenceCached(await memoryStore()), close: async () => {} }),
  isPersistent: false,
})

const blobs = Array.from({ length: 12 }, (_, i) => {
  const bytes = bytesOf(1000, `blob ${i}`)
  return { bytes, digest: digestOf(bytes) }
})
const [one, two, three] = blobs as [(typeof blobs)[0], (typeof blobs)[0], (typeof blobs)[0]]
const keysOf = (list: typeof blobs): string[] => list.map(({ digest }) => digest.key)

t.test('asks the backend only about unknown blobs', async (t) => {
  const backend = new Watched(await memoryStore())
  const store = await existenceCached(backend)
  for (const { digest, bytes } of [one, two]) await put(backend, digest, bytes)
  await put(store, three.digest, three.bytes)
  const asked = [one, three, two, ...blobs.slice(3, 5)]
  for (const expected of [keysOf([one, two, ...blobs.slice(3, 5)]), keysOf(blobs.slice(3, 5))]) {
    const missing = await missingOf(
      store,
      asked.map(({ digest }) => digest),
      call,
    )
    t.same(
      missing.map(({ key }) => key),
      keysOf(blobs.slice(3, 5)),
    )
    t.same(backend.questions.at(-1), expected)
  }
  t.ok(await isPresent(store, one.digest))
  t.equal(backend.questions.length, 2, 'no request without unknown blobs')
})

t.test('remembers blobs of a batch that were written, but not those that failed', async (t) => {
  const backend = new Watched(await memoryStore({ max_bytes: 1500 }))
  const store = await existenceCached(backend)
  const large = bytesOf(2000)
  const outcomes = await putAll(store, [one, { digest: digestOf(large), bytes: large }])
  t.equal(outcomes[0], undefined)
  t.ok(await isPresent(store, one.digest))
  t.equal(backend.questions.length, 0)
  t.notOk(await isPresent(store, digestOf(large)))
  t.equal(backend.questions.length, 1)
})

t.test('a blob found missing by a read is forgotten', async (t) => {
  const backend = await memoryStore()
  const store = await existenceCached(backend)
  await put(store, one.digest, one.bytes)
  await backend.remove(one.digest, 'unwanted', call)
  t.ok(await isPresent(store, one.digest), 'it cannot know')
  await rejects(t, get(store, one.digest), 'NOT_FOUND')
  t.notOk(await isPresent(store, one.digest))
})

t.test('an upload of a blob known as present reaches the backend', async (t) => {
  const backend = await memoryStore()
  const store = await existenceCached(backend)
  await put(store, one.digest, one.bytes)
  await backend.remove(one.digest, 'unwanted', call)
  await put(store, one.digest, one.bytes)
  t.ok((await get(store, one.digest)).equals(one.bytes))
})

t.test('caches an answer of the backend for max_seconds, however often it is used', async (t) => {
  const clock = new ManualClock(0)
  const backend = await memoryStore()
  const store = await existenceCached(backend, { max_seconds: 300 }, clock)
  await put(store, one.digest, one.bytes)
  await backend.remove(one.digest, 'unwanted', call)
  for (let s = 0; s < 290; s += 10) {
    t.ok(await isPresent(store, one.digest), `after ${s} seconds`)
    clock.advance(10_000)
  }
  clock.advance(10_000)
  t.notOk(await isPresent(store, one.digest))
})

t.test('remembers no more than max_count and max_bytes allow', async (t) => {
  for (const policy of [{ max_count: 3 }, { max_bytes: 3500 }]) {
    const backend = new Watched(await memoryStore())
    const store = await existenceCached(backend, policy)
    for (const { digest, bytes } of blobs) await put(store, digest, bytes)
    t.same(
      await missingOf(
        store,
        blobs.map(({ digest }) => digest),
        call,
      ),
      [],
    )
    t.same(backend.questions, [keysOf(blobs.slice(0, 9))])
  }
})

t.test('an answer overtaken by a removal is not remembered', async (t) => {
  const backend = await memoryStore()
  const slow = new Watched(backend)
  const store = await existenceCached(slow)
  await put(backend, one.digest, one.bytes)
  const asking = slow.findMissing.bind(slow)
  slow.findMissing = async (...question) => {
    const answer = await asking(...question)
    await store.remove(one.digest, 'unwanted', call)
    return answer
  }
  t.ok(await isPresent(store, one.digest), 'it was there when asked')
  slow.findMissing = asking
  t.notOk(await isPresent(store, one.digest))
})

t.test('agrees with its backend after any sequence of operations', async (t) => {
  const step = fc.record({ what: fc.constantFrom('put', 'remove', 'get', 'ask'), blob: fc.nat(blobs.length - 1) })
  const holds = fc.asyncProperty(
    fc.array(step, { maxLength: 60 }),
    fc.integer({ min: 1, max: 12 }),
    async (steps, max) => {
      const backend = await memoryStore()
      const store = await existenceCached(backend, { max_count: max })
      for (const { what, blob } of steps) {
        const { digest, bytes } = blobs[blob] ?? one
        if (what === 'put') await put(store, digest, bytes)
        else if (what === 'remove') await store.remove(digest, 'unwanted', call)
        else if (what === 'get') await get(store, digest).catch(() => {})
        else if ((await isPresent(store, digest)) !== (await isPresent(backend, digest))) return false
      }
      return true
    },
  )
  await t.resolves(fc.assert(holds, { numRuns: 60 }))
})

t.test('an answer is never believed for longer than the backend promises', async (t) => {
  const clock = new ManualClock(1_000_000_000)
  const retention = 600
  const promising = await buildStore(
    memory,
    { eviction_policy: { ...NO_LIMITS, max_bytes: 100 }, retention, when_full: 'break' },
    { clock },
  )
  const asked: (number | undefined)[] = []
  class Asked extends ForwardingStore {
    override findMissing(digests: DigestBatch, inner: Call): Promise<DigestBatch> {
      asked.push(inner.keepForMs)
      return this.backend.findMissing(digests, inner)
    }
  }
  const cache = await buildStore(
    existenceCache,
    { backend: given, eviction_policy: { ...NO_LIMITS, max_seconds: 100_000 } },
    { children: { backend: new Asked(promising) }, clock },
  )
  const bytes = Buffer.alloc(10)
  await putBytes(promising, digestOf(bytes), bytes, call)
  t.ok(await isPresent(cache, digestOf(bytes)))
  clock.advance(299_000)
  t.ok(await isPresent(cache, digestOf(bytes)))
  t.same(asked, [900_000], 'remembered, and promised for the retention beyond that')
  clock.advance(2000)
  t.ok(await isPresent(cache, digestOf(bytes)))
  t.equal(asked.length, 2, 'asked again after half the retention')
  await keep(cache, DigestBatch.of([digestOf(bytes)]), 10_000_000, call)
  t.same(asked[2], 10_300_000, 'a longer promise is never answered from memory')
})
