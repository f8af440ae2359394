import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import type { EvictionPolicy } from '../../../src/config/config.js'
import { Digest } from '../../../src/reapi/digest.js'
import { DigestBatch } from '../../../src/reapi/digest-batch.js'
import { type DigestFunctionName, digestFunctions } from '../../../src/reapi/digest-function.js'
import { ABSENT, BlobIndex } from '../../../src/store/index/blob-index.js'
import { RECORD_WORDS } from '../../../src/store/index/records.js'
import { heldBufferBytes } from '../../held-memory.js'
import { slotsOf } from './order.js'

const NO_LIMITS: EvictionPolicy = { max_bytes: 0, evict_bytes: 0, max_count: 0, max_seconds: 0 }

const digestOf = (text: string, name: DigestFunctionName = 'SHA256'): Digest =>
  Digest.of(Buffer.from(text), digestFunctions[name])

const keys = (index: BlobIndex): string[] => slotsOf(index).map((slot) => index.digestOf(slot).key)

const evict = (index: BlobIndex): string[] => {
  const evicted: string[] = []
  for (let slot = index.victim(); slot !== ABSENT; slot = index.victim()) {
    evicted.push(index.digestOf(slot).key)
    index.remove(slot)
  }
  return evicted
}

t.test('identity is function, whole hash and size', async (t) => {
  const index = new BlobIndex({ policy: NO_LIMITS, clock: new ManualClock() })
  const all = Object.values(digestFunctions).flatMap((served) => {
    const hash = served.hash(Buffer.from('a'))
    const lastDigitFlipped = hash.slice(0, -1) + (hash.endsWith('0') ? '1' : '0')
    const sizes = [0, 1, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1]
    return [hash, lastDigitFlipped].flatMap((text) =>
      sizes.map((sizeBytes) => Digest.parse({ hash: text, sizeBytes }, served)),
    )
  })
  const sameHash = 'ab'.repeat(32)
  for (const name of ['SHA256', 'BLAKE3'] as const) {
    all.push(Digest.parse({ hash: sameHash, sizeBytes: 7 }, digestFunctions[name]))
  }
  for (const [at, digest] of all.entries()) {
    t.equal(index.find(digest), ABSENT, `${digest} is new`)
    index.insert(digest, digest.sizeBytes)
    t.equal(index.count, at + 1)
  }
  t.strictSame(
    keys(index),
    all.map(({ key }) => key),
    'digests read back whole',
  )
  for (const digest of all) t.equal(index.storedBytesOf(index.find(digest)), digest.sizeBytes)
})

t.test('limits', async (t) => {
  const clock = new ManualClock(1_000_000)
  const blobs = Array.from({ length: 10 }, (_, number) => digestOf(`blob ${number}`))
  const filled = (limits: Partial<EvictionPolicy>, blockSizeBytes = 1): BlobIndex => {
    const index = new BlobIndex({ policy: { ...NO_LIMITS, ...limits }, clock, blockSizeBytes })
    for (const digest of blobs) index.insert(digest, 10)
    return index
  }
  const oldest = (count: number): string[] => blobs.slice(0, count).map(({ key }) => key)

  t.strictSame(evict(filled({})), [])
  t.strictSame(evict(filled({ max_bytes: 100 })), [], 'exactly full is not over')
  t.strictSame(evict(filled({ max_bytes: 99 })), oldest(1))
  t.strictSame(evict(filled({ max_bytes: 99, evict_bytes: 50 })), oldest(6), 'down to the low-water mark')
  t.strictSame(evict(filled({ max_bytes: 100, evict_bytes: 50 })), [], 'the mark matters only once over the limit')
  t.strictSame(evict(filled({ max_bytes: 5 * 4096 }, 4096)), oldest(5), 'blocks count, not bytes')
  t.strictSame(evict(filled({ max_count: 3 })), oldest(7))

  const aging = filled({ max_seconds: 60 })
  clock.advance(59_000)
  aging.use(blobs[0] as Digest)
  clock.advance(999)
  t.strictSame(evict(aging), [], 'never early')
  clock.advance(1)
  t.strictSame(evict(aging).length, 9, 'a blob used since then stays')

  const twins = filled({ max_bytes: 100 })
  twins.setExecutable(twins.find(blobs[9] as Digest), true)
  t.strictSame(evict(twins), oldest(1), 'a twin counts')
  t.equal(twins.bytes, 100)

  const pinned = filled({ max_count: 1 })
  for (const digest of blobs.slice(0, 3)) pinned.pin(pinned.find(digest))
  t.strictSame(
    evict(pinned),
    blobs.slice(3).map(({ key }) => key),
    'pinned blobs stay even over the limit',
  )
  pinned.unpin(pinned.find(blobs[1] as Digest))
  t.strictSame(evict(pinned), [blobs[1]?.key])

  t.equal(filled({ max_bytes: 4096 }, 4096).fits(4096), true)
  t.equal(filled({ max_bytes: 4096 }, 4096).fits(4097), false)
})

