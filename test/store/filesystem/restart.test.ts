import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, truncate, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { Code, StatusError } from '../../../src/base/status-error.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { missingOf } from '../../../src/store/store.js'
import { bytesOf, call, digestOf, get, isPresent, put, putAll } from '../blobs.js'
import { rejects } from '../suite.js'
import { blobFilesIn, type OpenFilesystem, openFilesystem } from './open.js'
import { loader, programOf } from './program.js'

const blob = (number: number): { bytes: Buffer; digest: Digest } => {
  const bytes = bytesOf(1000 + number, `blob ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await setImmediate()
}

/** Fills a store in another process and kills that with nothing closed or flushed. */
const crashed = async (folder: string, count: number): Promise<void> => {
  const child = fork(programOf('crash.ts'), [folder, String(count)], { execArgv: [...loader] })
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it was killed`)))
  })
  child.removeAllListeners('exit')
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

t.test('content and recency survive a clean stop', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  let files = await openFilesystem(folder, { clock })
  for (let number = 0; number < 10; number++) await put(files.store, blob(number).digest, blob(number).bytes)
  for (const number of [3, 0]) await get(files.store, blob(number).digest)
  await missingOf(files.store, [blob(5).digest], call)
  await files.close()
  files = await openFilesystem(folder, { clock, policy: { max_count: 5 } })
  await until(async () => (await files.blobFiles()).length <= 5)
  const names = await files.blobFiles()
  const left = [...Array(10).keys()].filter((number) => names.some((name) => name.startsWith(blob(number).digest.hash)))
  t.same(left, [0, 3, 5, 8, 9])
  for (const number of left) t.ok((await get(files.store, blob(number).digest)).equals(blob(number).bytes))
  await files.close()
})

t.test('after kill -9 every finished blob is there at once, and nothing else', async (t) => {
  const folder = t.testdir()
  await crashed(folder, 300)
  t.equal((await readdir(join(folder, 'temp'))).length, 1, 'an upload was under way')
  const files = await openFilesystem(folder)
  const digests = Array.from({ length: 301 }, (_, number) => blob(number).digest)
  t.same(
    (await missingOf(files.store, digests, call)).map(({ key }) => key),
    [blob(300).digest.key],
  )
  t.same(await files.tempFiles(), [], 'the temporary file was swept')
  for (const number of [0, 150, 299]) t.ok((await get(files.store, blob(number).digest)).equals(blob(number).bytes))
  await files.close()

  // The checkpoint of that clean stop, then another crash with blobs it does not know.
  await crashed(folder, 320)
  const again = await openFilesystem(folder)
  t.same(again.files.lease([blob(0).digest, blob(319).digest]).missing, [], 'a lease does not wait for the scan')
  const all = Array.from({ length: 320 }, (_, number) => blob(number).digest)
  t.same(await missingOf(again.store, all, call), [])
  await again.close()
})

t.test('a blob that was uploaded again after the checkpoint can be read after kill -9', async (t) => {
  const folder = t.testdir()
  const first = await openFilesystem(folder)
  for (let number = 0; number < 40; number++) await put(first.store, blob(number).digest, blob(number).bytes)
  await first.close()
  await crashed(folder, 40)
  const files = await openFilesystem(folder)
  const half = Array.from({ length: 20 }, (_, number) => blob(number).digest)
  t.same(files.files.lease(half).missing, [], 'asked for before its folder was listed')
  for (let number = 0; number < 40; number++) {
    const bytes = await get(files.store, blob(number).digest)
    t.ok(bytes.equals(blob(number).bytes), `blob ${number}`)
  }
  await files.close()
})

t.test('a blob that was uploaded again after the checkpoint is not the first to go after kill -9', async (t) => {
  const folder = t.testdir()
  const hourAgo = new Date(Date.now() - 3_600_000)
  const first = await openFilesystem(folder, { clock: new ManualClock(hourAgo.getTime()) })
  for (let number = 0; number < 40; number++) await put(first.store, blob(number).digest, blob(number).bytes)
  await first.close()
  for (const path of await readdir(join(folder, 'content', 'sha256'), { recursive: true })) {
    await utimes(join(folder, 'content', 'sha256', path), hourAgo, hourAgo)
  }
  await crashed(folder, 10)
  const files = await openFilesystem(folder, { policy: { max_count: 20 } })
  await until(async () => (await files.blobFiles()).length <= 20)
  const digests = Array.from({ length: 40 }, (_, number) => blob(number).digest)
  const missing = new Set((await missingOf(files.store, digests, call)).map(({ key }) => key))
  const kept = [...digests.keys()].filter((number) => !missing.has((digests[number] as Digest).key))
  t.same(kept, [...Array(10).keys(), ...Array.from({ length: 10 }, (_, number) => 30 + number)])
  await files.close()
})

