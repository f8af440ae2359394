import { chmod, open, readdir, readFile, rename, stat, truncate, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { linkBlob } from '../../../../src/blobs/local-file.js'
import { putBytes } from '../../../../src/blobs/store.js'
import { textLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, inTime, isPresent, put, putStream } from '../../blobs.js'
import { rejects } from '../../suite.js'
import { type FilesystemParts, type OpenFilesystem, openFilesystem } from './open.js'

/** A store whose every blob is a file. */
const openFiles = (folder: string, parts: FilesystemParts = {}): Promise<OpenFilesystem> =>
  openFilesystem(folder, { small_blob_size: 0, ...parts })

const blob = (number: number, sizeBytes = 1000): { bytes: Buffer; digest: Digest } => {
  const bytes = bytesOf(sizeBytes, `blob ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

const putBlobs = async ({ store }: OpenFilesystem, from: number, to: number): Promise<void> => {
  for (let number = from; number < to; number++) await put(store, blob(number).digest, blob(number).bytes)
}

/** Which of the first `count` blobs have a file; looking at files uses no blob. */
const onDisk = async (files: OpenFilesystem, count: number): Promise<number[]> => {
  const names = await files.blobFiles()
  const all = Array.from({ length: count }, (_, number) => number)
  return all.filter((number) => names.some((name) => name.startsWith(blob(number).digest.hash)))
}

const fileOf = async (t: Test, { hash }: Digest, folder: string): Promise<string> => {
  const inFolder = join(folder, 'content', 'sha256', hash.slice(0, 2))
  const [name] = (await readdir(inFolder)).filter((name) => name.startsWith(hash) && !name.endsWith('x'))
  t.ok(name, `${hash} has a file`)
  return join(inFolder, name ?? '')
}

t.test('eviction deletes the least recently used files, for every limit', async (t) => {
  const cases = [
    { name: 'max_bytes', parts: { policy: { max_bytes: 5000 } }, left: [0, 6, 7, 8, 9] },
    { name: 'evict_bytes', parts: { policy: { max_bytes: 9000, evict_bytes: 6000 } }, left: [0, 8, 9] },
    { name: 'blocks', parts: { policy: { max_bytes: 3 * 4096 }, block_size: 4096 }, left: [0, 8, 9] },
    { name: 'max_count', parts: { policy: { max_count: 2 } }, left: [0, 9] },
  ]
  for (const { name, parts, left } of cases) {
    const files = await openFiles(t.testdir(), parts)
    for (let number = 0; number < 10; number++) {
      await putBlobs(files, number, number + 1)
      await get(files.store, blob(0).digest)
    }
    await until(async () => (await onDisk(files, 10)).length <= left.length)
    t.same(await onDisk(files, 10), left, name)
    for (let number = 0; number < 10; number++) {
      t.equal(await isPresent(files.store, blob(number).digest), left.includes(number), `${name}: ${number}`)
    }
    await files.close()
  }
  const clock = new ManualClock(Date.now())
  const files = await openFiles(t.testdir(), { policy: { max_seconds: 60 }, clock })
  await putBlobs(files, 0, 3)
  clock.advance(40_000)
  await get(files.store, blob(1).digest)
  clock.advance(30_000)
  await until(async () => (await onDisk(files, 3)).length <= 1)
  t.same(await onDisk(files, 3), [1], 'max_seconds, though nobody asks')
  await files.close()
})

t.test('a store that is closed while it evicts deletes nothing afterwards that it still knows', async (t) => {
  const folder = t.testdir()
  const before = await openFiles(folder)
  await putBlobs(before, 0, 100)
  await before.close()
  const warnings: string[] = []
  const log = textLog('warn', (line) => warnings.push(line))
  const evicting = await openFiles(folder, { policy: { max_count: 10 }, retention: 0, log })
  await evicting.close()
  const after = await openFiles(folder)
  const known = []
  for (let number = 0; number < 100; number++) if (await isPresent(after.store, blob(number).digest)) known.push(number)
  t.same(warnings, [])
  t.ok(known.length > 10, `${known.length} were left to the next start`)
  t.same(await onDisk(after, 100), known)
  await after.close()
})

t.test('a blob larger than max_bytes is rejected and evicts nothing', async (t) => {
  const files = await openFiles(t.testdir(), { policy: { max_bytes: 5000 } })
  await putBlobs(files, 0, 4)
  const large = blob(100, 200_000)
  await rejects(t, put(files.store, large.digest, large.bytes), 'RESOURCE_EXHAUSTED')
  t.same(await onDisk(files, 4), [0, 1, 2, 3])
  t.same(await files.tempFiles(), [])
  await files.close()
})

t.test('leased blobs stay whatever the limits are, and are evicted after the release', async (t) => {
  const files = await openFiles(t.testdir(), { policy: { max_count: 3 } })
  await putBlobs(files, 0, 3)
  const ofOne = await files.files.lease([blob(0).digest, blob(1).digest, blob(7).digest], call)
  const ofOther = await files.files.lease([blob(1).digest], call)
  t.same(
    ofOne.missing.map(({ key }) => key),
    [blob(7).digest.key],
    'lists the absent blobs',
  )
  t.same(ofOther.missing, [])
  await putBlobs(files, 3, 9)
  await until(async () => (await onDisk(files, 9)).length <= 3)
  t.same(await onDisk(files, 9), [0, 1, 7], 'also the one that came in while it was leased')
  t.same(await ofOne.extend([blob(7).digest]), [])
  ofOne.release()
  ofOne.release()
  await putBlobs(files, 10, 13)
  await until(async () => !(await onDisk(files, 9)).includes(7))
  t.same(await onDisk(files, 9), [1], 'the other lease still holds')
  ofOther.release()
  await putBlobs(files, 13, 16)
  await until(async () => (await files.blobFiles()).length <= 3)
  t.same(await onDisk(files, 9), [])
  await files.close()
})

t.test('a read in flight finishes although its blob is evicted', async (t) => {
  const files = await openFiles(t.testdir(), { policy: { max_count: 1 } })
  const large = blob(0, 3_000_000)
  await put(files.store, large.digest, large.bytes)
  const [first] = (await files.store.get(large.digest, WHOLE, call)).path()
  await putBlobs(files, 1, 2)
  await until(async () => (await files.blobFiles()).length <= 1)
  const chunks: Buffer[] = []
  first.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve) => first.once('close', resolve))
  t.ok(Buffer.concat(chunks).equals(large.bytes))
  t.notOk(await isPresent(files.store, large.digest))
  await files.close()
})

t.test('a missing, truncated or changed file is a miss, and an upload restores it', async (t) => {
  const hurts: Record<string, (path: string) => Promise<void>> = {
    gone: unlink,
    torn: (path) => truncate(path, 500),
    longer: async (path) => {
      await chmod(path, 0o644)
      await writeFile(path, 'more', { flag: 'a' })
    },
    'same length, other bytes': async (path) => {
      await chmod(path, 0o644)
      const file = await open(path, 'r+')
      await file.write('other')
      await file.close()
      // The clock of the file system may not have moved since the file was made.
      await utimes(path, new Date(), new Date(Date.now() + 1000))
    },
  }
  for (const [name, hurt] of Object.entries(hurts)) {
    for (const restarts of [false, true]) {
      const folder = t.testdir()
      let files = await openFiles(folder)
      for (const sizeBytes of [1000, 900_000]) {
        const { bytes, digest } = blob(1, sizeBytes)
        await put(files.store, digest, bytes)
        if (restarts) {
          await files.close()
          files = await openFiles(folder)
        }
        await hurt(await fileOf(t, digest, folder))
        // After a restart the file has no mark, so the damage is found during the read.
        const isFoundWhileRead = restarts && sizeBytes > 64 * 1024 && name === 'same length, other bytes'
        if (isFoundWhileRead) await rejects(t, get(files.store, digest), 'DATA_LOSS')
        await rejects(t, files.store.get(digest, WHOLE, call), 'NOT_FOUND')
        t.notOk(await isPresent(files.store, digest), `${name}: missing from now on`)
        t.same(await files.blobFiles(), [], `${name}: its file is gone`)
        await put(files.store, digest, bytes)
        t.ok((await get(files.store, digest)).equals(bytes), `${name}: and can be written again`)
        await files.store.remove(digest, 'unwanted', call)
      }
      await files.close()
    }
  }
})

t.test('a file truncated while it is read is DATA_LOSS and then a miss', async (t) => {
  const folder = t.testdir()
  const files = await openFiles(folder)
  const { bytes, digest } = blob(0, 4_000_000)
  await put(files.store, digest, bytes)
  const cut = await files.store.get(digest, WHOLE, call)
  await truncate(await fileOf(t, digest, folder), 10)
  await rejects(t, files.store.put(blob(1).digest, cut, call), 'DATA_LOSS')
  await until(async () => !(await isPresent(files.store, digest)))
  await until(async () => (await files.tempFiles()).length === 0)
  await files.close()
})

t.test('a file found truncated after the store was closed fails only its reader', async (t) => {
  const folder = t.testdir()
  const files = await openFiles(folder)
  const { bytes, digest } = blob(0, 4_000_000)
  await put(files.store, digest, bytes)
  const cut = await files.store.get(digest, WHOLE, call)
  await truncate(await fileOf(t, digest, folder), 10)
  await files.close()
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.prependListener('unhandledRejection', note)
  await rejects(t, cut.drain(call.signal), 'DATA_LOSS')
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  process.off('unhandledRejection', note)
  t.same(unhandled, [])
})

t.test('a parked upload blocks no other write', async (t) => {
  const files = await openFiles(t.testdir(), { max_concurrent_writes: 1 })
  const parked = [0, 1].map((number) => {
    // More than is held in memory.
    const bytes = bytesOf(300_000, `parked ${number}`)
    const source = new PassThrough()
    const written = putStream(files.store, digestOf(bytes), source)
    source.write(bytes)
    return { source, written, bytes }
  })
  await until(
    async () => (await files.tempFiles()).length === 2,
    'the beginning of an upload beside one that is parked',
  )
  await inTime(putBytes(files.store, blob(2).digest, blob(2).bytes, call), 'a write while two are parked')
  t.ok(await isPresent(files.store, blob(2).digest))
  for (const { source } of parked) source.end()
  await Promise.all(parked.map(({ written }) => written))
  for (const { bytes } of parked) t.ok((await get(files.store, digestOf(bytes))).equals(bytes))
  t.same(await files.tempFiles(), [])
  await files.close()
})

t.test('links are read-only, share the blob, and are repaired', async (t) => {
  const folder = t.testdir({ root: {} })
  const files = await openFiles(folder, { policy: { max_bytes: 10_000 } })
  const { bytes, digest } = blob(0)
  const at = (name: string): string => join(folder, 'root', name)
  await put(files.store, digest, bytes)
  await linkBlob(files.files, digest, at('plain'), false)
  await Promise.all(['x1', 'x2', 'x3'].map((name) => linkBlob(files.files, digest, at(name), true)))
  const stats = async (name: string) => stat(at(name))
  t.equal((await stats('plain')).mode & 0o777, 0o444)
  t.equal((await stats('x1')).mode & 0o777, 0o555)
  t.equal((await stats('plain')).ino, (await stat(await fileOf(t, digest, folder))).ino, 'no copy')
  t.equal((await stats('x1')).ino, (await stats('x3')).ino, 'one executable copy')
  t.ok((await readFile(at('x2'))).equals(bytes))
  t.equal((await files.blobFiles()).length, 2, 'the blob and its executable copy')
  t.match((await files.store.health(call)).message, 'of 2 kB', 'the copy counts')

  await t.rejects(linkBlob(files.files, digest, at('plain'), false), { code: 'EEXIST' })
  await rejects(t, linkBlob(files.files, blob(1).digest, at('absent'), false), 'NOT_FOUND')
  await rejects(t, linkBlob(files.files, digest, join(folder, 'nowhere', 'a'), false), 'FAILED_PRECONDITION')
  t.ok(await isPresent(files.store, digest), 'a wrong destination is not the blob’s fault')

  await utimes(at('x1'), new Date(), new Date(Date.now() + 5000))
  await linkBlob(files.files, digest, at('x4'), true)
  t.not((await stats('x4')).ino, (await stats('x1')).ino, 'a copy that was written to is made again')
  await unlink(`${await fileOf(t, digest, folder)}x`)
  await linkBlob(files.files, digest, at('x5'), true)
  t.ok((await readFile(at('x5'))).equals(bytes), 'and so is one that vanished')

  await utimes(at('plain'), new Date(), new Date(Date.now() + 5000))
  await linkBlob(files.files, digest, at('touched'), false)
  t.ok((await get(files.store, digest)).equals(bytes), 'a file that was only touched is still the blob')

  await chmod(at('plain'), 0o644)
  await writeFile(at('plain'), bytesOf(bytes.length, 'other'))
  await utimes(at('plain'), new Date(), new Date(Date.now() + 9000))
  await rejects(t, linkBlob(files.files, digest, at('poisoned'), false), 'NOT_FOUND')
  await until(async () => (await files.blobFiles()).length === 0)
  t.notOk(await isPresent(files.store, digest))

  await put(files.store, digest, bytes)
  await linkBlob(files.files, digest, at('x6'), true)
  const before = await stats('x6')
  await utimes(at('x6'), before.atime, new Date(before.mtimeMs + 5000))
  await files.files.drop(digest, call)
  await until(async () => (await files.blobFiles()).length === 1)
  t.ok((await get(files.store, digest)).equals(bytes), 'drop keeps the file whose bytes are right')
  await linkBlob(files.files, digest, at('written'), false)
  const { atime, mtime } = await stats('written')
  await chmod(at('written'), 0o644)
  await writeFile(at('written'), bytesOf(bytes.length, 'other'))
  await utimes(at('written'), atime, mtime)
  await files.files.drop(digest, call)
  await until(async () => (await files.blobFiles()).length === 0)
  t.notOk(await isPresent(files.store, digest), 'a file that was written to goes, although its time is the old one')
  await put(files.store, digest, bytes)
  await linkBlob(files.files, digest, at('x7'), true)
  await putBlobs(files, 10, 20)
  await until(async () => (await files.blobFiles()).length <= 10)
  t.notOk(
    (await files.blobFiles()).some((name) => name.startsWith(digest.hash)),
    'eviction too',
  )
  t.same(await files.tempFiles(), [])
  t.same(
    (await readdir(join(folder, 'root'))).sort(),
    ['plain', 'touched', 'written', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7'],
    'failed links leave nothing',
  )
  await files.close()
})

t.test('health reports a missing folder at once, and leaves no files', async (t) => {
  const temp_path = join(t.testdirName, 'other')
  const files = await openFiles(t.testdir(), { temp_path })
  t.equal((await files.store.health(call)).state, 'Ok')
  for (const folder of [temp_path, join(t.testdirName, 'content')]) {
    await rename(folder, `${folder}-away`)
    t.same(await files.store.health(call), {
      ...{ state: 'Failed', message: 'cannot write and delete a file', error: 'its folder is gone' },
    })
    await rename(`${folder}-away`, folder)
    t.equal((await files.store.health(call)).state, 'Ok')
  }
  t.same(await files.tempFiles(), [])
  const gone = files.store.health({ ...call, signal: AbortSignal.abort() })
  const waiting = files.store.health(call)
  t.same([(await gone).state, (await waiting).state], ['Ok', 'Ok'], 'one check for all callers, one of which has left')
  t.same(await files.tempFiles(), [])
  await files.close()
})

t.test('concurrent results of one action leave one complete result and one file', async (t) => {
  const files = await openFiles(t.testdir())
  const { digest } = blob(0)
  const results = Array.from({ length: 20 }, (_, number) =>
    bytesOf(number % 4 === 0 ? 2000 : 1000 + number, `${number}`),
  )
  for (let round = 0; round < 5; round++) {
    await Promise.all(results.map((bytes) => put(files.store, digest, bytes)))
    const found = await get(files.store, digest)
    t.ok(results.some((bytes) => bytes.equals(found)))
  }
  const found = await get(files.store, digest)
  await until(async () => (await files.blobFiles()).length === 1)
  t.ok((await get(files.store, digest)).equals(found))
  await files.close()
})

t.test(
  'a blob that is uploaded repeatedly is never missing meanwhile, neither for readers nor for links',
  async (t) => {
    const files = await openFiles(t.testdir())
    const { digest, bytes } = blob(0)
    await put(files.store, digest, bytes)
    for (let round = 0; round < 20; round++) {
      const uploads = Array.from({ length: 8 }, () => put(files.store, digest, bytes))
      const reads = Array.from({ length: 4 }, async () => t.ok((await get(files.store, digest)).equals(bytes)))
      const links = Array.from({ length: 4 }, (_, number) =>
        linkBlob(files.files, digest, join(t.testdirName, `${round}-${number}`), number % 2 === 0),
      )
      await Promise.all([...uploads, ...reads, ...links])
    }
    await files.close()
  },
)