type Step =
  | { readonly kind: 'insert'; readonly blob: number; readonly storedBytes: number }
  | { readonly kind: 'use' | 'remove' | 'pin' | 'unpin' | 'twin'; readonly blob: number }
  | { readonly kind: 'advance'; readonly ms: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('insert' as const), blob: fc.nat(60), storedBytes: fc.nat(20) }),
    fc.record({
      kind: fc.constantFrom(
        'use' as const,
        'use' as const,
        'remove' as const,
        'pin' as const,
        'unpin' as const,
        'twin' as const,
      ),
      blob: fc.nat(60),
    }),
    fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(1500) }),
  ),
  { maxLength: 300 },
)

/** A reference model: a Map in recency order. */
class Model {
  readonly blobs = new Map<string, { storedBytes: number; isPinned: boolean; hasTwin: boolean; accessedMs: number }>()

  get bytes(): number {
    return [...this.blobs.values()].reduce((sum, { storedBytes, hasTwin }) => sum + storedBytes * (hasTwin ? 2 : 1), 0)
  }

  touch(key: string, nowMs: number): void {
    const blob = this.blobs.get(key)
    if (blob === undefined) return
    blob.accessedMs = nowMs
    this.blobs.delete(key)
    this.blobs.set(key, blob)
  }

  evict(limits: EvictionPolicy, nowMs: number): string[] {
    const evicted: string[] = []
    let isDraining = this.bytes > limits.max_bytes
    for (const [key, blob] of [...this.blobs]) {
      if (blob.isPinned) continue
      isDraining &&= this.bytes > limits.max_bytes - limits.evict_bytes
      const isExpired = nowMs / 1000 - Math.ceil(blob.accessedMs / 1000) >= limits.max_seconds
      if (!isDraining && this.blobs.size <= limits.max_count && !isExpired) break
      this.blobs.delete(key)
      evicted.push(key)
    }
    return evicted
  }
}

t.test('any sequence of operations agrees with a Map', async () => {
  const names: DigestFunctionName[] = ['SHA256', 'SHA1', 'MD5', 'SHA512', 'BLAKE3']
  const blobs = Array.from({ length: 61 }, (_, at) => digestOf(String(at), names[at % names.length]))
  const limits = { max_bytes: 300, evict_bytes: 40, max_count: 40, max_seconds: 4 }
  const apply = (step: Step, index: BlobIndex, model: Model, clock: ManualClock): void => {
    if (step.kind === 'advance') {
      clock.advance(step.ms)
      return
    }
    const digest = blobs[step.blob] as Digest
    if (step.kind === 'insert') {
      index.insert(digest, step.storedBytes)
      const isPinned = model.blobs.get(digest.key)?.isPinned ?? false
      model.blobs.set(digest.key, { storedBytes: step.storedBytes, isPinned, hasTwin: false, accessedMs: 0 })
      model.touch(digest.key, clock.now())
      return
    }
    const slot = index.find(digest)
    const blob = model.blobs.get(digest.key)
    if ((slot === ABSENT) !== (blob === undefined))
      throw new Error(`${digest} is ${blob} in the model, not in the index`)
    if (slot === ABSENT || blob === undefined) return
    if (step.kind === 'use') {
      index.use(digest)
      model.touch(digest.key, clock.now())
    } else if (step.kind === 'remove') {
      index.remove(slot)
      model.blobs.delete(digest.key)
    } else if (step.kind === 'twin') {
      index.setExecutable(slot, true)
      blob.hasTwin = true
    } else {
      if (step.kind === 'pin') index.pin(slot)
      else index.unpin(slot)
      if (step.kind === 'unpin' && blob.isPinned) model.touch(digest.key, clock.now())
      blob.isPinned = step.kind === 'pin'
    }
  }
  fc.assert(
    fc.property(steps, (sequence) => {
      const clock = new ManualClock(10_000)
      const index = new BlobIndex({ policy: limits, clock })
      const model = new Model()
      for (const step of sequence) {
        apply(step, index, model, clock)
        const evicted = evict(index)
        const expected = model.evict(limits, clock.now())
        const unpinned = [...model.blobs].filter(([, blob]) => !blob.isPinned).map(([key]) => key)
        const same =
          evicted.join() === expected.join() &&
          keys(index).slice(0, unpinned.length).join() === unpinned.join() &&
          index.count === model.blobs.size &&
          index.bytes === model.bytes
        if (!same)
          throw new Error(`after ${JSON.stringify(step)}: evicted ${evicted.length}, expected ${expected.length}`)
      }
    }),
    { numRuns: 300 },
  )
})

