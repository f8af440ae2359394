import { once } from 'node:events'
import { Transform, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { StatusError } from '../../../../src/base/status-error.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import { type BlobFiles, putBytes, type Store } from '../../../../src/blobs/store.js'
import type { FastSlowOptions } from '../../../../src/config/config.js'
import { uncounted } from '../../../../src/ledger/bytes-in-flight.js'
import type { DigestFunction, Hasher } from '../../../../src/reapi/digest-function.js'
import { internalCall } from '../../../../src/rpc/call.js'
import { COPIES_MAX } from '../../../../src/store/kinds/fast_slow/copies.js'
import { fastSlow } from '../../../../src/store/kinds/fast_slow/kind.js'
import { WINDOW_BYTES, Window } from '../../../../src/store/kinds/fast_slow/window.js'
import { noop } from '../../../../src/store/kinds/noop/kind.js'
import { verify } from '../../../../src/store/kinds/verify/kind.js'
import { asCas } from '../../../../src/store/view/cas.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { collect } from '../../../../src/stream/collect.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, inTime, isPresent, put } from '../../blobs.js'
import { buildStore, given, memoryStore, tierDefaults } from '../../build.js'
import { rejects, storeSuite } from '../../suite.js'
import { Watched } from '../../watched.js'
import { zstdStore } from '../compression/zstd-store.js'

const endless = Number.POSITIVE_INFINITY
const all = [endless, call] as const

const tiers = (fast: Store, slow: Store, options: Partial<FastSlowOptions> = {}): Promise<Store> =>
  buildStore(
    fastSlow,
    {
      fast: given,
      slow: given,
      ...tierDefaults,
      ...options,
    },
    { children: { fast, slow } },
  )

const suites = {
  'fast_slow of two memories': async () => tiers(await memoryStore(), await memoryStore()),
  'fast_slow whose fast store forgets': async () => tiers(await memoryStore({ max_bytes: 1 }), await memoryStore()),
  'fast_slow without a slow store': async () => tiers(await memoryStore(), await buildStore(noop, {})),
  'fast_slow whose slow store takes nothing': async () =>
    tiers(await memoryStore(), await memoryStore(), { slow_direction: 'read_only' }),
}

for (const [name, open] of Object.entries(suites)) {
  const close = async (): Promise<void> => {}
  storeSuite(t, { name, open: async () => ({ store: await open(), close }), isPersistent: false, isBrief: true })
}

const setUp = async (options: Partial<FastSlowOptions> = {}) => {
  const fast = await memoryStore()
  const slow = new Watched(await memoryStore())
  const bytes = bytesOf(3_000_000)
  return { fast, slow, store: await tiers(fast, slow, options), bytes, digest: digestOf(bytes) }
}

const broken = () => new StatusError('UNAVAILABLE', 'the disk is gone')

t.test('an upload goes to the tiers selected by the directions', async (t) => {
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

t.test('a read fills the fast store if fast_direction allows it', async (t) => {
  for (const [fastDirection, fills] of Object.entries({ both: true, get: true, update: false, read_only: false })) {
    const { fast, slow, store, digest, bytes } = await setUp({ fast_direction: fastDirection as 'both' })
    await put(slow, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes))
    if (fills) await until(() => isPresent(fast, digest))
    t.equal(await isPresent(fast, digest), fills, fastDirection)
    t.ok((await get(store, digest)).equals(bytes))
    t.equal(slow.reads, fills ? 1 : 2)
  }
})

t.test('slow decides what exists, a blob only in fast does not count', async (t) => {
  const { fast, store, digest, bytes } = await setUp()
  await put(fast, digest, bytes)
  t.notOk(await isPresent(store, digest))
  t.ok((await get(store, digest)).equals(bytes), 'though it can be read')
})

t.test('partial reads and blobs above the threshold bypass the fast store', async (t) => {
  const { fast, slow, store, digest, bytes } = await setUp({ bypass_dedup_threshold_bytes: 3_000_000 })
  await put(slow, digest, bytes)
  t.ok((await get(store, digest)).equals(bytes))
  t.notOk(await isPresent(fast, digest))
  const small = bytesOf(2_999_999)
  await put(slow, digestOf(small), small)
  t.ok((await get(store, digestOf(small), { offset: 10, limit: 20 })).equals(small.subarray(10, 30)))
  t.notOk(await isPresent(fast, digestOf(small)), 'a part fills nothing')
  await get(store, digestOf(small), { offset: 0, limit: 2_999_999 })
  await until(() => isPresent(fast, digestOf(small)))
  t.pass('a part that is the whole does')
})

t.test('an upload fails if the slow store rejects it, and the fast store does not have it', async (t) => {
  for (const when of ['write', 'commit'] as const) {
    const { fast, slow, store, digest, bytes } = await setUp()
    slow.fails[when] = broken()
    await rejects(t, put(store, digest, bytes), 'UNAVAILABLE')
    t.notOk(await isPresent(fast, digest), `refused at ${when}`)
    t.notOk(await isPresent(store, digest))
  }
})

t.test('no call fails if the fast store rejects an upload', async (t) => {
  for (const when of ['write', 'commit', 'read'] as const) {
    const slow = await memoryStore()
    const fast = new Watched(await memoryStore())
    const store = await tiers(fast, slow)
    const bytes = bytesOf(1_000_000)
    const digest = digestOf(bytes)
    fast.fails[when] = broken()
    await put(store, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes), `refused at ${when}`)
    t.ok((await get(store, digest)).equals(bytes))
  }
})

