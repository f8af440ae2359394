import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, readFile, rm, stat, truncate, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { Code, StatusError } from '../../../../src/base/status-error.js'
import { missingOf } from '../../../../src/blobs/store.js'
import { textLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { drawnBytes } from '../../../drawn.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put, putAll } from '../../blobs.js'
import { rejects } from '../../suite.js'
import { blobFilesIn, type OpenFilesystem, openFilesystem } from './open.js'
import { loader, programOf } from './program.js'

const blob = (number: number): { bytes: Buffer; digest: Digest } => {
  const bytes = bytesOf(1000 + number, `blob ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

/** Fills a store in another process and kills it without closing or flushing. */
const crashed = async (folder: string, count: number, smallBytes = 0): Promise<void> => {
  const child = fork(programOf('crash.ts'), [folder, String(count), String(smallBytes)], { execArgv: [...loader] })
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it was killed`)))
  })
  child.removeAllListeners('exit')
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
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

t.test('the log reports a recovered store only if there was one', async (t) => {
  const folder = t.testdir()
  const lines: string[] = []
  const log = textLog('info', (line) => void lines.push(line))
  for (const expected of [[], ['replayed=0']]) {
    const files = await openFilesystem(folder, { log })
    t.same(
      lines.splice(0).flatMap((line) => /replayed=\d+/.exec(line)?.slice(0, 1) ?? []),
      expected,
    )
    await put(files.store, blob(0).digest, blob(0).bytes)
    await files.close()
  }
})

t.test('content and recency survive a clean stop', async (t) => {
  for (const small_blob_size of SMALL_SIZES) {
    const folder = t.testdir()
    const clock = new ManualClock(Date.now())
    let files = await openFilesystem(folder, { clock, small_blob_size })
    for (let number = 0; number < 10; number++) await put(files.store, blob(number).digest, blob(number).bytes)
    for (const number of [3, 0]) await get(files.store, blob(number).digest)
    await missingOf(files.store, [blob(5).digest], call)
    await files.close()
    files = await openFilesystem(folder, { clock, policy: { max_count: 5 } })
    t.same(await kept(files, 10), [0, 3, 5, 8, 9])
    for (const number of [0, 3, 5, 8, 9]) {
      t.ok((await get(files.store, blob(number).digest)).equals(blob(number).bytes))
    }
    await files.close()
  }
})

t.test('after kill -9 exactly the finished blobs are present, at once', async (t) => {
  for (const small_blob_size of SMALL_SIZES) {
    const folder = t.testdir()
    await crashed(folder, 300, small_blob_size)
    t.equal((await readdir(join(folder, 'temp'))).length, 1, 'an upload was under way')
    const files = await openFilesystem(folder, { small_blob_size })
    t.same((await kept(files, 301)).length, 300)
    t.notOk(await isPresent(files.store, blob(300).digest))
    t.same(await files.tempFiles(), [], 'the temporary file was swept')
    for (const number of [0, 150, 299]) t.ok((await get(files.store, blob(number).digest)).equals(blob(number).bytes))
    await files.close()

    // The checkpoint of that clean stop, then another crash with blobs it does not know.
    await crashed(folder, 320, small_blob_size)
    const again = await openFilesystem(folder, { small_blob_size })
    t.same((await again.files.lease([blob(0).digest, blob(319).digest], call)).missing, [])
    t.equal((await kept(again, 320)).length, 320)
    for (const number of [0, 310, 319]) t.ok((await get(again.store, blob(number).digest)).equals(blob(number).bytes))
    await again.close()
  }
})

t.test('a blob uploaded again after the checkpoint is not evicted first after kill -9', async (t) => {
  for (const small_blob_size of SMALL_SIZES) {
    const folder = t.testdir()
    const hourAgo = new ManualClock(Date.now() - 3_600_000)
    const first = await openFilesystem(folder, { clock: hourAgo, small_blob_size })
    for (let number = 0; number < 40; number++) {
      await put(first.store, blob(number).digest, blob(number).bytes)
      hourAgo.advance(1000)
    }
    await first.close()
    await crashed(folder, 10, small_blob_size)
    const files = await openFilesystem(folder, { policy: { max_count: 20 }, small_blob_size })
    await until(async () => (await files.blobFiles()).length <= 20)
    const expected = [...Array(10).keys(), ...Array.from({ length: 10 }, (_, number) => 30 + number)]
    t.same(await kept(files, 40), expected)
    for (const number of [0, 9, 39]) t.ok((await get(files.store, blob(number).digest)).equals(blob(number).bytes))
    await files.close()
  }
})

const pathOf = async (folder: string, { hash }: Digest): Promise<string> => {
  const inFolder = join(folder, 'content', 'sha256', hash.slice(0, 2))
  const names = await readdir(inFolder)
  return join(inFolder, names.find((name) => name.startsWith(hash)) ?? '')
}

