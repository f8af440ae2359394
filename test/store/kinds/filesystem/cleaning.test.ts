import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { textLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { Segment } from '../../../../src/store/kinds/filesystem/records/segment.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { crashed } from './crashed.js'
import { type FilesystemParts, openFilesystem } from './open.js'

const SEGMENT_BYTES = 4096

const blob = (number: number, sizeBytes = 1000): { bytes: Buffer; digest: Digest } => {
  const bytes = bytesOf(sizeBytes, `blob ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

const segmentsIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, 'content', 'records'))).sort()

t.test('a blob that was removed and uploaded again is present after cleaning and kill -9', async (t) => {
  for (const durability of ['process_exit', 'power_loss'] as const) {
    for (const small_blob_size of [0, 64 * 1024]) {
      const folder = join(t.testdir(), 'store')
      const clock = new ManualClock(Date.now())
      const parts: FilesystemParts = { clock, durability, small_blob_size, segmentBytes: SEGMENT_BYTES }
      const files = await openFilesystem(folder, parts)
      const { bytes, digest } = blob(0)
      await put(files.store, digest, bytes)
      await files.store.remove(digest, 'unwanted', call)
      const [first = ''] = await segmentsIn(folder)
      for (let number = 1; (await segmentsIn(folder)).length < 2; number++) {
        await put(files.store, blob(number).digest, blob(number).bytes)
        await files.store.remove(blob(number).digest, 'unwanted', call)
      }
      await put(files.store, digest, bytes)
      await until(async () => {
        clock.advance(1000)
        return !(await segmentsIn(folder)).includes(first)
      }, 'that the first segment is emptied')
      const left = `${folder}-crashed`
      await crashed(folder, left)
      await files.close()
      const again = await openFilesystem(left, parts)
      t.ok(await isPresent(again.store, digest), `${durability}, small_blob_size ${small_blob_size}`)
      t.ok((await get(again.store, digest)).equals(bytes))
      await again.close()
    }
  }
})

t.test('an idle store does not copy its removals from segment to segment', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  let emptied = 0
  const log = textLog('debug', (line) => {
    if (line.includes('emptied a file of records')) emptied++
  })
  const files = await openFilesystem(folder, { clock, log, segmentBytes: SEGMENT_BYTES })
  // They fill the first segment. Their removals are needed as long as a start replays it.
  for (const number of [100, 101, 102]) await put(files.store, blob(number).digest, blob(number).bytes)
  for (let number = 1; number <= 30; number++) {
    await put(files.store, blob(number).digest, blob(number).bytes)
    await files.store.remove(blob(number).digest, 'unwanted', call)
  }
  const written = (await segmentsIn(folder)).length
  const quiet = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1000)
      for (let look = 0; look < 50; look++) await segmentsIn(folder)
    }
  }
  await until(async () => {
    await quiet(1)
    return emptied >= 5
  }, 'that segments are emptied')
  await quiet(100)
  t.ok((await segmentsIn(folder)).includes('0000000001'), 'the first segment is there')
  t.ok(emptied <= written + 1, `${emptied} segments were emptied of ${written} that had been written`)
  await files.close()
})

t.test('a blob that was evicted and then removed is absent after kill -9', async (t) => {
  const folder = join(t.testdir(), 'store')
  const files = await openFilesystem(folder, { policy: { max_count: 3 } })
  for (let number = 0; number < 6; number++) await put(files.store, blob(number).digest, blob(number).bytes)
  await until(async () => !(await isPresent(files.store, blob(0).digest)), 'the eviction')
  await files.store.remove(blob(0).digest, 'unwanted', call)
  const left = `${folder}-crashed`
  await crashed(folder, left)
  await files.close()
  const again = await openFilesystem(left)
  t.notOk(await isPresent(again.store, blob(0).digest))
  t.ok(await isPresent(again.store, blob(5).digest))
  await again.close()
})

t.test(
  'an older blob of a digest stays absent after the newer one was evicted, its segment emptied, and kill -9',
  async (t) => {
    const folder = join(t.testdir(), 'store')
    const clock = new ManualClock(Date.now())
    const parts = { clock, segmentBytes: SEGMENT_BYTES }
    const files = await openFilesystem(folder, { ...parts, policy: { max_count: 12 } })
    const key = blob(0).digest.asKey()
    // The older one and two blobs that stay in use fill most of the first segment.
    for (const number of [100, 101]) await put(files.store, blob(number).digest, blob(number).bytes)
    await put(files.store, key, bytesOf(500, 'older'))
    for (let number = 1; (await segmentsIn(folder)).length < 2; number++)
      await put(files.store, blob(number, 100).digest, blob(number, 100).bytes)
    await put(files.store, key, bytesOf(100, 'newer'))
    const second = (await segmentsIn(folder))[1] ?? ''
    let number = 200
    await until(async () => {
      await isPresent(files.store, blob(100).digest)
      await isPresent(files.store, blob(101).digest)
      await put(files.store, blob(number).digest, blob(number).bytes)
      number++
      clock.advance(1000)
      return !(await segmentsIn(folder)).includes(second)
    }, 'that the segment of the newer blob is emptied')
    const names = await segmentsIn(folder)
    const left = `${folder}-crashed`
    await crashed(folder, left)
    await files.close()
    t.ok(names.includes('0000000001'), 'the segment of the older one is there')
    const again = await openFilesystem(left, parts)
    t.notOk(await isPresent(again.store, key))
    await again.close()
  },
)

t.test('a file of records whose blobs were all evicted is deleted without being read', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const files = await openFilesystem(folder, { clock, segmentBytes: SEGMENT_BYTES, policy: { max_count: 12 } })
  const reads = t.capture(Segment.prototype, 'read', Segment.prototype.read)
  for (let number = 0; number < 40; number++) await put(files.store, blob(number).digest, blob(number).bytes)
  await until(async () => {
    clock.advance(1000)
    return (await segmentsIn(folder)).length <= 6
  }, 'that segments are emptied')
  t.equal(reads().length, 0)
  t.ok((await get(files.store, blob(39).digest)).equals(blob(39).bytes))
  await files.close()
})

t.test(
  'a blob uploaded while its older record is copied is found after kill -9, though a checkpoint came between',
  async (t) => {
    const [digest, other] = [digestOf(bytesOf(100, 'blob')), digestOf(bytesOf(100, 'other'))]
    for (let run = 0; run < 5; run++) {
      const folder = t.testdir()
      const clock = new ManualClock(Date.now())
      const parts = { clock, small_blob_size: 100, segmentBytes: 1024 }
      const before = await openFilesystem(join(folder, 'a'), parts)
      // Behind it, records of a blob that was replaced: the segment is worth cleaning.
      for (let count = 0; count < 4; count++) await put(before.store, other, bytesOf(100, 'other'))
      await put(before.store, digest, bytesOf(101, 'as a file'))
      await put(before.store, other, bytesOf(100, 'other'))
      await before.close()
      const files = await openFilesystem(join(folder, 'a'), parts)
      // Both begin: the cleaner queues a copy behind the record of the upload, and the checkpoint ends between them.
      clock.advance(5 * 60_000)
      await put(files.store, digest, bytesOf(100, 'as a record'))
      clock.advance(5 * 60_000)
      await crashed(join(folder, 'a'), join(folder, 'b'))
      await files.close()
      const after = await openFilesystem(join(folder, 'b'), parts)
      t.same(await get(after.store, digest), bytesOf(100, 'as a record'))
      await after.close()
    }
  },
)

t.test('a removed blob is absent after the file with its removal was emptied, and kill -9', async (t) => {
  const folder = join(t.testdir(), 'store')
  const clock = new ManualClock(Date.now())
  const parts = { clock, segmentBytes: SEGMENT_BYTES }
  const before = await openFilesystem(folder, parts)
  const { digest, bytes } = blob(0)
  await put(before.store, digest, bytes)
  // It stays, and so does the first file of records, which the checkpoint of the stop refers to.
  for (let number = 1; (await segmentsIn(folder)).length < 2; number++)
    await put(before.store, blob(number).digest, blob(number).bytes)
  await before.close()
  const files = await openFilesystem(folder, parts)
  await files.store.remove(digest, 'unwanted', call)
  const second = (await segmentsIn(folder))[1] ?? ''
  for (let number = 100; (await segmentsIn(folder)).length < 4; number++) {
    await put(files.store, blob(number).digest, blob(number).bytes)
    await files.store.remove(blob(number).digest, 'unwanted', call)
  }
  await until(async () => {
    clock.advance(1000)
    return !(await segmentsIn(folder)).includes(second)
  }, 'that the file with the removal is emptied')
  const left = `${folder}-crashed`
  await crashed(folder, left)
  await files.close()
  const again = await openFilesystem(left, parts)
  t.notOk(await isPresent(again.store, digest))
  t.ok(await isPresent(again.store, blob(1).digest), 'the first file of records is there')
  await again.close()
})