t.test('a new result replaces the old one in both tiers, even if the fast store fails', async (t) => {
  const digest = digestOf(Buffer.from('an action')).asKey()
  const [old, next] = [bytesOf(1_000_000, 'old'), bytesOf(1_000_000, 'next')]
  for (const when of ['write', 'commit'] as const) {
    const fast = new Watched(await memoryStore())
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
  const reading = await both.store.get(digest, WHOLE, call)
  await put(both.store, digest, next)
  t.ok((await reading.bytes(...all)).equals(old), 'a reader under way sees the old one')
  await until(async () => (await get(both.fast, digest).catch(() => next)).equals(next))
  t.ok((await get(both.store, digest)).equals(next), 'but does not bring it back')
})

t.test('a result removed while it is copied does not come back', async (t) => {
  const { fast, slow, store, digest, bytes } = await setUp()
  await put(slow, digest, bytes)
  const reading = await store.get(digest, WHOLE, call)
  await store.remove(digest, 'unwanted', call)
  t.ok((await reading.bytes(...all)).equals(bytes))
  await until(async () => !(await isPresent(fast, digest)))
  await rejects(t, get(store, digest), 'NOT_FOUND')
})

t.test('a copy continues after its reader has left', async (t) => {
  const { fast, slow, store, digest, bytes } = await setUp()
  await put(slow, digest, bytes)
  const controller = new AbortController()
  const sink = new Writable({
    write: (_chunk, _encoding, callback) => {
      controller.abort()
      callback()
    },
  })
  await rejects(t, (await store.get(digest, WHOLE, call)).into([sink], controller.signal), 'CANCELLED')
  await until(() => isPresent(fast, digest))
  t.equal(slow.reads, 1)
  await store.remove(digest, 'unwanted', call)
  await put(slow, digest, bytes)
  ;(await store.get(digest, WHOLE, call)).discard()
  await until(() => isPresent(fast, digest))
  t.ok((await get(store, digest)).equals(bytes))
})

t.test('concurrent readers of a blob fetch it once', async (t) => {
  const { slow, store, digest, bytes } = await setUp()
  await put(slow, digest, bytes)
  const found = await Promise.all(Array.from({ length: 20 }, () => get(store, digest)))
  t.ok(found.every((blob) => blob.equals(bytes)))
  t.equal(slow.reads, 1)
})

/** A slow store that returns this many chunks, and the rest only after it is opened. */
class Gated extends Watched {
  readonly #chunks: number
  isGated = true
  open: () => void = () => {}
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve
  })

  constructor(backend: Store, chunks: number) {
    super(backend)
    this.#chunks = chunks
  }

  protected override outgoing(blob: Blob): Blob {
    let passed = 0
    const gate = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (passed++ < this.#chunks) done(null, chunk)
        else void this.#opened.then(() => done(null, chunk))
      },
    })
    return super.outgoing(this.isGated ? Blob.ofPath([...blob.path(), gate]) : blob)
  }
}

