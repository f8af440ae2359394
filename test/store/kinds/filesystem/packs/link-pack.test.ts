import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../../../src/base/clock.js'
import type { FinishedFile } from '../../../../../src/blobs/store.js'
import { until } from '../../../../until.js'
import { bytesOf, call, digestOf, get } from '../../../blobs.js'
import { type OpenFilesystem, openFilesystem } from '../open.js'
import { flip, onlyPack, packsIn, presence, putTogether, SIZE_BYTES, SMALL, type Some, some } from './together.js'

const link = async ({ files }: OpenFilesystem, blobs: Some, path: string): Promise<FinishedFile | undefined> => {
  const digests = blobs.map(({ digest }) => digest)
  return files.linkTogether?.(digests, path)
}

/** A path for a link that is new to each call. */
const pathsOf = (t: Test): (() => string) => {
  let count = 0
  const folder = t.testdir()
  return () => join(folder, `link-${++count}`)
}

const bytesOfAll = (blobs: Some): Buffer => Buffer.concat(blobs.map(({ bytes }) => bytes))

t.test('a file of several blobs is linked only as a whole, and nothing is added to it then', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, SMALL)
  const together = {}
  const blobs = some(4)
  await putTogether(files.store, blobs.slice(0, 3), together)
  const linked = (some: Some, name: string) => link(files, some, join(folder, name))
  t.equal(await linked(blobs.slice(0, 2), 'less'), undefined, 'the file has more than these')
  t.equal(await linked(blobs.slice(1, 3), 'behind'), undefined, 'they do not begin the file')
  t.equal(await linked(blobs.slice(0, 4), 'more'), undefined, 'one is not there')
  t.equal(await linked([], 'none'), undefined)
  const [first, second, third] = blobs as [Some[0], Some[0], Some[0]]
  t.equal(await linked([second, first, third], 'turned'), undefined, 'they lie in another order')
  const file = await linked(blobs.slice(0, 3), 'all')
  t.equal(file?.sizeBytes, SIZE_BYTES * 3 + 3)
  await putTogether(files.store, blobs.slice(3), together)
  t.equal((await stat(join(folder, 'all'))).size, file?.sizeBytes, 'nothing is added to a linked file')
  t.equal((await packsIn(folder)).length, 2)
  await files.close()
})

t.test('a small blob behind larger ones lies with them, so that all can be linked as one file', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, SMALL)
  t.teardown(() => files.close())
  const bytes = bytesOf(SMALL.small_blob_size, 'small')
  const small = { bytes, digest: digestOf(bytes) }
  const larger = some(2)
  const together = {}
  await putTogether(files.store, larger, together)
  await putTogether(files.store, [small], together)
  const all = [...larger, small]
  const path = join(folder, 'all')
  t.match(await link(files, all, path), { path, sizeBytes: bytesOfAll(all).length })
  t.ok(readFileSync(path).equals(bytesOfAll(all)))
  t.ok((await get(files.store, small.digest)).equals(bytes))
  await files.store.remove(small.digest, 'unwanted', call)
  await putTogether(files.store, [small])
  t.equal((await packsIn(folder)).length, 1, 'alone it is a record')
  t.ok((await get(files.store, small.digest)).equals(bytes))
})

t.test('a linked file has the checksum of its bytes: after an upload, a start, and a move', async (t) => {
  const folder = t.testdir()
  const next = pathsOf(t)
  const clock = new ManualClock(Date.now())
  const parts = { ...SMALL, clock, segmentBytes: 4096 }
  const blobs = some(12)
  const checkLink = async (files: OpenFilesystem, blobs: Some, when: string): Promise<void> => {
    const path = next()
    const file = await link(files, blobs, path)
    t.match(file, { path, isShared: true, checksum: crc32(bytesOfAll(blobs)) }, when)
    t.ok(readFileSync(path).equals(bytesOfAll(blobs)), when)
  }
  const files = await openFilesystem(folder, parts)
  await putTogether(files.store, blobs)
  await checkLink(files, blobs, 'after an upload')
  await files.close()
  const again = await openFilesystem(folder, parts)
  await checkLink(again, blobs, 'after a start')
  const before = await onlyPack(folder)
  const kept = blobs.slice(0, 3)
  for (const { digest } of blobs.slice(3)) await again.store.remove(digest, 'unwanted', call)
  await until(async () => {
    clock.advance(1000)
    return !(await packsIn(folder)).includes(before)
  }, 'that the file is emptied')
  await checkLink(again, kept, 'after a move')
  await again.close()
})

t.test('a file whose bytes have changed is not linked, and the damaged blob is missing', async (t) => {
  for (const when of ['while the store runs', 'before a start']) {
    const folder = t.testdir()
    const blobs = some(3)
    let files = await openFilesystem(folder, SMALL)
    await putTogether(files.store, blobs)
    if (when === 'before a start') await files.close()
    await flip(await onlyPack(folder), SIZE_BYTES + 10)
    if (when === 'before a start') files = await openFilesystem(folder, SMALL)
    t.equal(await link(files, blobs, join(folder, 'link')), undefined, when)
    t.same(await presence(files.store, blobs), [true, false, true], when)
    await files.close()
  }
})