/** As after another start of the machine. */
const reboot = async (folder: string): Promise<void> => {
  const index = await open(join(folder, 'content', 'index'), 'r+')
  await index.write(drawnBytes(16), 0, 16, 4)
  await index.close()
}

t.test('a file truncated by a power loss after a clean stop is missing, even before it is read', async (t) => {
  for (const durability of ['process_exit', 'power_loss'] as const) {
    const folder = t.testdir()
    const parts = { durability, small_blob_size: 0 }
    const first = await openFilesystem(folder, parts)
    for (let number = 0; number < 10; number++) await put(first.store, blob(number).digest, blob(number).bytes)
    await first.close()
    const torn = await pathOf(folder, blob(3).digest)
    const gone = await pathOf(folder, blob(4).digest)
    await truncate(torn, 10)
    await unlink(gone)
    await reboot(folder)
    const files = await openFilesystem(folder, parts)
    t.same((await files.files.lease([blob(3).digest, blob(5).digest], call)).missing, [blob(3).digest])
    t.same(await kept(files, 10), [0, 1, 2, 5, 6, 7, 8, 9])
    await rejects(t, get(files.store, blob(3).digest), 'NOT_FOUND')
    await files.close()
  }
})

t.test('files without a record are deleted, foreign files are left alone', async (t) => {
  const folder = t.testdir()
  await crashed(folder, 40)
  const [whole, gone] = [await pathOf(folder, blob(1).digest), await pathOf(folder, blob(2).digest)]
  await writeFile(whole.replace(/-\d+$/, '-7'), 'another')
  await copyFile(whole, `${whole}x`)
  await copyFile(gone, `${gone}x`)
  await unlink(gone)
  await writeFile(join(whole, '..', 'not-ours'), '')
  const files = await openFilesystem(folder, { small_blob_size: 0 })
  await until(async () => (await files.blobFiles()).length === 39, 'that files without a record are deleted')
  await until(async () => !(await isPresent(files.store, blob(2).digest)), 'that a blob without its file is missing')
  t.ok((await get(files.store, blob(1).digest)).equals(blob(1).bytes))
  t.ok((await readdir(join(whole, '..'))).includes('not-ours'))
  await files.close()
})

t.test('a folder of an older version is rejected with advice, and not changed', async (t) => {
  const { hash } = blob(0).digest
  const folder = t.testdir({ content: { sha256: { [hash.slice(0, 2)]: { [`${hash}-1000-1000`]: 'x' } } } })
  const error = await openFilesystem(folder).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  t.ok(error instanceof StatusError && error.code === Code.FAILED_PRECONDITION)
  t.match(String(error), /older version.*name another content_path, or delete this one/)
  t.same(await readdir(join(folder, 'content', 'sha256', hash.slice(0, 2))), [`${hash}-1000-1000`])
})

t.test('an idle store does not write its checkpoint again', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const failures: string[] = []
  const log = textLog('warn', (line) => void failures.push(line))
  const files = await openFilesystem(folder, { clock, log })
  const path = join(folder, 'content', 'index')
  await put(files.store, blob(0).digest, blob(0).bytes)
  clock.advance(5 * 60_000)
  await until(async () => existsSync(path), 'a checkpoint')
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn++) await stat(path)
  }
  await settled()
  // Makes the path of the checkpoint unwritable, so that an attempt is logged.
  await mkdir(`${path}.next`)
  clock.advance(10 * 60_000)
  await settled()
  t.same(failures, [], 'idle')
  await put(files.store, blob(1).digest, blob(1).bytes)
  await until(async () => {
    clock.advance(5 * 60_000)
    return failures.length > 0
  }, 'another checkpoint after a change')
  await rm(`${path}.next`, { recursive: true })
  await files.close()
})

t.test('a damaged checkpoint is not used', async (t) => {
  for (const damage of ['cut', 'flipped', 'foreign'] as const) {
    const folder = t.testdir()
    const files = await openFilesystem(folder, { small_blob_size: 1010 })
    for (let number = 0; number < 20; number++) await put(files.store, blob(number).digest, blob(number).bytes)
    await files.close()
    const path = join(folder, 'content', 'index')
    const bytes = await readFile(path)
    if (damage === 'cut') await truncate(path, bytes.length - 100)
    else {
      bytes.writeUInt8(bytes.readUInt8(damage === 'foreign' ? 0 : 600) ^ 1, damage === 'foreign' ? 0 : 600)
      await writeFile(path, bytes)
    }
    const again = await openFilesystem(folder)
    const all = Array.from({ length: 20 }, (_, number) => blob(number).digest)
    t.same(await missingOf(again.store, all, call), [], damage)
    await again.close()
  }
})

t.test('a checkpoint that cannot be read names its path and what to do', async (t) => {
  const folder = t.testdir({ content: { index: {} } })
  const path = join(folder, 'content', 'index')
  const error = await openFilesystem(folder).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  t.ok(error instanceof StatusError && error.code === Code.FAILED_PRECONDITION)
  t.match(String(error), `${path} is a directory`)
  t.match(String(error), /move it away/)
})