t.test('a stalled reader delays no other, and gets the whole blob in the end', async (t) => {
  const memory = await memoryStore()
  const slow = new Watched(memory)
  const fast = await memoryStore()
  const store = await tiers(fast, slow)
  const bytes = bytesOf(3 * WINDOW_BYTES)
  const digest = digestOf(bytes)
  await put(memory, digest, bytes, { sizes: [100_000] })
  const stalled = await store.get(digest, WHOLE, call)
  const path = stalled.path()
  const others = Promise.all([get(store, digest), get(store, digest)])
  const [one, other] = await inTime(others, 'what others read while one stalls')
  t.ok(one?.equals(bytes) && other?.equals(bytes), 'others do not wait')
  await until(() => isPresent(fast, digest), 'the copy while one stalls')
  const before = slow.reads
  t.ok(
    (await collect(path, { maxBytes: endless, signal: call.signal })).equals(bytes),
    'the lagging reader continues at its position',
  )
  t.equal(slow.reads, before, 'from fast, once that has the blob')
})

t.test('a lagging reader continues from slow on its own while the copy is in flight', async (t) => {
  const memory = await memoryStore()
  const bytes = bytesOf(3 * WINDOW_BYTES)
  const digest = digestOf(bytes)
  await put(memory, digest, bytes, { sizes: [100_000] })
  const slow = new Gated(memory, 40)
  const fast = await memoryStore()
  const store = await tiers(fast, slow)
  const lagging = await store.get(digest, WHOLE, call)
  const keeping = get(store, digest)
  await until(async () => slow.readBytes > 2 * WINDOW_BYTES)
  slow.isGated = false
  t.ok((await lagging.bytes(...all)).equals(bytes), 'it ends before the copy')
  t.equal(slow.reads, 2)
  t.notOk(await isPresent(fast, digest))
  slow.open()
  t.ok((await keeping).equals(bytes))
  t.equal(slow.reads, 2, 'readers that keep up share the bytes from slow')
  await until(() => isPresent(fast, digest))
})

t.test('a lagging reader fails if the rest from slow is wrong', async (t) => {
  const memory = await memoryStore()
  const bytes = bytesOf(3 * WINDOW_BYTES)
  const digest = digestOf(bytes)
  await put(memory, digest, bytes, { sizes: [100_000] })
  const slow = new Gated(memory, 40)
  const store = await tiers(await memoryStore(), slow)
  const lagging = await store.get(digest, WHOLE, call)
  const keeping = get(store, digest)
  await until(async () => slow.readBytes > 2 * WINDOW_BYTES)
  slow.isGated = false
  const wrong = Buffer.from(bytes)
  wrong[bytes.length - 1] = (wrong[bytes.length - 1] ?? 0) ^ 1
  await put(memory, digest, wrong)
  await rejects(t, lagging.bytes(...all), 'DATA_LOSS')
  slow.open()
  t.ok((await keeping).equals(bytes), 'a reader that keeps up gets the bytes of the copy')
})

/** A reader of a large blob that lags until its copy is two windows ahead, and then continues on its own. */
const lagged = async (kept: (bytes: Buffer) => Buffer) => {
  const memory = await memoryStore()
  const bytes = bytesOf(3 * WINDOW_BYTES)
  const digest = digestOf(bytes)
  await put(memory, digest, kept(bytes), { sizes: [100_000] })
  const slow = new Gated(memory, 40)
  const store = await tiers(await memoryStore(), slow)
  const path = (await store.get(digest, WHOLE, call)).path()
  const [source] = path
  const [first] = (await once(source, 'data')) as [Buffer]
  source.pause()
  source.unshift(first)
  await until(async () => slow.readBytes > 2 * WINDOW_BYTES)
  slow.isGated = false
  await put(memory, digest, bytes)
  const reading = collect(path, { maxBytes: endless, signal: call.signal })
  source.resume()
  return { bytes, slow, reading }
}

t.test('a reader that lags in the middle continues after its last byte', async (t) => {
  const { bytes, slow, reading } = await lagged((right) => right)
  t.ok((await reading).equals(bytes))
  t.equal(slow.reads, 2)
  slow.open()
})

