import { Transform, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { internalCall } from '../../src/base/call.js'
import { type Clock, ManualClock, systemClock } from '../../src/base/clock.js'
import { StatusError } from '../../src/base/status-error.js'
import type { FastSlowOptions } from '../../src/config/config.js'
import type { Digest } from '../../src/reapi/digest.js'
import { PATIENCE_MS } from '../../src/store/fast-slow/fills.js'
import { fastSlow } from '../../src/store/fast-slow.js'
import { noop } from '../../src/store/noop.js'
import type { BlobFiles, Store } from '../../src/store/store.js'
import { discard, WHOLE } from '../../src/stream/path.js'
import { collect, run } from '../../src/stream/run.js'
import { bytesOf, call, digestOf, get, isPresent, put } from './blobs.js'
import { buildStore, given, memoryStore } from './build.js'
import { rejects, storeSuite } from './suite.js'

const tiers = (
  fast: Store,
  slow: Store,
  options: Partial<FastSlowOptions> = {},
  clock: Clock = systemClock,
): Promise<Store> =>
  buildStore(
    fastSlow,
    {
      fast: given,
      slow: given,
      fast_direction: 'both',
      slow_direction: 'both',
      bypass_dedup_threshold_bytes: 0,
      ...options,
    },
    { children: { fast, slow }, clock },
  )

const suites = {
  'fast_slow of two memories': async () => tiers(await memoryStore(), await memoryStore()),
  'fast_slow whose fast store forgets': async () => tiers(await memoryStore({ max_bytes: 1 }), await memoryStore()),
  'fast_slow without a slow store': async () => tiers(await memoryStore(), await buildStore(noop, {})),
  'fast_slow whose slow store takes nothing': async () =>
    tiers(await memoryStore(), await memoryStore(), { slow_direction: 'read_only' }),
}

for (const [name, open] of Object.entries(suites)) {
  storeSuite(t, { name, open: async () => ({ store: await open(), close: async () => {} }), isPersistent: false })
}

const setUp = async (options: Partial<FastSlowOptions> = {}, clock?: Clock) => {
  const fast = await memoryStore()
  const slow = counted(await memoryStore())
  const bytes = bytesOf(3_000_000)
  return { fast, slow, store: await tiers(fast, slow, options, clock), bytes, digest: digestOf(bytes) }
}

/** A store that counts reads, and fails as told. */
const counted = (backend: Store) => {
  const spied = {
    reads: 0,
    fails: {} as { write?: StatusError; read?: StatusError; commit?: StatusError },
    findMissing: (digests: readonly Digest[]) => backend.findMissing(digests, call),
    remove: (digest: Digest) => backend.remove(digest, call),
    health: () => backend.health(call),
    reader: async (...asked: Parameters<Store['reader']>) => {
      spied.reads += 1
      if (spied.fails.read !== undefined) throw spied.fails.read
      return backend.reader(...asked)
    },
    writer: async (...asked: Parameters<Store['writer']>): ReturnType<Store['writer']> => {
      if (spied.fails.write !== undefined) throw spied.fails.write
      const { commit } = spied.fails
      const refuse = new Transform({
        transform: (chunk: Buffer, _encoding, callback) => callback(null, chunk),
        flush: (callback) => callback(commit),
      })
      return [refuse, ...(await backend.writer(...asked))]
    },
  }
  return spied satisfies Store
}

const broken = () => new StatusError('UNAVAILABLE', 'the disk is gone')

t.test('an upload goes where the directions say', async (t) => {
  const directions = ['both', 'update', 'get', 'read_only'] as const
  for (const fastDirection of directions) {
    for (const slowDirection of directions) {
      const { fast, slow, store, digest, bytes } = await setUp({
        fast_direction: fastDirection,
        slow_direction: slowDirection,
      })
      const [toFast, toSlow] = [fastDirection, slowDirection].map((it) => it === 'both' || it === 'update')
      const name = `fast ${fastDirection}, slow ${slowDirection}`
      if (!toFast && !toSlow) {
        await rejects(t, put(store, digest, bytes), 'PERMISSION_DENIED')
        continue
      }
      await put(store, digest, bytes)
      t.equal(await isPresent(fast, digest), toFast, `${name}: fast`)
      t.equal(await isPresent(slow, digest), toSlow, `${name}: slow`)
      t.ok(await isPresent(store, digest), `${name}: it is there`)
    }
  }
})

t.test('a read fills the fast store where fast_direction lets it', async (t) => {
  for (const [fastDirection, fills] of Object.entries({ both: true, get: true, update: false, read_only: false })) {
    const { fast, slow, store, digest, bytes } = await setUp({ fast_direction: fastDirection as 'both' })
    await put(slow, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes))
    t.equal(await isPresent(fast, digest), fills, fastDirection)
    t.ok((await get(store, digest)).equals(bytes))
    t.equal(slow.reads, fills ? 1 : 2)
  }
})

