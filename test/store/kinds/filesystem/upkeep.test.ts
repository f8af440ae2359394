import { chmod, mkdir, open, readdir, rename, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { linkBlob } from '../../../../src/blobs/local-file.js'
import type { StoreUsage } from '../../../../src/blobs/meter.js'
import { silentLog, textLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { BlobIndex } from '../../../../src/store/index/blob-index.js'
import { Catalog } from '../../../../src/store/kinds/filesystem/catalog.js'
import { Inspection } from '../../../../src/store/kinds/filesystem/inspection.js'
import { Layout } from '../../../../src/store/kinds/filesystem/layout.js'
import { RecordLog } from '../../../../src/store/kinds/filesystem/records/record-log.js'
import { Patrol } from '../../../../src/store/kinds/filesystem/upkeep/patrol.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put, putStream, source } from '../../blobs.js'
import { rejects } from '../../suite.js'
import { type OpenFilesystem, openFilesystem } from './open.js'

const blob = (number: number, sizeBytes = 1000): { bytes: Buffer; digest: Digest } => {
  const bytes = bytesOf(sizeBytes, `blob ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

const usageOf = ({ usage }: OpenFilesystem): StoreUsage => usage()

/** The log lines of a scrub about its rounds. */
const roundsIn = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.includes('verified all blobs of a store'))

const pathOf = async (folder: string, { hash }: Digest): Promise<string> => {
  const inFolder = join(folder, 'content', 'sha256', hash.slice(0, 2))
  const names = await readdir(inFolder)
  return join(inFolder, names.find((name) => name.startsWith(hash)) ?? '')
}

/** Flips a bit of a file without changing its modification time. */
const flip = async (path: string, at: number): Promise<void> => {
  const { atime, mtime } = await stat(path)
  await chmod(path, 0o644)
  const file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  byte.writeUInt8(byte.readUInt8(0) ^ 4, 0)
  await file.write(byte, 0, 1, at)
  await file.close()
  await utimes(path, atime, mtime)
}

const segmentsOf = async (folder: string): Promise<string[]> => {
  const records = join(folder, 'content', 'records')
  return (await readdir(records)).sort().map((name) => join(records, name))
}

t.test('an unreadable folder is reported, does not prevent eviction, and is tried again', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const parts = { clock, small_blob_size: 0, policy: { max_bytes: 20_000 } }
  const inFolder = (number: number): string => join(folder, 'content', 'sha256', blob(number).digest.hash.slice(0, 2))
  const first = await openFilesystem(folder, parts)
  await put(first.store, blob(0).digest, blob(0).bytes)
  await first.close()
  await rename(inFolder(0), join(folder, 'aside'))
  await writeFile(inFolder(0), 'not a folder')

  const files = await openFilesystem(folder, parts)
  await until(async () => (await files.store.health(call)).state === 'Failed', 'a health that is Failed')
  t.match(await files.store.health(call), { message: 'cannot read a folder of its files' })
  t.notOk(await isPresent(files.store, blob(0).digest), 'unreadable blobs are missing')
  const others = Array.from({ length: 40 }, (_, number) => number + 1).filter(
    (number) => inFolder(number) !== inFolder(0),
  )
  for (const number of others) await put(files.store, blob(number).digest, blob(number).bytes)
  await until(async () => (await files.blobFiles()).length <= 20, 'the eviction beyond the limit')
  t.ok(usageOf(files).sizeBytes <= 20_000, 'the limit holds')

  await rm(inFolder(0))
  await mkdir(inFolder(0))
  await until(async () => {
    clock.advance(5000)
    return (await files.store.health(call)).state === 'Ok'
  }, 'a health that is Ok again')
  await put(files.store, blob(0).digest, blob(0).bytes)
  t.ok((await get(files.store, blob(0).digest)).equals(blob(0).bytes))
  await files.close()
})

t.test('files count as listed only after the first round', async (t) => {
  const layout = new Layout(t.testdir(), '')
  const clock = new ManualClock(Date.now())
  const policy = { max_bytes: 0, evict_bytes: 0, max_count: 0, max_seconds: 0 }
  const log = silentLog
  const records = await RecordLog.open({ folder: layout.recordsPath, segmentBytes: 4096, isSynced: false, log })
  const index = new BlobIndex({ policy, clock })
  const catalog = new Catalog({ layout, index, records, recentBytes: 0, syncs: undefined, clock, log })
  const patrol = new Patrol({ catalog, inspection: new Inspection(catalog, log), clock, log })
  t.notOk(patrol.hasGoneRound)
  patrol.look()
  await until(async () => patrol.hasGoneRound, 'the end of the round')
  await patrol.stop()
  await catalog.close()
  await records.close()
})

t.test('a deleted file is missing within minutes, even if nobody reads it', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const files = await openFilesystem(folder, { clock, small_blob_size: 0 })
  for (const number of [0, 1, 2]) await put(files.store, blob(number).digest, blob(number).bytes)
  await unlink(await pathOf(folder, blob(1).digest))
  await until(async () => {
    clock.advance(30_000)
    return usageOf(files).entryCount === 2
  }, 'that the deleted file is missing')
  t.notOk(await isPresent(files.store, blob(1).digest))
  t.ok(await isPresent(files.store, blob(2).digest))
  await files.close()
})

t.test('a file damaged while the server was down is never served completely, and any upload restores it', async (t) => {
  for (const [sizeBytes, first] of [
    [1000, 'NOT_FOUND'],
    [60_000, 'NOT_FOUND'],
    [3_000_000, 'DATA_LOSS'],
  ] as const) {
    for (const small_blob_size of [0, 64 * 1024]) {
      const folder = t.testdir({ root: {} })
      const { bytes, digest } = blob(0, sizeBytes)
      let files = await openFilesystem(folder, { small_blob_size })
      const rot = async (): Promise<void> => {
        await files.close()
        const [segment = ''] = (await segmentsOf(folder)).slice(-1)
        if (sizeBytes <= small_blob_size) await flip(segment, (await stat(segment)).size - 200)
        else await flip(await pathOf(folder, digest), 600)
        files = await openFilesystem(folder, { small_blob_size })
      }
      const uploads = {
        bytes: () => put(files.store, digest, bytes),
        stream: () => putStream(files.store, digest, source([bytes])),
      }
      await put(files.store, digest, bytes)
      for (const [name, upload] of Object.entries(uploads)) {
        await rot()
        await rejects(t, get(files.store, digest), first)
        await rejects(t, get(files.store, digest), 'NOT_FOUND')
        t.notOk(await isPresent(files.store, digest), 'and it is missing, so that clients send it again')
        t.match((await files.store.health(call)).message, 'found 1 damaged')
        await upload()
        t.ok((await get(files.store, digest)).equals(bytes), `healed by an upload as ${name}`)
        await rot()
        await rejects(t, linkBlob(files.files, digest, join(folder, 'root', name), false), 'NOT_FOUND')
        await upload()
        await linkBlob(files.files, digest, join(folder, 'root', name), false)
      }
      await files.close()
    }
  }
})

t.test('uploads of a blob succeed although a directory has the path of its file', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, { small_blob_size: 0 })
  const { bytes, digest } = blob(0)
  await put(files.store, digest, bytes)
  const path = await pathOf(folder, digest)
  for (const isEmpty of [true, false]) {
    await rm(path, { recursive: true, force: true })
    await mkdir(path)
    if (!isEmpty) await writeFile(join(path, 'a file'), 'left')
    await rejects(t, get(files.store, digest), 'NOT_FOUND')
    t.notOk(await isPresent(files.store, digest), 'so that clients upload it again')
    await put(files.store, digest, bytes)
    t.ok((await get(files.store, digest)).equals(bytes))
  }
  await files.close()
})

t.test('a scrub finds and reports damage in blobs that nobody reads', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const lines: string[] = []
  const log = textLog('info', (line) => void lines.push(line))
  const files = await openFilesystem(folder, { clock, log, small_blob_size: 1500, scrub_bytes_per_s: 100_000 })
  for (let number = 0; number < 10; number++) {
    const { bytes, digest } = blob(number, 1000 + 100 * number)
    await put(files.store, digest, bytes)
  }
  const [record, file] = [blob(2, 1200), blob(8, 1800)]
  const [segment = ''] = await segmentsOf(folder)
  await get(files.store, record.digest)
  // The third record: behind the segment's head, and two of 1080 and 1180 bytes rounded up to 64.
  await flip(segment, 64 + 1088 + 1216 + 500)
  await flip(await pathOf(folder, file.digest), 700)
  clock.advance(3_600_000)
  await until(async () => {
    clock.advance(1000)
    return roundsIn(lines).length > 0
  }, 'the end of a round')
  const [round] = roundsIn(lines)
  t.match(round, 'damaged=2')
  t.ok(Number(/ bytes=(\d+)/.exec(round ?? '')?.[1]) >= 10_000)
  t.notOk(await isPresent(files.store, record.digest))
  t.notOk(await isPresent(files.store, file.digest))
  await rejects(t, get(files.store, record.digest), 'NOT_FOUND')
  t.equal(usageOf(files).entryCount, 8)
  await files.close()
})

t.test('a scrub stays within its rate', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const lines: string[] = []
  const log = textLog('info', (line) => void lines.push(line))
  const files = await openFilesystem(folder, { clock, log, scrub_bytes_per_s: 100_000 })
  for (let number = 0; number < 100; number++) await put(files.store, blob(number).digest, blob(number).bytes)
  // Each counts for a page besides its 1000 bytes.
  const leastSeconds = (100 * 5096) / 100_000
  clock.advance(3_600_000)
  let ticks = 0
  await until(async () => {
    if (roundsIn(lines).length > 0) return true
    clock.advance(100)
    ticks++
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    return false
  }, 'the end of a round')
  t.ok(ticks / 10 >= leastSeconds - 0.2, `it took ${ticks / 10} s`)
  await files.close()
})

t.test('a scrub of a nearly empty store is idle most of the time', async (t) => {
  const clock = new ManualClock(Date.now())
  const lines: string[] = []
  const log = textLog('info', (line) => void lines.push(line))
  const files = await openFilesystem(t.testdir(), { clock, log, scrub_bytes_per_s: 1024 * 1024 })
  await put(files.store, blob(0).digest, blob(0).bytes)
  let minutes = 0
  await until(async () => {
    if (roundsIn(lines).length === 3) return true
    clock.advance(60_000)
    minutes++
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    return false
  }, 'three rounds')
  // A round that is still running when the next one is due may take more of them.
  t.ok(minutes >= 120, `an hour or more between the starts of two rounds: three have ended after ${minutes} minutes`)
  await files.close()
})

t.test('evicted small blobs cause no single deletions, and their space is freed', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const maxBytes = 4 * 1024 * 1024
  let files = await openFilesystem(folder, { clock, policy: { max_bytes: maxBytes } })
  const total = 4000
  for (let from = 0; from < total; from += 100) {
    const batch = Array.from({ length: 100 }, (_, index) => blob(from + index, 4000))
    await Promise.all(batch.map(({ digest, bytes }) => put(files.store, digest, bytes)))
    // Every tenth is needed all the time.
    for (let number = 0; number < from; number += 10) await isPresent(files.store, blob(number, 4000).digest)
    clock.advance(1000)
  }
  const logBytes = async (): Promise<number> => {
    const sizes = await Promise.all(
      (await segmentsOf(folder)).map((path) =>
        stat(path).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  await until(async () => {
    clock.advance(1000)
    return (await logBytes()) <= maxBytes + 2 * 1024 * 1024
  }, 'that the room of evicted blobs is given back')
  t.ok(usageOf(files).sizeBytes <= maxBytes)
  t.equal((await files.blobFiles()).length, 0)
  t.ok((usageOf(files).lastEvictedIdleMs ?? -1) >= 0)
  const { entryCount } = usageOf(files)
  const survivors = Array.from({ length: 40 }, (_, number) => blob(total - 400 + 10 * number, 4000))
  for (const { digest, bytes } of survivors) t.ok((await get(files.store, digest)).equals(bytes))
  await files.close()
  files = await openFilesystem(folder, { clock })
  t.equal(usageOf(files).entryCount, entryCount)
  for (const { digest, bytes } of survivors) t.ok((await get(files.store, digest)).equals(bytes))
  await files.close()
})

t.test('a worker gets a private copy of a small blob, and a link to a large one', async (t) => {
  const folder = t.testdir({ root: {} })
  const files = await openFilesystem(folder)
  for (const [name, sizeBytes, isLink] of [
    ['small', 1000, false],
    ['large', 100_000, true],
  ] as const) {
    const { bytes, digest } = blob(0, sizeBytes)
    await put(files.store, digest, bytes)
    for (const isExecutable of [false, true]) {
      const path = join(folder, 'root', `${name}-${isExecutable}`)
      await linkBlob(files.files, digest, path, isExecutable)
      const stats = await stat(path)
      t.equal(stats.mode & 0o777, isExecutable ? 0o555 : 0o444)
      t.equal(stats.nlink > 1, isLink)
      await t.rejects(linkBlob(files.files, digest, path, isExecutable), { code: 'EEXIST' })
      await rejects(t, linkBlob(files.files, digest, join(folder, 'nowhere', 'a'), isExecutable), 'FAILED_PRECONDITION')
    }
    t.ok(await isPresent(files.store, digest), 'a wrong destination is not the blob’s fault')
  }
  await files.close()
})

t.test('files are checked once at the start, and then once in a minute', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const files = await openFilesystem(folder, { clock, small_blob_size: 0 })
  await until(async () => (await files.store.health(call)).state === 'Ok', 'the first round')
  await put(files.store, blob(0).digest, blob(0).bytes)
  const path = await pathOf(folder, blob(0).digest)
  // The name of another blob in the same folder.
  const unknown = path.replace(/.(?=[^0-9a-f]*$)/, (last) => (last === '0' ? '1' : '0'))
  await writeFile(unknown, 'left by an upload that was interrupted')
  const isThere = async (): Promise<boolean> => (await stat(unknown).catch(() => undefined)) !== undefined
  for (let second = 5; second < 60; second += 5) {
    clock.advance(5000)
    for (let look = 0; look < 10; look++) await readdir(folder)
    t.ok(await isThere(), `after ${second} seconds`)
  }
  clock.advance(5000)
  await until(async () => !(await isThere()), 'the next round')
  await files.close()
})
