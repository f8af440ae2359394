import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { Digest } from '../../../src/reapi/digest.js'
import { DigestBatch } from '../../../src/reapi/digest-batch.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { Invocations } from '../../../src/rpc/invocations.js'
import { ABSENT, BlobIndex, type BrokenPromise } from '../../../src/store/index/blob-index.js'
import type { Claimant } from '../../../src/store/index/promises.js'

const RETENTION_S = 600
const START_MS = 1_000_000_000_000

const digestOf = (text: string): Digest => Digest.of(Buffer.from(text), digestFunctions.SHA256)

interface Options {
  readonly maxBytes?: number
  readonly whenFull?: 'break' | 'refuse'
  readonly maxSeconds?: number
  readonly clock?: ManualClock
}

const setUp = ({
  maxBytes = 100,
  whenFull = 'break',
  maxSeconds = 0,
  clock = new ManualClock(START_MS),
}: Options = {}) => {
  const invocations = new Invocations(clock)
  invocations.start()
  const policy = { max_bytes: maxBytes, evict_bytes: 0, max_count: 0, max_seconds: maxSeconds }
  const index = new BlobIndex({ policy, clock, promises: { retentionS: RETENTION_S, whenFull, invocations } })
  const broken: BrokenPromise[] = []
  index.onBroken = (one) => void broken.push(one)
  return { clock, invocations, index, broken }
}

/** Evicts like a store. Returns what was evicted. */
const evict = (index: BlobIndex): readonly string[] => {
  const evicted: string[] = []
  for (let slot = index.victim(); slot !== ABSENT; slot = index.victim()) {
    evicted.push(index.digestOf(slot).key)
    index.noteEviction(slot)
    index.remove(slot)
  }
  return evicted
}

const put = (index: BlobIndex, name: string, sizeBytes: number, claimant: Claimant = {}): readonly string[] => {
  const digest = digestOf(name)
  index.checkRoomFor(digest, sizeBytes)
  index.insert(digest, sizeBytes)
  index.holdFor(digest, claimant)
  return evict(index)
}

const find = (index: BlobIndex, names: readonly string[], claimant: Claimant = {}): number =>
  index.missing(DigestBatch.of(names.map(digestOf)), claimant).count

t.test('a blob is evicted without a broken promise once its retention has passed', async (t) => {
  const { index, clock, broken } = setUp()
  put(index, 'a', 60)
  clock.advance(RETENTION_S * 1000)
  t.strictSame(put(index, 'b', 60), [digestOf('a').key])
  t.strictSame(broken, [])
  t.equal(index.usage.promised?.promisedBytes, 60, 'only the new one is promised')
  t.strictSame(put(index, 'c', 60), [digestOf('b').key])
  t.match(broken, [{ idleS: 0 }], 'no room')
  t.equal(index.usage.promised?.brokenCount, 1)
})

t.test('the last 65,536 evictions are remembered with their time', async (t) => {
  const { index, clock } = setUp()
  put(index, 'a', 60)
  t.equal(index.evictedMs(digestOf('a')), undefined, 'it is there')
  clock.advance(RETENTION_S * 1000)
  put(index, 'b', 60)
  const evictedMs = START_MS + RETENTION_S * 1000
  t.equal(index.evictedMs(digestOf('a')), evictedMs)
  t.equal(index.evictedMs(digestOf('b')), undefined)
  index.remove(index.find(digestOf('b')))
  t.equal(index.evictedMs(digestOf('b')), undefined, 'a removal is no eviction')
  clock.advance(5000)
  put(index, 'a', 60)
  put(index, 'c', 60)
  t.equal(index.evictedMs(digestOf('a')), evictedMs + 5000, 'the last time of several')
  put(index, 'other 0', 60)
  for (let at = 1; at <= 65_536; at++) put(index, `other ${at}`, 60)
  t.equal(index.evictedMs(digestOf('c')), undefined, 'so many others were evicted since')
  t.equal(index.evictedMs(digestOf('other 1')), evictedMs + 5000)
})

t.test('what is promised is counted by the minute', async (t) => {
  const { index, clock } = setUp()
  put(index, 'a', 10)
  clock.advance(5 * 60_000)
  put(index, 'b', 20)
  const promised = (): number | undefined => index.usage.promised?.promisedBytes
  t.equal(promised(), 30)
  find(index, ['a'])
  clock.advance(RETENTION_S * 1000 - 60_000)
  t.equal(promised(), 30)
  index.remove(index.find(digestOf('b')))
  t.equal(promised(), 10)
  clock.advance(3 * 60_000)
  t.equal(promised(), 0)
})

t.test(
  'refuse: an upload that needs promised room fails and says what to do; a present blob is always taken',
  async (t) => {
    const { index, clock, broken } = setUp({ whenFull: 'refuse' })
    for (const name of 'abcd') put(index, name, 20)
    const refused = {
      code: 8,
      message: /80 bytes of 100 are promised.*: raise max_bytes, lower retention, or set when_full/,
    }
    t.throws(() => put(index, 'e', 20), refused)
    put(index, 'd', 20)
    clock.advance(RETENTION_S * 1000 - 1000)
    t.throws(() => put(index, 'e', 20), refused)
    find(index, ['a'])
    clock.advance(61_000)
    put(index, 'e', 40)
    t.equal(find(index, ['a', 'e']), 0)
    t.strictSame(broken, [])
  },
)