t.test('what happened to the files behind a crash is found out', async (t) => {
  const folder = t.testdir()
  await crashed(folder, 40)
  const inFolder = ({ hash }: Digest): string => join(folder, 'content', 'sha256', hash.slice(0, 2))
  const names = await blobFilesIn(join(folder, 'content'))
  const fileOf = (digest: Digest): string =>
    join(inFolder(digest), names.find((name) => name.startsWith(digest.hash)) ?? '')
  const [torn, gone, twice, whole] = [0, 1, 2, 3].map((number) => blob(number).digest) as [
    Digest,
    Digest,
    Digest,
    Digest,
  ]
  await unlink(fileOf(gone))
  const older = fileOf(twice).replace(/-\d+$/, '-7')
  await writeFile(older, 'another')
  await copyFile(fileOf(whole), `${fileOf(whole)}x`)
  await copyFile(fileOf(whole), `${fileOf(gone)}x`)
  await writeFile(join(inFolder(whole), 'not-ours'), '')
  // As after a power loss: lengths are checked when the checkpoint is of another boot, or there is none.
  await truncate(fileOf(torn), 10)
  await rm(join(folder, 'content', 'index'), { force: true })

  const files = await openFilesystem(folder)
  t.same(
    (await missingOf(files.store, [torn, gone, twice, whole], call)).map(({ key }) => key),
    [torn.key, gone.key],
  )
  t.equal((await get(files.store, twice)).toString(), 'another', 'the newer of two files stays')
  await until(async () => (await files.blobFiles()).length <= 39)
  const left = await files.blobFiles()
  t.equal(left.filter((name) => name.startsWith(twice.hash)).length, 1)
  t.equal(left.filter((name) => name.startsWith(whole.hash)).length, 2, 'a twin that fits stays')
  t.equal(left.filter((name) => name.startsWith(gone.hash)).length, 0, 'one without its blob goes')
  await files.close()
  t.ok((await readdir(inFolder(whole))).includes('not-ours'), 'files of others are left alone')
})

t.test('a stop before every length was checked does not spare the rest the check', async (t) => {
  const folder = t.testdir()
  await crashed(folder, 40)
  const contentPath = join(folder, 'content')
  const names = await blobFilesIn(contentPath)
  const torn = Array.from({ length: 40 }, (_, number) => blob(number).digest).find(({ hash }) =>
    names.at(-1)?.startsWith(hash),
  )
  if (torn === undefined) throw new Error('the last file is one of ours')
  // The folder that is looked at last; without a checkpoint it is not known whether the power was lost.
  await truncate(join(contentPath, 'sha256', torn.hash.slice(0, 2), names.at(-1) ?? ''), 10)
  await rm(join(contentPath, 'index'), { force: true })
  const stopped = await openFilesystem(folder)
  await stopped.close()
  const files = await openFilesystem(folder)
  t.same(
    (await missingOf(files.store, [torn], call)).map(({ key }) => key),
    [torn.key],
  )
  await files.close()
})

t.test('a checkpoint that is damaged is not believed', async (t) => {
  for (const damage of ['cut', 'flipped', 'foreign'] as const) {
    const folder = t.testdir()
    const files = await openFilesystem(folder)
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
  const holds = fc.asyncProperty(steps, async (sequence) => {
    const folder = t.testdir()
    let files = await openFilesystem(folder, { policy })
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
        files = await openFilesystem(folder, { policy })
      } else if (kind === 'put') {
        await put(files.store, digest, bytes)
        use(number)
      } else if (kind === 'batch') {
        const numbers = Array.from({ length: 6 }, (_, index) => (number + index) % 31)
        const outcomes = await putAll(files.store, numbers.map(blob))
        if (outcomes.some((outcome) => outcome !== undefined)) throw new Error(`not written: ${outcomes.join()}`)
        for (const each of numbers) use(each)
      } else if (kind === 'get') {
        const isThere = await reads(files, digest, bytes)
        if (isThere !== model.includes(number)) throw new Error(`blob ${number}: ${isThere}, model [${model}]`)
        if (isThere) use(number)
      } else {
        if (kind === 'remove') await files.store.remove(digest, call)
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
    if (names.length !== found.length) throw new Error(`${names.length} files for ${found.length} blobs`)
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

/** Deletes the file behind the store's back, and lets it notice. */
const lose = async (files: OpenFilesystem, digest: Digest, folder: string): Promise<void> => {
  const names = await files.blobFiles()
  const name = names.find((name) => name.startsWith(digest.hash))
  if (name === undefined || !(await isPresent(files.store, digest))) return
  await unlink(join(folder, 'content', 'sha256', digest.hash.slice(0, 2), name))
  if (await reads(files, digest, Buffer.alloc(0))) throw new Error('a lost blob was read')
}
