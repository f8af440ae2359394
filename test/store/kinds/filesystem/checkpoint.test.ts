import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import { type DigestFunctionName, digestFunctions } from '../../../../src/reapi/digest-function.js'
import { BlobIndex } from '../../../../src/store/index/blob-index.js'
import { readCheckpoint, writeCheckpoint } from '../../../../src/store/kinds/filesystem/recover/checkpoint.js'
import { slotsOf } from '../../index/order.js'

const logEnd = { number: 2 ** 33 + 5, offset: 128 }

const newIndex = (): BlobIndex =>
  new BlobIndex({
    policy: { max_bytes: 0, evict_bytes: 0, max_count: 0, max_seconds: 0 },
    clock: new ManualClock(1_000_000),
  })

const filled = (count: number, names: readonly DigestFunctionName[]): BlobIndex => {
  const index = newIndex()
  for (let number = 0; number < count; number++) {
    const name = names[number % names.length] ?? 'SHA256'
    index.insert(Digest.of(Buffer.from(`blob ${number}`), digestFunctions[name]), number)
  }
  return index
}

const factsOf = (index: BlobIndex): string =>
  slotsOf(index)
    .map((slot) => `${index.digestOf(slot).key} ${index.storedBytesOf(slot)}`)
    .join()

t.test('an index of any size and digest function is restored from its checkpoint', async (t) => {
  for (const [count, names] of [
    [0, ['SHA256']],
    [1, ['SHA512']],
    [20_000, ['SHA256', 'SHA256', 'SHA256', 'MD5']],
    [5000, ['SHA512', 'BLAKE3']],
  ] as const) {
    for (const isOrdered of [true, false]) {
      const path = join(t.testdir(), 'index')
      const index = filled(count, names)
      await writeCheckpoint(index, path, { logEnd, isOrdered })
      const restored = newIndex()
      t.match(await readCheckpoint(restored, path), { logEnd, isSameBoot: true, isRefused: false })
      t.equal(factsOf(restored) === factsOf(index), true, `${count} of ${names}`)
      t.equal(restored.bytes, index.bytes)
    }
  }
})

t.test('a checkpoint with any damage is rejected completely', async (t) => {
  const path = join(t.testdir(), 'index')
  await writeCheckpoint(filled(300, ['SHA256', 'SHA384']), path, { logEnd, isOrdered: true })
  const whole = await readFile(path)
  // After the magic number and the boot id, which have no checksum: a wrong boot id only makes the next start check
  // more.
  const uncoveredBytes = 20
  const readBack = async (bytes: Uint8Array): Promise<string> => {
    await writeFile(path, bytes)
    const restored = newIndex()
    const { isRefused, logEnd } = await readCheckpoint(restored, path)
    return `${isRefused} ${logEnd === undefined} ${restored.count}`
  }
  t.equal(await readBack(whole), 'false false 300')
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: uncoveredBytes, max: whole.length - 1 }), fc.nat(7), async (at, bit) => {
      const flipped = Buffer.from(whole)
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at)
      const [cutResult, flippedResult] = [await readBack(whole.subarray(0, at)), await readBack(flipped)]
      if (cutResult !== 'true true 0') throw new Error(`cut at ${at}: ${cutResult}`)
      if (flippedResult !== 'true true 0') throw new Error(`flipped at ${at}: ${flippedResult}`)
    }),
    { numRuns: 100 },
  )
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 4000 }), async (garbage) => {
      if ((await readBack(garbage)) !== 'true true 0') throw new Error('garbage was believed')
    }),
    { numRuns: 50 },
  )
})

t.test('a checkpoint stays readable if the index changes while it is written', async (t) => {
  const path = join(t.testdir(), 'index')
  const index = filled(40_000, ['SHA256'])
  const writing = writeCheckpoint(index, path, { logEnd, isOrdered: false })
  let number = 0
  const changes = setInterval(() => {
    // A slow disk sees more turns than there are blobs.
    for (let at = 0; at < 500 && number < 40_000; at++) {
      index.remove(index.find(Digest.of(Buffer.from(`blob ${number++}`), digestFunctions.SHA256)))
      index.insert(Digest.of(Buffer.from(`new ${number}`), digestFunctions.SHA256), 1)
    }
  })
  await writing
  clearInterval(changes)
  const restored = newIndex()
  t.match(await readCheckpoint(restored, path), { isRefused: false })
  const keys = slotsOf(restored).map((slot) => restored.digestOf(slot).key)
  t.equal(new Set(keys).size, restored.count, 'no blob twice')
  const kept = Array.from({ length: 40_000 - number }, (_, at) =>
    Digest.of(Buffer.from(`blob ${number + at}`), digestFunctions.SHA256),
  )
  t.equal(restored.missing(DigestBatch.of(kept)).count, 0, 'unchanged blobs are present')
})