t.test('a batch gives the same lookups and uses as its digests one by one', async () => {
  const names: DigestFunctionName[] = ['SHA256', 'SHA1', 'MD5', 'SHA384', 'BLAKE3']
  const asked = fc.record({
    name: fc.constantFrom(...names),
    kept: fc.array(fc.nat(300), { maxLength: 300 }),
    pinned: fc.array(fc.nat(300), { maxLength: 5 }),
    asked: fc.array(fc.nat(300), { minLength: 1, maxLength: 300 }),
  })
  const agrees = fc.property(asked, ({ name, kept, pinned, asked }) => {
    const blob = (number: number): Digest => digestOf(`blob ${number}`, name)
    const [one, other] = [0, 1].map(() => {
      const index = new BlobIndex({ policy: NO_LIMITS, clock: new ManualClock() })
      for (const number of kept) index.insert(blob(number), 1)
      for (const number of pinned) if (kept.includes(number)) index.pin(index.find(blob(number)))
      return index
    }) as [BlobIndex, BlobIndex]
    const digests = asked.map(blob)
    const expected = digests.filter((digest) => one.use(digest) === ABSENT).map(({ key }) => key)
    const found = other.missing(DigestBatch.of(digests)).digests()
    if (expected.join() !== found.map(({ key }) => key).join()) throw new Error('other digests are missing')
    if (keys(one).join() !== keys(other).join()) throw new Error('the order of use differs')
  })
  fc.assert(agrees, { numRuns: 200 })
})

t.test('a large index finds all, keeps its order and stays small', async (t) => {
  const beforeBytes = heldBufferBytes()
  const index = new BlobIndex({ policy: NO_LIMITS, clock: new ManualClock() })
  const count = 40_000
  const blobs = Array.from({ length: count }, (_, number) => digestOf(String(number)))
  for (const digest of blobs) index.insert(digest, 1)
  const bytesEach = (heldBufferBytes() - beforeBytes) / count
  t.ok(bytesEach < 120, `${bytesEach.toFixed(0)} bytes a blob`)
  for (const digest of blobs.filter((_, at) => at % 3 === 0)) index.remove(index.find(digest))
  t.strictSame(
    index
      .missing(DigestBatch.of(blobs))
      .digests()
      .map(({ key }) => key),
    blobs.filter((_, at) => at % 3 === 0).map(({ key }) => key),
  )
  t.equal(
    keys(index).join(),
    blobs
      .filter((_, at) => at % 3 !== 0)
      .map(({ key }) => key)
      .join(),
  )
})

const restoredFrom = (index: BlobIndex, isOrdered: boolean, clock: ManualClock): BlobIndex => {
  const restored = new BlobIndex({ policy: NO_LIMITS, clock, blockSizeBytes: 10 })
  // What a file would hold: copies.
  restored.restore(structuredClone(index.image), isOrdered)
  return restored
}

