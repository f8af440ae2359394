import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import t from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { getBytes, missingOf } from '../../src/blobs/store.js'
import { putUnnamed } from '../../src/content/put-unnamed.js'
import { Digest } from '../../src/reapi/digest.js'
import { internalCall } from '../../src/rpc/call.js'
import { asCas } from '../../src/store/view/cas.js'
import { drawnBytes } from '../drawn.js'
import { memoryStore, SHA256 } from '../service/harness.js'

const KIB = 1024
const pieces = (bytes: Buffer, size: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    ),
    { objectMode: false },
  )

const options = { digestFunction: SHA256, maxBytes: 1_000_000 }

t.test('content is stored under the digest of all its bytes, however it is cut', async (t) => {
  const cas = asCas(await memoryStore())
  const call = internalCall()
  for (const sizeBytes of [0, 1, 64 * KIB, 64 * KIB + 1, 200 * KIB]) {
    for (const cut of [1000, 64 * KIB, 300 * KIB]) {
      const content = drawnBytes(sizeBytes)
      const digest = await putUnnamed(cas, { source: pieces(content, cut), ...options }, call)
      t.equal(digest.hash, createHash('sha256').update(content).digest('hex'))
      t.ok((await getBytes(cas, digest, options.maxBytes, call)).equals(content), `${sizeBytes} bytes by ${cut}`)
    }
  }
})

t.test('refused, too long, broken or cancelled content leaves nothing behind', async (t) => {
  const cas = asCas(await memoryStore())
  const content = drawnBytes(100 * KIB)
  const digest = Digest.of(content, SHA256)
  const folder = process.env['TMPDIR']
  process.env['TMPDIR'] = t.testdir()
  t.teardown(() => {
    if (folder === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = folder
  })
  const broken = (): Readable =>
    Readable.from(
      (async function* () {
        yield content
        throw new StatusError('UNAVAILABLE', 'the sender has gone')
      })(),
      { objectMode: false },
    )
  const refuse = (): never => {
    throw new StatusError('ABORTED', 'not this')
  }
  const cancelled = new AbortController()
  const endless = new Readable({ read() {} })
  endless.push(content)
  const waiting = putUnnamed(cas, { source: endless, ...options }, internalCall({ signal: cancelled.signal }))
  await new Promise((done) => setImmediate(done))
  cancelled.abort()
  await t.rejects(waiting, { code: 1 })
  t.ok(endless.destroyed)
  await t.rejects(putUnnamed(cas, { source: pieces(content, 1000), ...options, maxBytes: 99 * KIB }, internalCall()), {
    code: 8,
  })
  await t.rejects(putUnnamed(cas, { source: broken(), ...options }, internalCall()), { code: 14 })
  await t.rejects(putUnnamed(cas, { source: pieces(content, 1000), ...options, check: refuse }, internalCall()), {
    code: 10,
  })
  t.same(await missingOf(cas, [digest], internalCall()), [digest])
  t.same(readdirSync(tmpdir()), [])
})

t.test('a sender that breaks off in the moment in which its content is to be put ends no server', async (t) => {
  const cas = asCas(await memoryStore())
  const source = new Readable({ read() {} })
  const put = await new Promise<{ readonly rejected: Promise<unknown> }>((resolve) =>
    setImmediate(() => {
      source.destroy(new StatusError('UNAVAILABLE', 'the sender has gone'))
      // Its 'error' comes before any promise of the put settles.
      resolve({ rejected: putUnnamed(cas, { source, ...options }, internalCall()).catch((error: unknown) => error) })
    }),
  )
  t.match(await put.rejected, { code: 14 })
})
