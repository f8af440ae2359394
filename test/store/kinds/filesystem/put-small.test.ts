import t from 'tap'
import { codeName } from '../../../../src/base/status-error.js'
import type { Outcomes } from '../../../../src/blobs/store.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import { internalCall } from '../../../../src/rpc/call.js'
import { asCas } from '../../../../src/store/view/cas.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { bytesOf } from '../../blobs.js'
import { openFilesystem } from './open.js'

const { SHA256 } = digestFunctions

const small = (name: string, sizeBytes = 3000) => {
  const bytes = bytesOf(sizeBytes, name)
  return { digest: Digest.of(bytes, SHA256), bytes }
}

const codes = (outcomes: Outcomes) => outcomes.map((one) => one && codeName(one.code))

t.test('of small blobs of one call each has its own outcome', async (t) => {
  const opened = await openFilesystem(t.testdir(), { policy: { max_bytes: 1_000_000 } })
  const store = asCas(opened.store)
  const call = internalCall()
  const [a, b, c, large] = [small('a'), small('b'), small('c'), small('large', 30_000)]
  const streamed = [a, b, a, c, large].map(({ digest, bytes }) => ({ digest, blob: Blob.ofBytes(bytes) }))
  const wrong = { digest: small('never').digest, blob: Blob.ofBytes(a.bytes) }
  const short = { digest: small('never', 3001).digest, blob: Blob.ofBytes(a.bytes) }
  const tooLarge = { digest: Digest.of(small('much').bytes, SHA256), blob: Blob.ofBytes(bytesOf(60_000, 'much')) }
  const entries = [wrong, ...streamed, short, tooLarge]
  const outcomes = await store.putAll(entries, call)
  t.match(
    outcomes.map((one) => one?.message),
    [
      /are not that blob: expected SHA256/,
      ...streamed.map(() => undefined),
      /expected 3001 bytes, found 3000/,
      /found 60000/,
    ],
  )
  const missing = await store.findMissing(DigestBatch.of(entries.map(({ digest }) => digest)), call)
  t.equal(missing.count, 3, 'those that were refused are absent')
  for (const { digest, bytes } of [a, b, c, large]) {
    const read = await (await store.get(digest, WHOLE, call)).bytes(100_000, call)
    t.ok(read.equals(bytes))
  }
  await opened.close()
})

t.test('a batch of a cancelled call, and one for a closed store, stores nothing', async (t) => {
  const opened = await openFilesystem(t.testdir())
  const store = asCas(opened.store)
  const entry = () => [small('a'), small('b')].map(({ digest, bytes }) => ({ digest, blob: Blob.ofBytes(bytes) }))
  const cancelled = { ...internalCall(), signal: AbortSignal.abort() }
  t.same(codes(await store.putAll(entry(), cancelled)), ['CANCELLED', 'CANCELLED'])
  const { digest } = small('a')
  t.equal((await store.findMissing(DigestBatch.of([digest]), internalCall())).count, 1)
  await opened.close()
  t.same(codes(await store.putAll(entry(), internalCall())), ['UNAVAILABLE', 'UNAVAILABLE'])
})

t.test('two calls with the same small blobs at a time both keep them', async (t) => {
  const opened = await openFilesystem(t.testdir())
  const store = asCas(opened.store)
  const blobs = Array.from({ length: 40 }, (_, at) => small(`blob ${at}`))
  const put = () =>
    store.putAll(
      blobs.map(({ digest, bytes }) => ({ digest, blob: Blob.ofBytes(bytes) })),
      internalCall(),
    )
  const outcomes = await Promise.all([put(), put(), put()])
  t.same(
    outcomes.flat().filter((one) => one !== undefined),
    [],
  )
  t.equal((await store.findMissing(DigestBatch.of(blobs.map(({ digest }) => digest)), internalCall())).count, 0)
  await opened.close()
})