t.test('an image restores everything, and the index remains usable', async (t) => {
  for (const isOrdered of [true, false]) {
    const clock = new ManualClock(5_000_000)
    const index = new BlobIndex({ policy: NO_LIMITS, clock, blockSizeBytes: 10 })
    const blobs = (['SHA256', 'MD5', 'SHA512', 'SHA384'] as const).map((name) => digestOf(name, name))
    const gone = digestOf('gone')
    index.insert(gone, 7)
    for (const [at, digest] of blobs.entries()) {
      clock.advance(1000)
      index.setExtra(index.insert(digest, 2 ** 33 + at), -at)
    }
    index.remove(index.find(gone))
    index.setExecutable(index.find(blobs[1] as Digest), true)
    index.pin(index.find(blobs[3] as Digest))
    const restored = restoredFrom(index, isOrdered, clock)
    index.setExecutable(index.find(blobs[1] as Digest), false)
    t.strictSame(keys(restored), keys(index))
    t.equal(restored.bytes, index.bytes)
    t.equal(restored.count, index.count)
    for (const [at, digest] of blobs.entries()) {
      const slot = restored.find(digest)
      t.equal(restored.storedBytesOf(slot), 2 ** 33 + at)
      t.equal(restored.extraOf(slot), -at)
      t.equal(restored.accessedOf(slot), 5001 + at)
      t.equal(restored.hasExecutable(slot), false, 'nor does a twin')
      t.equal(restored.isPinned(slot), false, 'a pin does not outlive the process')
    }
    t.equal(restored.find(gone), ABSENT)
    for (const text of ['a', 'b', 'c']) restored.insert(digestOf(text), 1)
    t.equal(restored.count, 7)
    t.equal(keys(restored).at(-1), digestOf('c').key)
    for (const key of keys(restored))
      restored.remove(slotsOf(restored).find((slot) => restored.digestOf(slot).key === key) ?? ABSENT)
    t.equal(restored.bytes, 0)
  }
})

t.test('any index is restored from its image, in its order if nothing changed meanwhile', async () => {
  const uses = fc.array(fc.record({ isRemoval: fc.boolean(), number: fc.nat(40), waitMs: fc.nat(3000) }), {
    maxLength: 120,
  })
  const holds = fc.asyncProperty(uses, fc.boolean(), async (sequence, isOrdered) => {
    const clock = new ManualClock(1_000_000)
    const index = new BlobIndex({ policy: NO_LIMITS, clock, blockSizeBytes: 10 })
    for (const { isRemoval, number, waitMs } of sequence) {
      clock.advance(waitMs)
      const digest = digestOf(String(number))
      const slot = index.find(digest)
      if (!isRemoval) index.insert(digest, number)
      else if (slot !== ABSENT) index.remove(slot)
    }
    const restored = restoredFrom(index, isOrdered, clock)
    const facts = (of: BlobIndex): string[] =>
      slotsOf(of).map((slot) => `${of.digestOf(slot).key} ${of.storedBytesOf(slot)} ${of.accessedOf(slot)}`)
    const [expected, found] = [facts(index), facts(restored)]
    const seconds = (of: readonly string[]): string => of.map((fact) => fact.split(' ')[2]).join()
    const same = isOrdered
      ? expected.join() === found.join()
      : expected.sort().join() === [...found].sort().join() && seconds(found) === seconds(facts(index))
    if (!same || restored.bytes !== index.bytes || restored.count !== index.count) throw new Error('not the same')
  })
  await fc.assert(holds, { numRuns: 200 })
})

t.test('digests that differ in one word of the hash, or in the size, are all restored', async (t) => {
  const clock = new ManualClock(5_000_000)
  const index = new BlobIndex({ policy: NO_LIMITS, clock, blockSizeBytes: 10 })
  for (const name of ['SHA256', 'SHA512'] as const) {
    const digits = digestFunctions[name].hexLength
    // All have the same place in the table, which comes from the first two words.
    for (let same = 16; same <= digits; same += 8) {
      const hash = 'ab'.repeat(same / 2).padEnd(digits, 'c')
      for (const sizeBytes of [1, 2, 2 ** 33 + 1])
        index.insert(Digest.parse({ hash, sizeBytes }, digestFunctions[name]), 1)
    }
  }
  t.equal(index.count, (7 + 15) * 3)
  const restored = restoredFrom(index, false, clock)
  t.strictSame(keys(restored).toSorted(), keys(index).toSorted())
})

t.test('a digest that occurs twice in an image is restored once', async (t) => {
  const clock = new ManualClock(5_000_000)
  const index = new BlobIndex({ policy: NO_LIMITS, clock, blockSizeBytes: 10 })
  const [a, b] = [digestOf('a'), digestOf('b')]
  for (const digest of [a, b]) index.insert(digest, 1)
  const image = structuredClone(index.image)
  const chunk = image.chunks[0] ?? new Int32Array()
  // As if `a` was removed and uploaded again, into another slot, while the image was written.
  chunk.copyWithin(RECORD_WORDS, 0, RECORD_WORDS)
  const restored = new BlobIndex({ policy: NO_LIMITS, clock })
  restored.restore(image, false)
  t.strictSame(keys(restored), [a.key])
  restored.insert(b, 1)
  t.strictSame(keys(restored), [a.key, b.key])
})