t.test('a reader fails that got wrong bytes from a copy and the correct rest elsewhere', async (t) => {
  const { slow, reading } = await lagged((right) => {
    const wrong = Buffer.from(right)
    wrong[10] = (wrong[10] ?? 0) ^ 1
    return wrong
  })
  await rejects(t, reading, 'DATA_LOSS')
  slow.open()
})

t.test('a copy keeps no more than a window for its readers', async (t) => {
  const window = new Window<undefined>(async () => Blob.ofBytes(Buffer.alloc(0)))
  const chunk = Buffer.alloc(100_000)
  let kept = 0
  for (let at = 0; at < 200; at++) {
    window.add(chunk, undefined)
    kept = 0
    for (let back = 0; back <= at && window.at((at - back) * chunk.length) !== 'gone'; back++) kept += chunk.length
    t.ok(kept <= WINDOW_BYTES + chunk.length)
  }
  t.ok(kept >= WINDOW_BYTES)
})

t.test('the number of copies is bounded: beyond it reads use slow, and populates wait', async (t) => {
  const memory = await memoryStore()
  const slow = new Gated(memory, 0)
  const fast = new WithFiles(await memoryStore())
  const store = await tiers(fast, slow)
  const blobs = Array.from({ length: 40 }, (_, i) => bytesOf(200_000 + i))
  for (const bytes of blobs) await put(memory, digestOf(bytes), bytes)
  const populating = blobs.map((bytes) => store.files?.populate(digestOf(bytes), call))
  await until(() => slow.reads >= COPIES_MAX)
  for (let i = 0; i < 20; i++) await setImmediate()
  t.equal(slow.reads, COPIES_MAX, 'and no more')
  const last = blobs.at(-1) ?? Buffer.alloc(0)
  const reading = get(store, digestOf(last))
  slow.open()
  t.ok((await reading).equals(last))
  await Promise.all(populating)
  for (const bytes of blobs) t.ok(await isPresent(fast, digestOf(bytes)))
})

t.test('a damaged blob of slow does not get into fast, and no reader gets it completely', async (t) => {
  for (const sizeBytes of [1000, 3_000_000]) {
    const { fast, slow, store } = await setUp()
    const bytes = bytesOf(sizeBytes)
    const digest = digestOf(bytes)
    await put(slow, digest, bytesOf(sizeBytes, 'wrong'))
    await rejects(t, get(store, digest), 'DATA_LOSS')
    t.notOk(await isPresent(fast, digest))
    await put(slow, digest.asKey(), bytesOf(sizeBytes, 'a result'))
    t.ok((await get(store, digest.asKey())).equals(bytesOf(sizeBytes, 'a result')), 'a result cannot be verified')
  }
})

t.test('readers are not affected if the fast store breaks off a copy', async (t) => {
  const memory = await memoryStore()
  const slow = new Watched(memory)
  const bytes = bytesOf(3_000_000)
  const digest = digestOf(bytes)
  await put(memory, digest, bytes, { sizes: [100_000] })
  const store = await tiers(await memoryStore({ max_bytes: 500_000 }), slow)
  const found = await Promise.all(Array.from({ length: 5 }, () => get(store, digest)))
  t.ok(found.every((blob) => blob.equals(bytes)))
})

t.test('if slow lacks the blob, every caller gets NOT_FOUND', async (t) => {
  const { store } = await setUp()
  const absent = digestOf(Buffer.from('absent'))
  const asking = await Promise.allSettled(Array.from({ length: 5 }, () => get(store, absent)))
  t.ok(asking.every(({ status }) => status === 'rejected'))
  await rejects(t, get(store, absent), 'NOT_FOUND')
})

t.test('a cancelled call stops waiting, and the copy continues', async (t) => {
  const memory = await memoryStore()
  const slow = new Watched(memory)
  const bytes = bytesOf(1000)
  const digest = digestOf(bytes)
  await put(memory, digest, bytes)
  const fast = await memoryStore()
  const store = await tiers(fast, slow)
  const controller = new AbortController()
  const leaving = store.get(digest, WHOLE, internalCall({ signal: controller.signal }))
  controller.abort()
  await rejects(t, leaving, 'CANCELLED')
  await until(() => isPresent(fast, digest))
})

