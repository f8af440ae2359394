import { copyFile, link, mkdir, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { Code, StatusError } from '../../../src/base/status-error.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../blobs.js'
import { type OpenFilesystem, openFilesystem } from './open.js'

const BLOBS = 2

const digests = Array.from({ length: BLOBS }, (_, number) => digestOf(bytesOf(100, `blob ${number}`)))

/** What is kept for a blob differs from upload to upload, as it does below a stage that encodes. */
const stored = (number: number, form: number): Buffer => bytesOf(100 + (form % 3), `form ${form} of ${number}`)

const FORMS = 6

/** Forms up to here are records, longer ones files. */
const SMALL_BYTES = 100

const isRecord = (form: number | undefined): boolean => form !== undefined && form % 3 === 0
type Step = {
  readonly kind: 'put' | 'get' | 'find' | 'lease' | 'remove' | 'lose' | 'restart' | 'crash' | 'checkpoint' | 'clean'
  readonly number: number
  readonly form: number
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('put', 'restart', 'crash') },
      { weight: 4, arbitrary: fc.constantFrom('get', 'find', 'lease', 'remove', 'lose', 'checkpoint', 'clean') },
    ),
    number: fc.nat(BLOBS - 1),
    form: fc.nat(FORMS - 1),
  }),
  { minLength: 10, maxLength: 60 },
)

/** A checkpoint may be finished while the folder is looked through. */
const unlessRenamed = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'ENOENT') throw error
}

/** The folder as kill -9 would leave it now: the files themselves, and copies of what is written in place. */
const crashed = async (from: string, to: string): Promise<void> => {
  await mkdir(to)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await crashed(source, target)
    else if (entry.name.startsWith('index') || from.endsWith('records'))
      await copyFile(source, target).catch(unlessRenamed)
    else if (entry.isFile()) await link(source, target)
  }
}

const read = async ({ store }: OpenFilesystem, digest: Digest): Promise<string | undefined> => {
  try {
    return (await get(store, digest)).toString()
  } catch (error) {
    if (error instanceof StatusError && error.code === Code.NOT_FOUND) return undefined
    throw error
  }
}

/** Whole, and there or not as `form` says. An upload replaces the file of another form behind its answer: a crash may keep both. */
const expectForm = (number: number, found: string | undefined, form: number | undefined): void => {
  const isForm = Array.from({ length: FORMS }, (_, each) => stored(number, each).toString()).includes(found ?? '')
  if (form === undefined ? found !== undefined : !isForm) {
    throw new Error(`blob ${number} reads as ${found}, expected form ${form}`)
  }
}

/** Deletes a blob's files behind the store's back; what is a record cannot be deleted alone. */
const lose = async (folder: string, { hash }: Digest): Promise<void> => {
  const path = join(folder, 'content', 'sha256', hash.slice(0, 2))
  const names = await readdir(path).catch(() => [])
  for (const name of names) if (name.startsWith(hash)) await unlink(join(path, name))
}

// Few blobs, so that much befalls each of them.
t.test('any sequence of uploads, losses, stops and crashes agrees with a model', async (t) => {
  const holds = fc.asyncProperty(steps, async (sequence) => {
    const root = t.testdir()
    let life = 0
    let folder = join(root, '0')
    const clock = new ManualClock(Date.now())
    const open = (): Promise<OpenFilesystem> => openFilesystem(folder, { clock, small_blob_size: SMALL_BYTES })
    let files = await open()
    /** The form of each blob that is there. */
    const model = new Map<number, number>()
    for (const { kind, number, form } of sequence) {
      const digest = digests[number] as Digest
      if (kind === 'put') {
        await put(files.store, digest, stored(number, form))
        model.set(number, form)
      } else if (kind === 'get') {
        expectForm(number, await read(files, digest), model.get(number))
      } else if (kind === 'find') {
        const isThere = await isPresent(files.store, digest)
        if (isThere !== model.has(number)) throw new Error(`blob ${number} is said to be ${isThere ? '' : 'not '}there`)
      } else if (kind === 'lease') {
        const lease = await files.files.lease([digest], call)
        lease.release()
        const kept = model.get(number)
        const isMissing = lease.missing.length > 0
        if (isMissing !== (kept === undefined)) throw new Error(`blob ${number}: wrong lease`)
      } else if (kind === 'remove') {
        await files.store.remove(digest, 'unwanted', call)
        model.delete(number)
      } else if (kind === 'lose') {
        if (isRecord(model.get(number))) continue
        await lose(folder, digest)
        // Nobody can know before it is opened.
        await read(files, digest)
        model.delete(number)
      } else if (kind === 'checkpoint') {
        clock.advance(5 * 60_000)
      } else if (kind === 'clean') {
        // Whatever is due: what eviction and replacement left behind is given back, and orphans are deleted.
        clock.advance(60_000)
      } else {
        const next = join(root, String(++life))
        if (kind === 'crash') await crashed(folder, next)
        await files.close()
        if (kind === 'crash') folder = next
        files = await open()
      }
    }
    for (const [number, digest] of digests.entries()) {
      expectForm(number, await read(files, digest), model.get(number))
    }
    await files.close()
  })
  await t.resolves(fc.assert(holds, { numRuns: 40 }))
})
