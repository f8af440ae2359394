import fc from 'fast-check'
import t from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { DigestBatch } from '../../src/reapi/digest-batch.js'
import { type DigestFunctionName, digestFunctions } from '../../src/reapi/digest-function.js'

const names: readonly DigestFunctionName[] = ['SHA256', 'SHA1', 'MD5', 'SHA384', 'SHA512', 'BLAKE3']
const sizes = fc.oneof(fc.constant(0), fc.maxSafeNat(), fc.constantFrom(2 ** 31, 2 ** 32, 2 ** 53 - 1))

const digestsOf = (name: DigestFunctionName, all: readonly number[]): Digest[] =>
  all.map((sizeBytes, at) => {
    const hash = digestFunctions[name].hash(Buffer.from(`${at}`))
    return Digest.parse({ hash, sizeBytes }, digestFunctions[name])
  })

const keys = (batch: DigestBatch): string[] => batch.digests().map(({ key }) => key)

t.test('merged selections of a batch keep the order of the request', async (t) => {
  const asked = fc.record({
    name: fc.constantFrom(...names),
    all: fc.array(fc.record({ sizeBytes: sizes, way: fc.nat(3), isMissing: fc.boolean() }), { maxLength: 60 }),
    isKnown: fc.boolean(),
  })
  const agrees = fc.property(asked, ({ name, all, isKnown }) => {
    const digests = digestsOf(
      name,
      all.map(({ sizeBytes }) => sizeBytes),
    )
    const known = DigestBatch.of(digests)
    const batch = isKnown ? known : new DigestBatch(digestFunctions[name], known.words, digests.length)
    const ways = [0, 1, 2, 3].map((way) => {
      const part = batch.select(all.flatMap((it, at) => (it.way === way ? [at] : [])))
      const missing: number[] = []
      for (let at = 0; at < part.count; at++) if (all[part.positionOf(at)]?.isMissing) missing.push(at)
      return part.select(missing)
    })
    const [first = batch, ...others] = ways
    const merged = DigestBatch.merge(first, ...others)
    const expected = digests.filter((_, at) => all[at]?.isMissing)
    if (keys(merged).join() !== expected.map(({ key }) => key).join())
      throw new Error('other digests, or another order')
    for (let at = 0; at < merged.count; at++) {
      if (digests[merged.positionOf(at)]?.key !== merged.at(at).key) throw new Error('a wrong position')
    }
  })
  t.doesNotThrow(() => fc.assert(agrees, { numRuns: 200 }))
})

t.test('a Digest and a batch give the same hash words', async (t) => {
  for (const name of names) {
    const digests = digestsOf(name, Array(50).fill(7))
    const batch = DigestBatch.of(digests)
    const words = [0, 1, 3]
    const alone = digests.map((digest) => words.map((word) => digest.hashWord(word)))
    t.same(
      alone,
      digests.map((_, index) => words.map((word) => batch.hashWordAt(index, word))),
      name,
    )
  }
})

t.test('withoutEmpty drops the empty blob', async (t) => {
  const { SHA256 } = digestFunctions
  const empty = Digest.of(Buffer.alloc(0), SHA256)
  const [other, digest] = digestsOf('SHA256', [0, 300]) as [Digest, Digest]
  const without = (...digests: Digest[]): string[] => keys(DigestBatch.of(digests).withoutEmpty())
  t.strictSame(without(empty, other, empty, digest), [other.key, digest.key])
  t.strictSame(without(empty), [])
  t.strictSame(without(), [])
})

t.test('a batch rejects digests of different functions', async (t) => {
  const [one] = digestsOf('SHA256', [1])
  const [other] = digestsOf('BLAKE3', [1])
  t.throws(() => DigestBatch.of([one as Digest, other as Digest]), {
    message: /a batch of SHA256 digests has one of BLAKE3/,
  })
})

t.test('selections of keys are keys, until converted', (t) => {
  const digests = Array.from({ length: 6 }, (_, i) => Digest.of(Buffer.from(`${i}`), digestFunctions.SHA256))
  const keys = DigestBatch.of(digests).as({ areKeys: true })
  const some = keys.select([1, 3])
  for (const batch of [
    keys,
    some,
    keys.except(some),
    DigestBatch.merge(some, keys.except(some)),
    keys.withoutEmpty(),
  ]) {
    t.ok(batch.digests().every(({ describesContent }) => !describesContent))
    const told = batch.as(DigestBatch.of(digests))
    t.ok(told.digests().every(({ describesContent }) => describesContent))
  }
  const keysOf = (batch: DigestBatch) => batch.digests().map(({ key }) => key)
  const rest = [0, 2, 4, 5].map((index) => digests[index]?.key)
  t.same(keysOf(keys.except(some)), rest)
  t.same(keysOf(keys.except(keys.select([]))), keysOf(keys))
  t.same(keysOf(keys.except(keys)), [])
  t.end()
})
