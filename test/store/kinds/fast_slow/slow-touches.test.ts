import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { StatusError } from '../../../../src/base/status-error.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import type { Store } from '../../../../src/blobs/store.js'
import type { FastSlowOptions } from '../../../../src/config/config.js'
import { silentLog } from '../../../../src/log/log.js'
import type { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import { internalCall } from '../../../../src/rpc/call.js'
import { fastSlow } from '../../../../src/store/kinds/fast_slow/kind.js'
import { Resources } from '../../../../src/work/resources.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'
import { rejects } from '../../suite.js'
import { openFilesystem } from '../filesystem/open.js'

const blob = (number: number) => {
  const bytes = bytesOf(1000, `blob ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

/** Counts the requests to slow. */
class Asked extends ForwardingStore {
  readonly batches: DigestBatch[] = []
  readonly instances: string[] = []
  isDown = false

  override findMissing(digests: DigestBatch, by: typeof call): Promise<DigestBatch> {
    this.batches.push(digests)
    this.instances.push(by.instanceName)
    return this.isDown ? Promise.reject(new StatusError('UNAVAILABLE', 'slow is down')) : super.findMissing(digests, by)
  }

  override get(...args: Parameters<Store['get']>): ReturnType<Store['get']> {
    return this.isDown ? Promise.reject(new StatusError('UNAVAILABLE', 'slow is down')) : super.get(...args)
  }
}

const setUp = async (fast: Store, slow: Asked, options: Partial<FastSlowOptions> = {}) => {
  const clock = new ManualClock(Date.now())
  const resources = new Resources(silentLog)
  const all = { fast: given, slow: given, fast_direction: 'both', slow_direction: 'both' } as const
  const zero = { bypass_dedup_threshold_bytes: 0, action_result_max_age_s: 0 }
  const store = await buildStore(
    fastSlow,
    { ...all, ...zero, ...options },
    { children: { fast, slow }, clock, resources },
  )
  return { clock, store, close: () => resources.close() }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await setImmediate()
}

t.test('slow does not evict blobs that fast serves', async (t) => {
  const slow = new Asked(await memoryStore({ max_count: 10 }))
  const { clock, store, close } = await setUp(await memoryStore(), slow)
  await put(store, blob(0).digest, blob(0).bytes)
  for (let number = 1; number < 100; number++) {
    await put(store, blob(number).digest, blob(number).bytes)
    await get(store, blob(0).digest)
    clock.advance(3 * 60_000)
    await settle()
  }
  t.ok(await isPresent(store, blob(0).digest))
  t.notOk(await isPresent(store, blob(1).digest), 'others were evicted')
  await close()
})

t.test('uses are reported to slow in batches, each blob once in some minutes, and no read waits for it', async (t) => {
  const slow = new Asked(await memoryStore())
  const { clock, store, close } = await setUp(await memoryStore(), slow)
  for (let number = 0; number < 50; number++) await put(store, blob(number).digest, blob(number).bytes)
  for (let round = 0; round < 20; round++) {
    for (let number = 0; number < 50; number++) await get(store, blob(number).digest)
    clock.advance(10_000)
    await settle()
  }
  t.same(
    slow.batches.map(({ count }) => count),
    [50],
    'once in 200 seconds',
  )
  slow.isDown = true
  for (let minute = 0; minute < 11; minute++) clock.advance(60_000)
  const { bytes, digest } = blob(0)
  t.ok((await get(store, digest)).equals(bytes))
  clock.advance(10_000)
  await settle()
  t.equal(slow.batches.length, 2)
  t.ok((await get(store, digest)).equals(bytes), 'and a slow store that fails disturbs nobody')
  await close()
})

t.test('a slow store that keeps no blob for longer because somebody asked is not asked', async (t) => {
  class Unmoved extends Asked {
    override get properties(): Store['properties'] {
      return { ...super.properties, extendsLifetimes: false }
    }
  }
  const slow = new Unmoved(await memoryStore())
  const { clock, store, close } = await setUp(await memoryStore(), slow)
  await put(store, blob(0).digest, blob(0).bytes)
  await get(store, blob(0).digest)
  clock.advance(10_000)
  await settle()
  t.same(slow.batches, [])
  await close()
})

t.test('slow is asked in the instance of the reads, and keys stay keys', async (t) => {
  const slow = new Asked(await memoryStore())
  const { clock, store, close } = await setUp(await memoryStore(), slow)
  const key = blob(1).digest.asKey()
  await put(store, blob(0).digest, blob(0).bytes)
  await put(store, key, blob(1).bytes)
  for (const instanceName of ['', 'main'])
    for (const digest of [blob(0).digest, key])
      (await store.get(digest, { offset: 0, limit: 1 }, internalCall({ instanceName }))).discard()
  clock.advance(10_000)
  await settle()
  t.same(slow.instances.sort(), ['', '', 'main', 'main'])
  t.same(slow.batches.map(({ areKeys }) => areKeys).sort(), [false, false, true, true])
  await close()
})

t.test('leases in fast are reported to slow as uses', async (t) => {
  const slow = new Asked(await memoryStore())
  const fast = await openFilesystem(t.testdir())
  const { clock, store, close } = await setUp(fast.store, slow)
  await put(store, blob(0).digest, blob(0).bytes)
  const lease = await store.files?.lease([blob(0).digest], call)
  lease?.release()
  clock.advance(10_000)
  await settle()
  t.same(
    slow.batches.map((batch) => batch.at(0).key),
    [blob(0).digest.key],
  )
  await close()
  await fast.close()
})

t.test('a result that another server replaced or removed in slow is noticed after its time', async (t) => {
  const shared = await memoryStore()
  const slow = new Asked(shared)
  const { clock, store, close } = await setUp(await memoryStore(), slow, { action_result_max_age_s: 60 })
  const key = blob(0).digest.asKey()
  const [first, second] = [Buffer.from('first'), Buffer.from('second')]
  await put(store, key, first)
  await put(shared, key, second)
  t.ok((await get(store, key)).equals(first), 'within the time fast is used')
  clock.advance(61_000)
  t.ok((await get(store, key)).equals(second))
  await until(async () => (await get(store, key)).equals(second), 'that fast has it too')
  slow.isDown = true
  t.ok((await get(store, key)).equals(second), 'fast is used again')
  clock.advance(61_000)
  t.ok((await get(store, key)).equals(second), 'and served while slow fails')
  slow.isDown = false
  await shared.remove(key, 'unwanted', call)
  await rejects(t, get(store, key), 'NOT_FOUND')
  slow.isDown = true
  await rejects(t, get(store, key), 'UNAVAILABLE')
  await close()
})

t.test('without a time for action results fast is always used', async (t) => {
  const shared = await memoryStore()
  const { clock, store, close } = await setUp(await memoryStore(), new Asked(shared))
  const key = blob(0).digest.asKey()
  await put(store, key, Buffer.from('first'))
  await put(shared, key, Buffer.from('second'))
  clock.advance(24 * 3_600_000)
  t.equal((await get(store, key)).toString(), 'first')
  await close()
})
