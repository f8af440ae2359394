import { truncate, utimes } from 'node:fs/promises'
import t from 'tap'
import { ManualClock } from '../../../../../src/base/clock.js'
import type { SideBySide, Store } from '../../../../../src/blobs/store.js'
import type { Blob } from '../../../../../src/stream/blob/blob.js'
import { type Range, WHOLE } from '../../../../../src/stream/path.js'
import { until } from '../../../../until.js'
import { bytesOf, call, digestOf, get, put } from '../../../blobs.js'
import { type OpenFilesystem, openFilesystem } from '../open.js'
import { flip, onlyPack, packsIn, presence, putTogether, SIZE_BYTES, SMALL, type Some, some } from './together.js'

const sideBySideOf = ({ sideBySide }: Store): SideBySide => {
  if (sideBySide === undefined) throw new Error('a filesystem store has blobs side by side')
  return sideBySide
}

const digestsOf = (blobs: Some) => blobs.map(({ digest }) => digest)
const bytesOfAll = (blobs: Some): Buffer => Buffer.concat(blobs.map(({ bytes }) => bytes))

const runsOf = ({ store }: OpenFilesystem, blobs: Some): readonly number[] => sideBySideOf(store).runs(digestsOf(blobs))

const getRun = ({ store }: OpenFilesystem, blobs: Some, range: Range = WHOLE): Promise<Blob | undefined> =>
  sideBySideOf(store).get(digestsOf(blobs), range, call)

const readRun = async (files: OpenFilesystem, blobs: Some, range?: Range): Promise<Buffer | undefined> =>
  (await getRun(files, blobs, range))?.bytes(1_000_000, call)

t.test('blobs that lie one behind the other are one run, in their order alone', async (t) => {
  const files = await openFilesystem(t.testdir(), SMALL)
  const together = {}
  const blobs = some(5)
  const [a, b, c, d, e] = blobs as [Some[0], Some[0], Some[0], Some[0], Some[0]]
  await putTogether(files.store, [a, b], together)
  await putTogether(files.store, [c], together)
  await putTogether(files.store, [d])
  const bytes = bytesOf(3000, 'alone')
  const alone = { digest: digestOf(bytes), bytes }
  await put(files.store, alone.digest, bytes)
  t.same(runsOf(files, []), [])
  t.same(runsOf(files, [a, b, c]), [3])
  t.same(runsOf(files, [b, c, a, b]), [2, 2])
  t.same(runsOf(files, [a, c]), [1, 1])
  t.same(runsOf(files, [a, a]), [1, 1])
  t.same(runsOf(files, [a, b, d, c, alone]), [2, 1, 1, 1])
  t.same(runsOf(files, [a, e, b]), [1, 1, 1], 'what is absent ends a run')
  await files.close()
})

t.test('any range of a run is read as one blob, until it is no run any more', async (t) => {
  const files = await openFilesystem(t.testdir(), SMALL)
  const blobs = some(4)
  await putTogether(files.store, blobs)
  const all = bytesOfAll(blobs)
  t.ok((await readRun(files, blobs))?.equals(all))
  const part = { offset: SIZE_BYTES - 10, limit: SIZE_BYTES + 100 }
  t.ok((await readRun(files, blobs, part))?.equals(all.subarray(part.offset, part.offset + part.limit)))
  const middle = blobs.slice(1, 3)
  t.ok((await readRun(files, middle))?.equals(bytesOfAll(middle)))
  t.equal((await getRun(files, middle, { offset: 7, limit: 1 }))?.offset, 7)
  const [first, second] = blobs as [Some[0], Some[0]]
  t.equal(await getRun(files, [second, first]), undefined, 'in another order')
  await files.store.remove(second.digest, 'unwanted', call)
  t.equal(await getRun(files, blobs), undefined, 'one is gone')
  await putTogether(files.store, [second])
  t.equal(await getRun(files, blobs), undefined, 'one lies elsewhere')
  await put(files.store, second.digest, second.bytes)
  t.equal(await getRun(files, blobs), undefined, 'one is a file')
  await files.close()
})

t.test('a run that is being read stays readable when its blobs go, and its file goes behind it', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, SMALL)
  const blobs = some(3)
  await putTogether(files.store, blobs)
  const reading = await getRun(files, blobs)
  for (const { digest } of blobs) await files.store.remove(digest, 'unwanted', call)
  await until(async () => (await packsIn(folder)).length === 0, 'that the file is deleted')
  t.ok((await reading?.bytes(1_000_000, call))?.equals(bytesOfAll(blobs)))
  await files.close()
})

t.test('reading a run is a use of each of its blobs', async (t) => {
  const clock = new ManualClock(Date.now())
  const files = await openFilesystem(t.testdir(), { ...SMALL, clock, retention: 0, policy: { max_count: 4 } })
  const blobs = some(4)
  await putTogether(files.store, blobs)
  clock.advance(20_000)
  const used = blobs.slice(1, 3)
  await readRun(files, used)
  for (const { digest, bytes } of some(2, 'other')) await put(files.store, digest, bytes)
  await until(async () => files.usage().entryCount === 4, 'the eviction')
  t.same(await presence(files.store, blobs), [false, true, true, false])
  await files.close()
})

t.test('after a start a run is read as one only once each of its blobs was found intact', async (t) => {
  const folder = t.testdir()
  const blobs = some(3)
  let files = await openFilesystem(folder, SMALL)
  await putTogether(files.store, blobs)
  await files.close()
  files = await openFilesystem(folder, SMALL)
  t.equal(await getRun(files, blobs), undefined)
  for (const { digest } of blobs.slice(0, 2)) await get(files.store, digest)
  t.equal(await getRun(files, blobs), undefined)
  await get(files.store, (blobs[2] as Some[0]).digest)
  t.same(runsOf(files, blobs), [3])
  t.ok((await readRun(files, blobs))?.equals(bytesOfAll(blobs)))
  await files.close()
})

t.test('a run whose file was written to is not read as one, and the damaged blob is missing', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, SMALL)
  const blobs = some(3)
  await putTogether(files.store, blobs)
  await readRun(files, blobs)
  const path = await onlyPack(folder)
  await flip(path, SIZE_BYTES + 10)
  await utimes(path, new Date(), new Date(Date.now() + 5000))
  t.equal(await getRun(files, blobs), undefined)
  t.same(await presence(files.store, blobs), [true, true, true], 'nobody has looked yet')
  await t.rejects(get(files.store, (blobs[1] as Some[0]).digest), { message: /is not in the file store/ })
  await files.close()
})

t.test('a run whose file is cut short while it is read fails, and what it lost is missing', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, SMALL)
  const blobs = some(3)
  await putTogether(files.store, blobs)
  const reading = await getRun(files, blobs)
  await truncate(await onlyPack(folder), SIZE_BYTES + 100)
  await t.rejects(async () => reading?.bytes(1_000_000, call), { message: /cut short/ })
  await until(async () => !(await presence(files.store, blobs)).slice(1).includes(true), 'that they are missing')
  t.same(await presence(files.store, blobs), [true, false, false])
  await files.close()
})