t.test('slow says what exists, fast alone does not count', async (t) => {
  const { fast, store, digest, bytes } = await setUp()
  await put(fast, digest, bytes)
  t.notOk(await isPresent(store, digest))
  t.ok((await get(store, digest)).equals(bytes), 'though it can be read')
})

t.test('a part of a blob and a blob above the threshold are read past the fast store', async (t) => {
  const { fast, slow, store, digest, bytes } = await setUp({ bypass_dedup_threshold_bytes: 3_000_000 })
  await put(slow, digest, bytes)
  t.ok((await get(store, digest)).equals(bytes))
  t.notOk(await isPresent(fast, digest))
  const small = bytesOf(2_999_999)
  await put(slow, digestOf(small), small)
  t.ok((await get(store, digestOf(small), { offset: 10, limit: 20 })).equals(small.subarray(10, 30)))
  t.notOk(await isPresent(fast, digestOf(small)), 'a part fills nothing')
  await get(store, digestOf(small), { offset: 0, limit: 2_999_999 })
  t.ok(await isPresent(fast, digestOf(small)), 'a part that is the whole does')
})

t.test('the slow store refusing fails the upload, and the fast store claims nothing', async (t) => {
  for (const when of ['write', 'commit'] as const) {
    const { fast, slow, store, digest, bytes } = await setUp()
    slow.fails[when] = broken()
    await rejects(t, put(store, digest, bytes), 'UNAVAILABLE')
    t.notOk(await isPresent(fast, digest), `refused at ${when}`)
    t.notOk(await isPresent(store, digest))
  }
})

t.test('the fast store refusing fails nothing', async (t) => {
  for (const when of ['write', 'commit', 'read'] as const) {
    const slow = await memoryStore()
    const fast = counted(await memoryStore())
    const store = await tiers(fast, slow)
    const bytes = bytesOf(1_000_000)
    const digest = digestOf(bytes)
    fast.fails[when] = broken()
    await put(store, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes), `refused at ${when}`)
    t.ok((await get(store, digest)).equals(bytes))
  }
})

t.test('a new result replaces the old one in both, whatever the fast store does', async (t) => {
  const digest = digestOf(Buffer.from('an action'))
  const [old, next] = [bytesOf(1_000_000, 'old'), bytesOf(1_000_000, 'next')]
  for (const when of ['write', 'commit'] as const) {
    const fast = counted(await memoryStore())
    const store = await tiers(fast, await memoryStore())
    await put(store, digest, old)
    fast.fails[when] = broken()
    await put(store, digest, next)
    t.ok((await get(store, digest)).equals(next), `fast refuses at ${when}`)
  }
  const { slow, store } = await setUp({ fast_direction: 'get' })
  await put(slow, digest, old)
  await get(store, digest)
  await put(store, digest, next)
  t.ok((await get(store, digest)).equals(next), 'fast takes no uploads')

  const both = await setUp()
  await put(both.slow, digest, old)
  const reading = await both.store.reader(digest, WHOLE, call)
  await put(both.store, digest, next)
  t.ok(
    (await collect(reading, { maxBytes: 1e9, signal: call.signal })).equals(old),
    'a reader under way sees the old one',
  )
  await setImmediate()
  t.ok((await get(both.store, digest)).equals(next), 'but does not bring it back')
})

t.test('what slow returned only in part does not reach the fast store', async (t) => {
  const { fast, slow, store, digest, bytes } = await setUp()
  await put(slow, digest, bytes)
  const controller = new AbortController()
  const sink = new Writable({
    write: (_chunk, _encoding, callback) => {
      controller.abort()
      callback()
    },
  })
  await rejects(t, run([...(await store.reader(digest, WHOLE, call)), sink], controller.signal), 'CANCELLED')
  t.notOk(await isPresent(fast, digest))
  discard(await store.reader(digest, WHOLE, call))
  t.ok((await get(store, digest)).equals(bytes), 'the next one fills it')
  t.ok(await isPresent(fast, digest))
})

t.test('many readers of one blob fetch it once', async (t) => {
  const { slow, store, digest, bytes } = await setUp()
  await put(slow, digest, bytes)
  const found = await Promise.all(Array.from({ length: 20 }, () => get(store, digest)))
  t.ok(found.every((blob) => blob.equals(bytes)))
  t.equal(slow.reads, 1)
})

