import fc from 'fast-check'
import t, { type Test } from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { type Compressor, compressors } from '../../src/reapi/compressor.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import {
  blobDigest,
  formatReadName,
  formatWriteName,
  parseReadName,
  parseWriteName,
  RESERVED_SEGMENTS,
} from '../../src/reapi/resource-name.js'

const { SHA256, BLAKE3, SHA1 } = digestFunctions
const H = 'a'.repeat(64)
const [ZSTD, DEFLATE, BROTLI] = compressors

const invalid = (t: Test, work: () => unknown, text: string | RegExp, title: string): void => {
  try {
    work()
    t.fail(`${title}: accepted`)
  } catch (error) {
    t.ok(error instanceof StatusError && error.code === 3, `${title}: INVALID_ARGUMENT`)
    t.match(error instanceof Error ? error.message : '', text, title)
  }
}

t.test('INS-03, INS-04, BSR-01, CMP-10: read names', async (t) => {
  const table: [string, string, Compressor | undefined, string | undefined][] = [
    [`blobs/${H}/5`, '', undefined, undefined],
    [`main/blobs/${H}/5`, 'main', undefined, undefined],
    [`projects/p/instances/i/blobs/${H}/5`, 'projects/p/instances/i', undefined, undefined],
    [`blobs/blake3/${H}/5`, '', undefined, 'BLAKE3'],
    [`compressed-blobs/zstd/${H}/5`, '', ZSTD, undefined],
    [`a/b/compressed-blobs/deflate/blake3/${H}/5`, 'a/b', DEFLATE, 'BLAKE3'],
    [`m/compressed-blobs/brotli/${H}/5`, 'm', BROTLI, undefined],
  ]
  for (const [name, instanceName, compressor, digestFunction] of table) {
    const parsed = parseReadName(name)
    t.equal(parsed.instanceName, instanceName, name)
    t.equal(parsed.compressor, compressor)
    t.equal(parsed.digestFunction?.name, digestFunction)
    t.equal(parsed.hash, H)
    t.equal(parsed.sizeBytes, 5)
  }
})

t.test('BSW-01, BSW-02, BSW-03, CMP-01: write names, with segments after the size', async (t) => {
  const table: [string, string, string, Compressor | undefined][] = [
    [`uploads/u/blobs/${H}/5`, '', 'u', undefined],
    [`main/uploads/u/blobs/${H}/5/foo/bar.txt`, 'main', 'u', undefined],
    [`a/b/c/uploads/0-1/blobs/blake3/${H}/5/`, 'a/b/c', '0-1', undefined],
    [`uploads/u/compressed-blobs/zstd/${H}/5/uploads/blobs`, '', 'u', ZSTD],
  ]
  for (const [name, instanceName, uuid, compressor] of table) {
    const parsed = parseWriteName(name)
    t.equal(parsed.instanceName, instanceName, name)
    t.equal(parsed.uuid, uuid)
    t.equal(parsed.compressor, compressor)
    t.equal(parsed.sizeBytes, 5)
  }
})

t.test('a leading slash, as sent with an empty instance name, is tolerated', async (t) => {
  t.same(parseReadName(`/blobs/${H}/5`), parseReadName(`blobs/${H}/5`))
  t.same(parseReadName(`/m/compressed-blobs/zstd/${H}/5`), parseReadName(`m/compressed-blobs/zstd/${H}/5`))
  t.same(parseWriteName(`/uploads/u/blobs/${H}/5`), parseWriteName(`uploads/u/blobs/${H}/5`))
  invalid(t, () => parseWriteName(`//uploads/u/blobs/${H}/5`), /empty segment/, 'two slashes')
})

t.test('BSR-10: invalid read names', async (t) => {
  const table: [string, RegExp][] = [
    ['', /it is empty/],
    ['main', /no blobs, compressed-blobs or uploads/],
    [`${H}/5`, /no blobs/],
    [`//blobs/${H}/5`, /empty segment/],
    ['/', /no blobs/],
    [`a//blobs/${H}/5`, /empty segment/],
    [`blobs`, /hash is missing/],
    [`blobs/${H}`, /size is missing/],
    [`blobs/${H}/`, /size is missing/],
    [`blobs//5`, /hash is missing/],
    [`blobs/${H}/five`, /not a decimal number/],
    [`blobs/${H}/-1`, /not a decimal number/],
    [`blobs/${H}/05`, /not a decimal number/],
    [`blobs/${H}/1e3`, /not a decimal number/],
    [`blobs/${H}/99999999999999999999`, /above 2\^53-1/],
    [`blobs/${H}/5/more`, /something follows/],
    [`uploads/u/blobs/${H}/5`, /it names an upload/],
    [`actions/blobs/${H}/5`, /blobs or compressed-blobs is missing/],
  ]
  for (const [name, reason] of table) {
    invalid(t, () => parseReadName(name), reason, JSON.stringify(name))
    if (name !== '') invalid(t, () => parseReadName(name), /expected \{instance_name\/\}blobs/, 'states the form')
  }
})