t.test('an action digest says nothing about the length of its result', async (t) => {
  const { fast, slow, store } = await setUp({ bypass_dedup_threshold_bytes: 10 })
  const action = digestOf(Buffer.from('an action of more than ten bytes')).asKey()
  const result = bytesOf(1000, 'a result')
  await put(slow, action, result)
  t.ok((await get(store, action, { offset: 0, limit: action.sizeBytes })).equals(result.subarray(0, action.sizeBytes)))
  t.notOk(await isPresent(fast, action), 'the length of the action is only a part of the result')
  t.ok((await get(store, action)).equals(result))
  await until(() => isPresent(fast, action))
})

t.test('blobs that a store above encodes are copied, whatever their size', async (t) => {
  for (const sizeBytes of [1000, 300_000, 3 * WINDOW_BYTES]) {
    const [fast, memory] = [await memoryStore(), await memoryStore()]
    const slow = new Watched(memory)
    const bytes = bytesOf(sizeBytes)
    const digest = digestOf(bytes)
    await put(await zstdStore(memory), digest, bytes)
    const store = await zstdStore(await tiers(fast, slow))
    const found = await Promise.all(Array.from({ length: 3 }, () => get(store, digest)))
    t.ok(found.every((blob) => blob.equals(bytes)))
    await until(() => isPresent(fast, digest))
    const before = slow.reads
    t.ok((await get(store, digest)).equals(bytes))
    t.equal(slow.reads, before, 'then fast has it')
  }
})

t.test('noop behind verify still keeps nothing', async (t) => {
  const checks = { backend: given, verify_size: true, verify_hash: true }
  const nothing = await buildStore(verify, checks, { children: { backend: await buildStore(noop, {}) } })
  const store = await tiers(await memoryStore(), nothing)
  const bytes = bytesOf(1000)
  await put(store, digestOf(bytes), bytes)
  t.ok(await isPresent(store, digestOf(bytes)))
  t.ok((await get(store, digestOf(bytes))).equals(bytes))
})

/** The bytes hashed by a function during `work`. */
const hashedBytes = async (digestFunction: DigestFunction, work: () => Promise<unknown>): Promise<number> => {
  const { createHasher, hash } = digestFunction
  let hashed = 0
  const counting = (hasher: Hasher): Hasher => ({
    update: (bytes) => {
      hashed += bytes.length
      hasher.update(bytes)
    },
    copy: () => counting(hasher.copy()),
    digest: () => hasher.digest(),
  })
  Object.assign(digestFunction, {
    createHasher: () => counting(createHasher(undefined)),
    hash: (bytes: Uint8Array) => {
      hashed += bytes.length
      return hash(bytes)
    },
  })
  await work()
  Object.assign(digestFunction, { createHasher, hash })
  return hashed
}

t.test('a blob read from slow is hashed once, even with several readers that verify it', async (t) => {
  const checks = { backend: given, verify_size: true, verify_hash: true }
  const verified = (backend: Store) => buildStore(verify, checks, { children: { backend } })
  for (const sizeBytes of [1000, 3_000_000]) {
    const bytes = bytesOf(sizeBytes)
    const digest = digestOf(bytes)
    const [fast, slow] = [await verified(await memoryStore()), await verified(await memoryStore())]
    const store = await verified(await tiers(fast, slow))
    await put(slow, digest, bytes)
    const hashed = await hashedBytes(digest.function, async () => {
      const found = await Promise.all([get(store, digest), get(store, digest)])
      t.ok(found.every((blob) => blob.equals(bytes)))
      await until(() => isPresent(fast, digest))
    })
    t.equal(hashed, sizeBytes)
  }
})

t.test('an upload is hashed once though a store below verifies too', async (t) => {
  const backend = new Watched(await memoryStore())
  const checks = { backend: given, verify_size: true, verify_hash: true }
  const slow = await buildStore(verify, checks, { children: { backend } })
  const cas = asCas(await tiers(await memoryStore(), slow))
  for (const sizeBytes of [1000, 3_000_000]) {
    const bytes = bytesOf(sizeBytes)
    const digest = digestOf(bytes)
    const hashed = await hashedBytes(digest.function, async () => {
      await putBytes(cas, digest, bytes, call)
      await put(cas, digest, bytes)
    })
    t.equal(hashed, 2 * sizeBytes, `two uploads of ${sizeBytes} bytes`)
  }
})