t.test('readers do not wait for ever for one that stalls, gives up or is refused', async (t) => {
  const clock = new ManualClock()
  const { slow, store, digest, bytes } = await setUp({}, clock)
  await put(slow, digest, bytes)
  const stalled = await store.reader(digest, WHOLE, call)
  const waiting = get(store, digest)
  const patient = get(store, digest)
  for (let i = 0; i < 20; i++) await setImmediate()
  t.equal(slow.reads, 1, 'they wait')
  clock.advance(PATIENCE_MS)
  for (let i = 0; i < 20; i++) await setImmediate()
  clock.advance(PATIENCE_MS)
  t.ok((await waiting).equals(bytes), 'until it takes too long')
  t.ok((await patient).equals(bytes))
  const controller = new AbortController()
  const leaving = store.reader(digestOf(bytes), WHOLE, internalCall({ signal: controller.signal }))
  discard(stalled)
  controller.abort()
  await leaving.then(discard, () => {})

  const other = bytesOf(2_000_000, 'other')
  await put(slow, digestOf(other), other)
  const leader = await store.reader(digestOf(other), WHOLE, call)
  const followers = Array.from({ length: 5 }, () => get(store, digestOf(other)))
  for (let i = 0; i < 20; i++) await setImmediate()
  discard(leader)
  t.ok(
    (await Promise.all(followers)).every((blob) => blob.equals(other)),
    'one of them takes over',
  )

  const absent = digestOf(Buffer.from('absent'))
  const asking = await Promise.allSettled(Array.from({ length: 5 }, () => get(store, absent)))
  t.ok(asking.every(({ status }) => status === 'rejected'))
  await rejects(t, get(store, absent), 'NOT_FOUND')
})

t.test('a call that is cancelled stops waiting', async (t) => {
  const { slow, store, digest, bytes } = await setUp()
  await put(slow, digest, bytes)
  const leader = await store.reader(digest, WHOLE, call)
  const controller = new AbortController()
  const follower = store.reader(digest, WHOLE, internalCall({ signal: controller.signal }))
  for (let i = 0; i < 20; i++) await setImmediate()
  controller.abort()
  await rejects(t, follower, 'CANCELLED')
  t.ok((await collect(leader, { maxBytes: 1e9, signal: call.signal })).equals(bytes))
})

t.test('a removed blob is gone from both', async (t) => {
  const { fast, slow, store, digest, bytes } = await setUp()
  await put(store, digest, bytes)
  await store.remove(digest, call)
  t.notOk(await isPresent(fast, digest))
  t.notOk(await isPresent(slow, digest))
})

t.test('health names the tier', async (t) => {
  const { fast, slow, store } = await setUp()
  t.equal((await store.health(call)).state, 'Ok')
  const failing = async () => ({ state: 'Failed', structName: 'X', message: 'no disk', error: 'EIO' }) as const
  const slowFails = await tiers(fast, { ...slow, health: failing })
  t.match(await slowFails.health(call), { state: 'Failed', structName: 'FastSlowStore', message: 'slow: no disk' })
  const fastFails = await tiers({ ...slow, health: failing }, slow)
  t.match(await fastFails.health(call), { state: 'Warning', message: 'fast: no disk' })
})

t.test('a worker gets blobs from slow into the files of fast', async (t) => {
  const files: BlobFiles = {
    lease: (missing) => ({ missing, extend: (more) => more, release: () => {} }),
    link: async () => {},
    populate: async () => {},
    drop: async () => {},
  }
  const memory = await memoryStore()
  const near: Store = {
    files,
    findMissing: (digests, by) => memory.findMissing(digests, by),
    reader: (digest, range, by) => memory.reader(digest, range, by),
    writer: (digest, by) => memory.writer(digest, by),
    remove: (digest, by) => memory.remove(digest, by),
    health: (by) => memory.health(by),
  }
  const slow = counted(await memoryStore())
  const store = await tiers(near, slow)
  const bytes = bytesOf(2_000_000)
  const digest = digestOf(bytes)
  await put(slow, digest, bytes)
  await Promise.all(Array.from({ length: 10 }, () => store.files?.populate(digest, call)))
  t.equal(slow.reads, 1, 'once for all who ask')
  t.ok((await get(near, digest)).equals(bytes))
  const absent = digestOf(Buffer.from('absent'))
  await rejects(t, store.files?.populate(absent, call) ?? Promise.resolve(), 'NOT_FOUND')
  const alone = await tiers(near, await buildStore(noop, {}))
  await rejects(t, alone.files?.populate(absent, call) ?? Promise.resolve(), 'NOT_FOUND')
  const closed = await tiers(near, slow, { fast_direction: 'update' })
  await rejects(t, closed.files?.populate(absent, call) ?? Promise.resolve(), 'FAILED_PRECONDITION')
  t.equal((await tiers(await memoryStore(), slow)).files, undefined, 'a fast store without files has none to offer')
})
