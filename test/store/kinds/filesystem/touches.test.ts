import { readdir, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { missingOf } from '../../../../src/blobs/store.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, put } from '../../blobs.js'
import { crashed } from './crashed.js'
import { type FilesystemParts, type OpenFilesystem, openFilesystem } from './open.js'

const blob = (number: number): { bytes: Buffer; digest: Digest } => {
  const bytes = bytesOf(1000 + number, `blob ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

/** Every blob a file, and every one a record. */
const SMALL_SIZES = [0, 64 * 1024]

const kept = async ({ store }: OpenFilesystem, count: number): Promise<number[]> => {
  const numbers = Array.from({ length: count }, (_, number) => number)
  const missing = await missingOf(
    store,
    numbers.map((number) => blob(number).digest),
    call,
  )
  return numbers.filter((number) => !missing.some(({ key }) => key === blob(number).digest.key))
}

/** Opened an hour ago and closed: blob 0 is the oldest. */
const filledHourAgo = async (folder: string, count: number, parts: FilesystemParts): Promise<void> => {
  const hourAgo = new ManualClock(Date.now() - 3_600_000)
  const files = await openFilesystem(folder, { ...parts, clock: hourAgo })
  for (let number = 0; number < count; number++) {
    await put(files.store, blob(number).digest, blob(number).bytes)
    hourAgo.advance(1000)
  }
  await files.close()
}

const logBytes = async (folder: string): Promise<number> => {
  const records = join(folder, 'content', 'records')
  const sizes = await Promise.all((await readdir(records)).map(async (name) => (await stat(join(records, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

t.test('blobs found, read or leased recently are not evicted first after kill -9', async (t) => {
  for (const small_blob_size of SMALL_SIZES) {
    for (const hasCheckpoint of [true, false]) {
      const folder = join(t.testdir(), 'store')
      await filledHourAgo(folder, 40, { small_blob_size })
      if (!hasCheckpoint) await unlink(join(folder, 'content', 'index'))
      const files = await openFilesystem(folder, { small_blob_size })
      const before = await logBytes(folder)
      await missingOf(files.store, [blob(0).digest, blob(1).digest], call)
      for (const number of [2, 3]) await get(files.store, blob(number).digest)
      ;(await files.files.lease([blob(4).digest], call)).release()
      for (let number = 40; number < 45; number++) await put(files.store, blob(number).digest, blob(number).bytes)
      await until(async () => (await logBytes(folder)) >= before + 6 * 64, 'that the uses are written down')
      await until(async () => {
        const left = `${folder}-crashed`
        await rm(left, { recursive: true, force: true })
        await crashed(folder, left)
        const again = await openFilesystem(left, { small_blob_size, policy: { max_count: 10 } })
        await until(async () => again.usage().entryCount <= 10, 'the eviction of the others')
        const found = await kept(again, 45)
        await again.close()
        return found.join() === [0, 1, 2, 3, 4, 40, 41, 42, 43, 44].join()
      }, `that the blobs in use are there, small_blob_size ${small_blob_size}`)
      await files.close()
    }
  }
})

t.test('the log does not grow with the number of reads', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  await filledHourAgo(folder, 20, {})
  const files = await openFilesystem(folder, { clock })
  const before = await logBytes(folder)
  const read = async (): Promise<void> => {
    for (let number = 0; number < 20; number++) await get(files.store, blob(number).digest)
    await missingOf(
      files.store,
      Array.from({ length: 20 }, (_, number) => blob(number).digest),
      call,
    )
  }
  await read()
  await until(async () => (await logBytes(folder)) > before, 'that the uses are written down')
  for (let round = 0; round < 50; round++) await read()
  const second = await logBytes(folder)
  // A use that is recorded, after those that are not.
  clock.advance(17_000)
  await get(files.store, blob(0).digest)
  await until(async () => (await logBytes(folder)) > second, 'that a later use is written down')
  const grown = (await logBytes(folder)) - before
  // 20 blobs of 16 bytes in one record, or in a few if the first reads took long, and one more.
  t.ok(grown <= 20 * 128, `${grown} bytes`)
  await files.close()
})