t.test('a removed blob is absent from both tiers', async (t) => {
  const { fast, slow, store, digest, bytes } = await setUp()
  await put(store, digest, bytes)
  await store.remove(digest, 'unwanted', call)
  t.notOk(await isPresent(fast, digest))
  t.notOk(await isPresent(slow, digest))
})

t.test('health names the tier', async (t) => {
  const { fast, slow, store } = await setUp()
  t.equal((await store.health(call)).state, 'Ok')
  const failing = async () => ({ state: 'Failed', message: 'no disk', error: 'EIO' }) as const
  const unwell = (backend: Store): Store => Object.assign(new Watched(backend), { health: failing })
  const slowFails = await tiers(fast, unwell(slow))
  t.match(await slowFails.health(call), { state: 'Failed', message: 'slow: no disk' })
  const fastFails = await tiers(unwell(fast), slow)
  t.match(await fastFails.health(call), { state: 'Warning', message: 'fast: no disk' })
})

/** A store with files. */
class WithFiles extends ForwardingStore {
  override get files(): BlobFiles {
    return {
      lease: async (missing) => ({ missing, extend: async (more) => more, release: () => {} }),
      locate: async () => ({ bytes: Buffer.alloc(0) }),
      maxBlobBytes: async () => Number.POSITIVE_INFINITY,
      reserve: async () => ({ path: '', isSynced: false, inFlight: uncounted() }),
      adopt: async () => {},
      populate: async () => {},
      drop: async () => {},
    }
  }
}

t.test('a worker gets blobs from slow into the files of fast', async (t) => {
  const near = new WithFiles(await memoryStore())
  const slow = new Watched(await memoryStore())
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

t.test(
  'a blob removed and stored again while a worker waits for its file is fetched again, not waited for forever',
  async (t) => {
    const memory = await memoryStore()
    const slow = new Gated(memory, 0)
    const fast = new WithFiles(await memoryStore())
    const store = await tiers(fast, slow)
    const bytes = bytesOf(200_000)
    const digest = digestOf(bytes)
    await put(memory, digest, bytes)
    const populating = store.files?.populate(digest, call)
    await until(() => slow.reads === 1)
    await store.remove(digest, 'unwanted', call)
    await put(memory, digest, bytes)
    slow.open()
    await inTime(populating ?? Promise.resolve(), 'the file')
    t.equal(slow.reads, 2)
    t.ok(await isPresent(fast, digest))
  },
)

t.test('a reader that leaves while a copy waits for slow is closed at once, and the copy goes on', async (t) => {
  const memory = await memoryStore()
  const slow = new Gated(memory, 2)
  const fast = await memoryStore()
  const store = await tiers(fast, slow)
  const bytes = bytesOf(1_000_000)
  const digest = digestOf(bytes)
  await put(memory, digest, bytes, { sizes: [100_000] })
  const [source] = (await store.get(digest, WHOLE, call)).path()
  source.resume()
  await once(source, 'data')
  for (let i = 0; i < 20; i++) await setImmediate()
  source.destroy()
  await inTime(once(source, 'close'), 'the reader')
  t.notOk(await isPresent(fast, digest))
  slow.open()
  await until(() => isPresent(fast, digest))
})

t.test('a complete copy that fast rejects at its commit is read to its end, without slow', async (t) => {
  const slow = new Watched(await memoryStore())
  const fast = new Watched(await memoryStore())
  const store = await tiers(fast, slow)
  const bytes = bytesOf(1_000_000)
  const digest = digestOf(bytes)
  await put(slow, digest, bytes)
  fast.fails.commit = broken()
  const reading = await store.get(digest, WHOLE, call)
  await until(() => slow.readBytes === bytes.length)
  for (let i = 0; i < 20; i++) await setImmediate()
  t.ok((await reading.bytes(...all)).equals(bytes))
  t.equal(slow.reads, 1)
})