t.test('BSW-06, BSW-24, BSQ-05: invalid write names', async (t) => {
  const table: [string, RegExp][] = [
    ['', /it is empty/],
    [`blobs/${H}/5`, /it names no upload/],
    [`m/compressed-blobs/zstd/${H}/5`, /it names no upload/],
    ['uploads', /uuid is missing/],
    [`uploads//blobs/${H}/5`, /uuid is missing/],
    [`uploads/u/${H}/5`, /blobs or compressed-blobs is missing/],
    [`uploads/blobs/${H}/5`, /blobs or compressed-blobs is missing/],
    [`uploads/u/blobs/${H}`, /size is missing/],
    [`uploads/u/blobs/${H}/x`, /not a decimal number/],
  ]
  for (const [name, reason] of table) invalid(t, () => parseWriteName(name), reason, JSON.stringify(name))
})

t.test('CMP-09: unsupported compressors are rejected by name', async (t) => {
  for (const segment of ['xz', 'identity', 'ZSTD', 'gzip', '']) {
    const name = `compressed-blobs/${segment}/${H}/5`
    invalid(t, () => parseReadName(name), /expected one of zstd, deflate, brotli/, name)
    invalid(t, () => parseWriteName(`uploads/u/${name}`), /expected one of zstd, deflate, brotli/, name)
  }
})

t.test('DIG-01, DIG-05, DIG-06, DIG-09: the digest of a name', async (t) => {
  const both = [SHA256, BLAKE3]
  t.equal(blobDigest(parseReadName(`blobs/${H}/5`), both).function, SHA256, 'a bare name never means BLAKE3 here')
  t.equal(blobDigest(parseReadName(`blobs/blake3/${H}/5`), both).function, BLAKE3)
  t.equal(blobDigest(parseReadName(`blobs/${H}/5`), [BLAKE3]).function, BLAKE3, 'Buck2 sends BLAKE3 bare')
  t.equal(blobDigest(parseReadName(`blobs/${'b'.repeat(40)}/5`), [SHA256, SHA1]).function, SHA1, 'told by its length')
  invalid(t, () => blobDigest(parseReadName(`blobs/blake3/${H}/5`), [SHA256]), /digest_function 9 is not served/, 'off')
  invalid(t, () => blobDigest(parseReadName(`blobs/${'b'.repeat(40)}/5`), [SHA256]), /64 \(SHA256\)/, 'length')
  for (const hash of [H.toUpperCase(), `${H}a`, H.slice(1), `${H.slice(1)}g`]) {
    invalid(t, () => blobDigest(parseReadName(`blobs/${hash}/5`), both), /hash .* is not valid/, hash)
  }
})

t.test('parsing reverses formatting', async () => {
  const segment = fc.string({ minLength: 1 }).filter((text) => !text.includes('/') && !RESERVED_SEGMENTS.includes(text))
  const names = fc.record({
    instanceName: fc.array(segment, { maxLength: 4 }).map((segments) => segments.join('/')),
    uuid: fc.string({ minLength: 1 }).filter((text) => !text.includes('/')),
    bytes: fc.uint8Array(),
    digestFunction: fc.constantFrom(...Object.values(digestFunctions)),
    compressor: fc.constantFrom(undefined, ...compressors),
  })
  fc.assert(
    fc.property(names, ({ instanceName, uuid, bytes, digestFunction, compressor }) => {
      const digest = Digest.of(bytes, digestFunction)
      const read = parseReadName(formatReadName(instanceName, digest, compressor))
      const write = parseWriteName(formatWriteName(instanceName, uuid, digest, compressor))
      for (const parsed of [read, write]) {
        if (parsed.instanceName !== instanceName || parsed.compressor !== compressor) return false
        if (blobDigest(parsed, Object.values(digestFunctions)).key !== digest.key) return false
      }
      return write.uuid === uuid
    }),
  )
})
