import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { blake3 } from 'hash-wasm'
import t from 'tap'
import { Code, StatusError } from '../../src/base/status-error.js'
import { Digest, resolveDigestFunction } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'

const { SHA256, SHA1, MD5, SHA384, SHA512, BLAKE3 } = digestFunctions
const all = Object.values(digestFunctions)
const HASH = 'ab'.repeat(32)

const refused = (work: () => unknown): StatusError => {
  try {
    work()
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
  throw new Error('not refused')
}

t.test('a digest is parsed, or rejected with field, value and expectation', async (t) => {
  t.same(Digest.parse({ hash: HASH, sizeBytes: 7 }, SHA256).toMessage(), { hash: HASH, sizeBytes: 7 })
  t.equal(Digest.parse({ hash: HASH, sizeBytes: 2 ** 53 - 1 }, SHA256).sizeBytes, 2 ** 53 - 1)
  const wrong: [message: Parameters<typeof Digest.parse>[0], says: RegExp][] = [
    [null, /^blob_digest is missing/],
    [undefined, /is missing/],
    [{ hash: '', sizeBytes: 0 }, /^blob_digest is empty: expected a SHA256 hash and a size/],
    [{ hash: HASH.slice(1), sizeBytes: 1 }, /is not valid, expected 64 lower-case hex digits \(SHA256\)/],
    [{ hash: `${HASH}a`, sizeBytes: 1 }, /is not valid/],
    [{ hash: HASH.toUpperCase(), sizeBytes: 1 }, /is not valid/],
    [{ hash: `../${HASH.slice(3)}`, sizeBytes: 1 }, /is not valid/],
    [{ hash: `${HASH.slice(1)}\n`, sizeBytes: 1 }, /\\n.* is not valid/],
    [{ hash: HASH, sizeBytes: -1 }, /size -1 is not valid, expected 0 to 2\^53-1 bytes/],
    [{ hash: HASH, sizeBytes: 2 ** 53 }, /size 9007199254740992 is not valid/],
    [{ hash: HASH, sizeBytes: Number.NaN }, /size NaN/],
    [{ hash: HASH, sizeBytes: 1.5 }, /size 1.5/],
    [{ hash: 'x'.repeat(100_000), sizeBytes: 1 }, /x\.\.\."/],
  ]
  for (const [message, says] of wrong) {
    const error = refused(() => Digest.parse(message, SHA256, 'blob_digest'))
    t.equal(error.code, Code.INVALID_ARGUMENT)
    t.match(error.message, says)
    t.ok(error.message.length < 400, 'the message has a bound')
  }
})

t.test('function, hash and size identify a digest', async (t) => {
  const parts = [SHA256, BLAKE3].flatMap((served) =>
    [1, 2].map((sizeBytes) => Digest.parse({ hash: HASH, sizeBytes }, served).key),
  )
  t.same(parts, [`${HASH}-1`, `${HASH}-2`, `blake3-${HASH}-1`, `blake3-${HASH}-2`])
  t.equal(new Set(all.map((served) => Digest.of(Buffer.from('x'), served).key)).size, all.length)
})

t.test('a key is parsed back into its digest, other texts are rejected', async (t) => {
  for (const digestFunction of all) {
    const digest = Digest.of(Buffer.from('some bytes'), digestFunction)
    const found = Digest.ofKey(digest.key)
    t.equal(found?.key, digest.key, digestFunction.name)
    t.equal(found?.function, digestFunction)
  }
  const others = [
    '',
    HASH,
    `${HASH}-`,
    `-${HASH}-1`,
    `${HASH}-1-2`,
    `sha9-${HASH}-1`,
    `${HASH.slice(1)}-1`,
    'a/b',
    `md5-${HASH}-1`,
  ]
  for (const text of [...others, `${HASH}-99999999999999999`]) t.equal(Digest.ofKey(text), undefined, text)
})

t.test('isEmpty is true for the empty blob of every function only', async (t) => {
  for (const served of all) {
    t.ok(Digest.of(new Uint8Array(), served).isEmpty, served.name)
    t.notOk(Digest.of(Buffer.from('x'), served).isEmpty)
    t.notOk(Digest.parse({ hash: 'ab'.repeat(served.hexLength / 2), sizeBytes: 0 }, served).isEmpty)
    const { hash } = Digest.of(new Uint8Array(), served)
    t.notOk(Digest.parse({ hash, sizeBytes: 1 }, served).isEmpty)
  }
})

t.test('hashes match node and the BLAKE3 library, in chunks and interleaved', async (t) => {
  const expected = async (name: string, bytes: Buffer): Promise<string> =>
    name === 'BLAKE3'
      ? blake3(bytes)
      : name === 'GITSHA1'
        ? createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
        : createHash(name.toLowerCase()).update(bytes).digest('hex')
  t.equal(BLAKE3.hash(new Uint8Array()), 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262')
  t.equal(SHA256.hash(Buffer.from('abc')), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  const blobs = fc.array(fc.uint8Array({ maxLength: 3000 }), { minLength: 2, maxLength: 4 })
  const agrees = fc.asyncProperty(
    blobs,
    fc.integer({ min: 1, max: 700 }),
    fc.constantFrom(...all),
    async (given, step, served) => {
      const hashers = given.map(({ length }) => served.createHasher(length))
      for (let at = 0; at < 3000; at += step) {
        for (const [i, hasher] of hashers.entries())
          hasher.update((given[i] ?? new Uint8Array()).subarray(at, at + step))
        served.hash(Buffer.from('another one in between'))
      }
      for (const [i, hasher] of hashers.entries()) {
        const bytes = Buffer.from(given[i] ?? [])
        const hash = await expected(served.name, bytes)
        const digest = Digest.ofHash(hasher, bytes.length, served)
        if (digest.hash !== hash || digest.key !== Digest.of(bytes, served).key)
          throw new Error(`${served.name} differs`)
        if (hash.length !== served.hexLength) throw new Error(`${served.name} has another length`)
      }
    },
  )
  await t.resolves(fc.assert(agrees, { numRuns: 60 }))
})

t.test('GITSHA1 is the name that git gives to a file, and needs its length first', async (t) => {
  const { GITSHA1 } = digestFunctions
  t.equal(GITSHA1.hash(Buffer.from('test content\n')), 'd670460b4b4aece5915caf5c68d12f560a9fe3e4')
  t.equal(GITSHA1.hash(new Uint8Array()), 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')
  t.throws(() => GITSHA1.createHasher(undefined), { message: /expected content whose length is known/ })
  const hasher = GITSHA1.createHasher(5)
  hasher.update(Buffer.from('longer'))
  t.throws(() => Digest.ofHash(hasher, 6, GITSHA1), {
    message: /the content has 6 bytes, and its GITSHA1 begins with 5/,
  })
})

t.test('a hasher and its copy are independent', async (t) => {
  for (const served of all) {
    if (served.name === 'GITSHA1') continue
    const hasher = served.createHasher(undefined)
    hasher.update(Buffer.from('the beginning'))
    const other = hasher.copy()
    hasher.update(Buffer.from(' and the end'))
    const again = other.copy()
    other.update(Buffer.from(' and another end'))
    t.equal(again.digest(), served.hash(Buffer.from('the beginning')), served.name)
    t.equal(hasher.digest(), served.hash(Buffer.from('the beginning and the end')), served.name)
    t.equal(other.digest(), served.hash(Buffer.from('the beginning and another end')), served.name)
  }
})

t.test('the digest function of a request is the named one, else the one with that hash length', async (t) => {
  const hashOf = (served: (typeof all)[number]) => 'ab'.repeat(served.hexLength / 2)
  for (const served of all) t.equal(resolveDigestFunction(served.value, undefined, all), served)
  for (const served of [SHA256, SHA1, MD5, SHA384, SHA512]) {
    t.equal(resolveDigestFunction(0, hashOf(served), [BLAKE3, ...all]), served, served.name)
  }
  t.equal(resolveDigestFunction(0, hashOf(BLAKE3), [BLAKE3]), BLAKE3)
  t.equal(resolveDigestFunction(0, undefined, [BLAKE3, SHA256]), BLAKE3)
  const named = refused(() => resolveDigestFunction(SHA1.value, hashOf(SHA1), [SHA256, BLAKE3]))
  t.equal(named.message, 'digest_function 2 is not served here, expected one of SHA256, BLAKE3')
  const fitting = refused(() => resolveDigestFunction(0, hashOf(SHA1), [SHA256, BLAKE3]))
  t.equal(fitting.code, Code.INVALID_ARGUMENT)
  t.match(fitting.message, /expected hex digits: 64 \(SHA256\), 64 \(BLAKE3\)/)
  t.equal(refused(() => resolveDigestFunction(0, HASH, [])).code, Code.INTERNAL)
})