t.test('one folder has one store, and a crash does not lock it', async (t) => {
  const folder = t.testdir()
  await crashed(folder, 1)
  const files = await openFilesystem(folder)
  const other = openFilesystem(folder, { temp_path: join(folder, 'temp2') })
  await rejects(t, other, 'FAILED_PRECONDITION')
  t.ok(await isPresent(files.store, blob(0).digest), 'the first is not disturbed')
  await files.close()
  const deep = join(folder, ...Array.from({ length: 12 }, () => 'a-long-name-of-a-folder'))
  await mkdir(deep, { recursive: true })
  const deepFiles = await openFilesystem(deep)
  await rejects(t, openFilesystem(deep), 'FAILED_PRECONDITION')
  await deepFiles.close()
})

const hasSharedMemory = existsSync('/dev/shm')

t.test(
  'temp_path on another file system is refused',
  { skip: !hasSharedMemory && 'no second file system' },
  async (t) => {
    const temp = `/dev/shm/remexec-test-${process.pid}`
    t.teardown(() => rm(temp, { recursive: true, force: true }))
    await rejects(t, openFilesystem(t.testdir(), { temp_path: temp }), 'FAILED_PRECONDITION')
  },
)

type Step = { readonly kind: 'put' | 'batch' | 'get' | 'remove' | 'lose' | 'restart'; readonly number: number }

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom('put', 'put', 'put', 'batch', 'get', 'get', 'remove', 'lose', 'restart'),
    number: fc.nat(30),
  }),
  { maxLength: 60 },
)

t.test('any sequence of uses, losses and restarts agrees with a model', async (t) => {
  const policy = { max_count: 12 }
  // Half of them are records.
  const parts = { policy, small_blob_size: 1015 }
  const isFile = (number: number): boolean => number > 15
  const holds = fc.asyncProperty(steps, async (sequence) => {
    const folder = t.testdir()
    let files = await openFilesystem(folder, parts)
    const model: number[] = []
    const use = (number: number): void => {
      const at = model.indexOf(number)
      if (at >= 0) model.splice(at, 1)
      model.push(number)
      if (model.length > policy.max_count) model.shift()
    }
    for (const { kind, number } of sequence) {
      const { bytes, digest } = blob(number)
      if (kind === 'restart') {
        await files.close()
        files = await openFilesystem(folder, parts)
      } else if (kind === 'put') {
        await put(files.store, digest, bytes)
        use(number)
      } else if (kind === 'batch') {
        // Files of one batch are committed, and so evicted, in any order: only records are predictable.
        const numbers = Array.from({ length: 6 }, (_, index) => (number + index) % 16)
        const outcomes = await putAll(files.store, numbers.map(blob))
        if (outcomes.some((outcome) => outcome !== undefined)) throw new Error(`not written: ${outcomes.join()}`)
        for (const each of numbers) use(each)
      } else if (kind === 'get') {
        const isThere = await reads(files, digest, bytes)
        if (isThere !== model.includes(number)) throw new Error(`blob ${number}: ${isThere}, model [${model}]`)
        if (isThere) use(number)
      } else {
        if (kind === 'remove' || !isFile(number)) await files.store.remove(digest, 'unwanted', call)
        else await lose(files, digest, folder)
        const at = model.indexOf(number)
        if (at >= 0) model.splice(at, 1)
      }
    }
    const found: number[] = []
    for (let number = 0; number <= 30; number++) {
      if (await isPresent(files.store, blob(number).digest)) found.push(number)
    }
    await files.close()
    const names = await blobFilesIn(join(folder, 'content'))
    if (found.join() !== model.toSorted((a, b) => a - b).join()) throw new Error(`has [${found}], model [${model}]`)
    const fileCount = found.filter(isFile).length
    if (names.length !== fileCount) throw new Error(`${names.length} files for ${fileCount} blobs`)
  })
  await t.resolves(fc.assert(holds, { numRuns: 25 }))
})

const reads = async ({ store }: OpenFilesystem, digest: Digest, bytes: Buffer): Promise<boolean> => {
  try {
    return (await get(store, digest)).equals(bytes)
  } catch (error) {
    if (error instanceof StatusError && error.code === Code.NOT_FOUND) return false
    throw error
  }
}

/** Deletes the file without the store, and waits until it notices. */
const lose = async (files: OpenFilesystem, digest: Digest, folder: string): Promise<void> => {
  const names = await files.blobFiles()
  const name = names.find((name) => name.startsWith(digest.hash))
  if (name === undefined || !(await isPresent(files.store, digest))) return
  await unlink(join(folder, 'content', 'sha256', digest.hash.slice(0, 2), name))
  if (await reads(files, digest, Buffer.alloc(0))) throw new Error('a lost blob was read')
}