t.test(
  'a build keeps what it used while it lives, longer than the retention, and gives it back at its end',
  async (t) => {
    const { index, clock, invocations, broken } = setUp()
    const invocation = invocations.touch('build')
    put(index, 'mine', 20, { invocation })
    put(index, 'other', 20)
    find(index, ['other'])
    const close = invocations.opened('build')
    clock.advance(10 * RETENTION_S * 1000)
    t.strictSame(put(index, 'new', 70), [digestOf('other').key])
    clock.advance(RETENTION_S * 1000)
    t.strictSame(put(index, 'newer', 70), [digestOf('new').key])
    t.equal(index.usage.promised?.heldBytes, 20)
    invocations.ended('build')
    close()
    t.equal(index.usage.promised?.heldBytes, 0)
    t.strictSame(put(index, 'newest', 20), [digestOf('mine').key], 'what was kept goes first')
    t.strictSame(broken, [])
  },
)

t.test('a promise to a live build is broken last, and names the build', async (t) => {
  const { index, clock, invocations, broken } = setUp({ maxBytes: 100 })
  const later = <Result>(work: () => Result): Result => {
    clock.advance(100_000)
    return work()
  }
  put(index, 'mine', 20, { invocation: invocations.touch('build') })
  const gone = invocations.touch('gone')
  t.strictSame(
    later(() => put(index, 'b', 80, { invocation: gone })),
    [],
  )
  invocations.ended('gone')
  const broke = later(() => put(index, 'c', 80))
  t.strictSame(broke, [digestOf('b').key], 'the other is younger, but nobody is there for it')
  const all = later(() => put(index, 'd', 100))
  t.strictSame(all, [digestOf('c').key, digestOf('mine').key], 'the new one is spared')
  t.match(broken, [{ invocation: undefined }, { invocation: undefined }, { invocation: 'build', idleS: 300 }])
})

t.test('a blob that two builds use is kept until both have ended', async (t) => {
  for (const first of ['a', 'b']) {
    const { index, clock, invocations } = setUp()
    const last = first === 'a' ? 'b' : 'a'
    for (const id of ['a', 'b']) invocations.opened(id)
    put(index, 'shared', 20, { invocation: invocations.touch('a') })
    find(index, ['shared'], { invocation: invocations.touch('b') })
    find(index, ['shared'], { invocation: invocations.touch('a') })
    t.equal(index.usage.promised?.heldBytes, 20, 'it counts once')
    clock.advance(RETENTION_S * 1000)
    invocations.ended(first)
    put(index, 'x', 80)
    t.equal(find(index, ['shared']), 0, `after the end of ${first}`)
    clock.advance(RETENTION_S * 1000)
    invocations.ended(last)
    put(index, 'y', 100)
    t.equal(find(index, ['shared']), 1)
  }
})

t.test('one build holds at most a quarter of the store, all builds 80 %', async (t) => {
  const { index, invocations } = setUp({ maxBytes: 1000 })
  const held = (): number | undefined => index.usage.promised?.heldBytes
  const upload = (build: number, count: number): void => {
    const invocation = invocations.touch(`${build}`)
    for (let blob = 0; blob < count; blob++) put(index, `${build} ${blob}`, 10, { invocation })
  }
  upload(0, 30)
  t.equal(held(), 250)
  for (let build = 1; build < 4; build++) upload(build, 20)
  t.equal(held(), 800)
  for (let build = 0; build < 4; build++) invocations.ended(`${build}`)
  t.equal(held(), 0)
})

t.test('a call can ask to keep blobs for longer than the retention', async (t) => {
  const { index, clock, broken } = setUp()
  put(index, 'a', 50)
  put(index, 'b', 50)
  find(index, ['a'], { keepForMs: 10 * RETENTION_S * 1000 })
  find(index, ['b'], { keepForMs: 1000 })
  clock.advance(9 * RETENTION_S * 1000)
  t.strictSame(put(index, 'c', 50), [digestOf('b').key])
  clock.advance(RETENTION_S * 1000 + 60_000)
  t.strictSame(put(index, 'd', 50), [digestOf('a').key])
  t.strictSame(broken, [])
})

t.test('max_seconds below the retention is the retention', async (t) => {
  const { index, clock, broken } = setUp({ maxSeconds: 60 })
  t.equal(index.retentionMs, 60_000)
  put(index, 'a', 10)
  clock.advance(60_000)
  t.strictSame(evict(index), [digestOf('a').key])
  t.strictSame(broken, [])
})

t.test('an index that promises nothing evicts as before and reports nothing', async (t) => {
  const policy = { max_bytes: 10, evict_bytes: 0, max_count: 0, max_seconds: 0 }
  const clock = new ManualClock(START_MS)
  const index = new BlobIndex({ policy, clock })
  put(index, 'a', 10, { invocation: new Invocations(clock).touch('build') })
  t.strictSame(put(index, 'b', 10), [digestOf('a').key])
  t.equal(index.usage.promised, undefined)
  t.equal(index.retentionMs, 0)
})

