import fc from 'fast-check'
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { packMissing, unpackFindMissing } from '../../src/proto/find-missing-codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { DigestBatch } from '../../src/reapi/digest-batch.js'
import { type DigestFunctionName, digestFunctions } from '../../src/reapi/digest-function.js'

const requestCodec = codec('build.bazel.remote.execution.v2.FindMissingBlobsRequest')
const responseCodec = codec('build.bazel.remote.execution.v2.FindMissingBlobsResponse')

const hashOf = (hexLength: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: hexLength, maxLength: hexLength })
    .map((all) => all.join(''))

const sizes = fc.oneof(
  fc.constant(0),
  fc.nat(),
  fc.maxSafeNat(),
  fc.constantFrom(2 ** 32, 2 ** 31, 2 ** 53 - 1, 127, 128),
)

const names: readonly DigestFunctionName[] = ['SHA256', 'SHA1', 'MD5', 'SHA384', 'BLAKE3']

const requests = fc.constantFrom(...names).chain((name) =>
  fc.record({
    name: fc.constant(name),
    instanceName: fc.constantFrom('', 'main', 'projects/p', 'ä'),
    blobDigests: fc.array(fc.record({ hash: hashOf(digestFunctions[name].hexLength), sizeBytes: sizes }), {
      minLength: 1,
      maxLength: 20,
    }),
    isNamed: fc.boolean(),
  }),
)

const plain = ({ hash, sizeBytes }: { hash: string; sizeBytes: number }) => ({ hash, sizeBytes })

t.test('a request in the usual form is decoded like the codec does', async (t) => {
  const agrees = fc.property(requests, ({ name, instanceName, blobDigests, isNamed }) => {
    const served = digestFunctions[name]
    const digestFunction = isNamed ? served.value : 0
    const message = requestCodec.encode({ instanceName, blobDigests, digestFunction })
    const packed = unpackFindMissing(Buffer.concat([message]))
    if (packed === undefined) throw new Error('was not read')
    t.strictSame([packed.instanceName, packed.digestFunction], [instanceName, digestFunction])
    t.equal(packed.firstHash, blobDigests[0]?.hash)
    const batch = new DigestBatch(served, packed.words, packed.count)
    const all = blobDigests.map((digest) => Digest.parse(digest, served))
    t.strictSame(
      batch.digests().map(({ key }) => key),
      all.map(({ key }) => key),
    )
    const odd = blobDigests.filter((_, at) => at % 2 === 1)
    const oddDigests = all.filter((_, at) => at % 2 === 1)
    const positions = blobDigests.flatMap((_, at) => (at % 2 === 1 ? [at] : []))
    const selected = batch.select(positions)
    t.strictSame(selected.digests().map(String), oddDigests.map(String))
    t.strictSame(responseCodec.decode(packMissing(packed, selected)).missingBlobDigests.map(plain), odd.map(plain))
    t.strictSame(responseCodec.decode(packMissing(packed, batch)).missingBlobDigests.map(plain), blobDigests.map(plain))
  })
  fc.assert(agrees, { numRuns: 50 })
})

const HASH = 'ab'.repeat(32)
const digest = { hash: HASH, sizeBytes: 300 }

t.test('other forms are left to the codec', async (t) => {
  const good = requestCodec.encode({ instanceName: 'a', blobDigests: [digest, digest], digestFunction: 1 })
  t.not(unpackFindMissing(good), undefined)
  for (let end = 0; end < good.length - 2; end++) {
    const isWhole = end === 3 + 71 || end === 3 + 142
    t.equal(unpackFindMissing(good.subarray(0, end)) !== undefined, isWhole, `cut at ${end}`)
  }
  const of = (...blobDigests: { hash: string; sizeBytes?: number }[]) => requestCodec.encode({ blobDigests })
  const sha512 = 'ab'.repeat(64)
  const requests: [string, Buffer][] = [
    ['no digests', requestCodec.encode({ instanceName: 'a' })],
    ['upper case', of({ hash: HASH.toUpperCase() })],
    ['not hex', of(digest, { hash: `${HASH.slice(1)}g` })],
    ['a colon', of({ hash: `${HASH.slice(1)}:` })],
    ['no hash', of(digest, { hash: '', sizeBytes: 1 })],
    ['another length', of(digest, { hash: HASH.slice(8), sizeBytes: 1 })],
    ['SHA512', of({ hash: sha512, sizeBytes: 1 })],
    ['a negative size', of({ hash: HASH, sizeBytes: -1 })],
    ['2^53', of({ hash: HASH, sizeBytes: 2 ** 53 })],
    ['an unknown field', Buffer.concat([good, Buffer.from([0x20, 1])])],
    ['an unknown field first', Buffer.concat([Buffer.from([0x20, 1]), good])],
    ['a digest behind the function', Buffer.concat([good, of(digest)])],
    ['a long name', requestCodec.encode({ instanceName: 'a'.repeat(128), blobDigests: [digest] })],
  ]
  for (const [title, message] of requests) t.equal(unpackFindMissing(message), undefined, title)
})