type Step =
  | { readonly kind: 'upload' | 'find'; readonly blob: number; readonly build: number }
  | { readonly kind: 'flood'; readonly blob: number }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'end'; readonly build: number }
  | { readonly kind: 'restart'; readonly isOrdered: boolean }

const blob = fc.integer({ min: 0, max: 19 })
const build = fc.integer({ min: 0, max: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('upload' as const, 'find' as const), blob, build }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('flood' as const), blob: fc.nat(1000) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 500 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), build }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), isOrdered: fc.boolean() }) },
)

/**
 * The model: until when each blob is promised by its last use, and which live builds used it. Blobs of builds are small
 * enough that no build reaches the bounds of leases.
 */
const runModel = (steps: readonly Step[], whenFull: 'break' | 'refuse'): { readonly broken: number } => {
  const clock = new ManualClock(START_MS)
  let { index, invocations } = setUp({ clock, whenFull })
  const usedMs = new Map<string, number>()
  const users = new Map<string, Set<number>>()
  /** The time of the last call of each live build. */
  const calledMs = new Map<number, number>()
  let lastName = 0
  const names = [0, 1, 2, 3].map((build) => `first ${build}`)
  let broken = 0
  const isLive = (build: number): boolean => clock.now() - (calledMs.get(build) ?? 0) < 600_000
  const isPromised = (name: string): boolean => {
    const isRetained = clock.now() - (usedMs.get(name) ?? 0) < RETENTION_S * 1000
    return isRetained || [...(users.get(name) ?? [])].some(isLive)
  }
  const use = (name: string, build?: number): void => {
    usedMs.set(name, clock.now())
    if (build === undefined) return
    // A build that was quiet for ten minutes begins anew.
    if (!isLive(build)) for (const all of users.values()) all.delete(build)
    calledMs.set(build, clock.now())
    users.set(name, (users.get(name) ?? new Set<number>()).add(build))
  }
  const namesByKey = new Map<string, string>()
  const evictAll = (): void => {
    for (let slot = index.victim(); slot !== ABSENT; slot = index.victim()) {
      const name = namesByKey.get(index.digestOf(slot).key) ?? ''
      const before = index.usage.promised?.brokenCount ?? 0
      index.noteEviction(slot)
      const isCounted = (index.usage.promised?.brokenCount ?? 0) > before
      if (isPromised(name) && !isCounted) throw new Error(`${name} was promised and left without a word`)
      if (isCounted) broken += 1
      index.remove(slot)
      usedMs.delete(name)
      users.delete(name)
    }
    if (index.bytes > 100) throw new Error(`the index keeps ${index.bytes} bytes`)
  }
  for (const one of steps) {
    if (one.kind === 'wait') {
      clock.advance(one.seconds * 1000)
    } else if (one.kind === 'end') {
      invocations.ended(names[one.build] as string)
      calledMs.delete(one.build)
      for (const all of users.values()) all.delete(one.build)
      names[one.build] = `build ${++lastName}`
    } else if (one.kind === 'restart') {
      const restarted = setUp({ clock, whenFull })
      const image = index.image
      const copy = { ...image, chunks: image.chunks.map((chunk) => chunk.slice()), tails: [...image.tails] }
      restarted.index.restore(copy, one.isOrdered)
      index = restarted.index
      invocations = restarted.invocations
      users.clear()
      calledMs.clear()
    } else {
      const name = one.kind === 'flood' ? `flood ${one.blob}` : `blob ${one.blob}`
      const digest = digestOf(name)
      namesByKey.set(digest.key, name)
      const id = one.kind === 'flood' ? undefined : one.build
      const invocation = id === undefined ? undefined : invocations.touch(names[id] as string)
      if (one.kind === 'find') {
        if (index.missing(DigestBatch.of([digest]), { invocation }).count === 0) use(name, id)
        else if (usedMs.has(name)) throw new Error(`${name} is missing`)
        continue
      }
      const sizeBytes = one.kind === 'flood' ? 30 : 1
      try {
        index.checkRoomFor(digest, sizeBytes)
      } catch {
        continue
      }
      index.insert(digest, sizeBytes)
      index.holdFor(digest, { invocation })
      // A replaced blob is a new one: it belongs to the build that wrote it.
      if (one.kind === 'upload') users.delete(name)
      use(name, id)
      evictAll()
    }
  }
  return { broken }
}

t.test('no promised blob is absent before its time unless the counter rose for it (model)', async (t) => {
  let broken = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
      broken += runModel(steps, 'break').broken
    }),
    { numRuns: 400 },
  )
  t.ok(broken > 100, `there were ${broken} broken promises to be counted`)
})

t.test('refuse never breaks a promise (model)', async (t) => {
  let broken = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
      broken += runModel(steps, 'refuse').broken
    }),
    { numRuns: 400 },
  )
  t.equal(broken, 0)
})
