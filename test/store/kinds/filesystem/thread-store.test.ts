import { chmod, cp, readdir, readlink, rename, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { getBytes, missingOf, putBytes } from '../../../../src/blobs/store.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import { internalCall, type UploadPart } from '../../../../src/rpc/call.js'
import { Invocations } from '../../../../src/rpc/invocations.js'
import type { SharedStore } from '../../../../src/store/contract/kind.js'
import { SEGMENTS_MAX } from '../../../../src/store/kinds/filesystem/records/location.js'
import { Segment, segmentName, segmentNumber } from '../../../../src/store/kinds/filesystem/records/segment.js'
import type { FileShareData } from '../../../../src/store/kinds/filesystem/thread-share.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { PushedFeed } from '../../../../src/stream/blob/pushed-feed.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { until } from '../../../until.js'
import { openFilesystem } from './open.js'
import { openUsedByThread } from './used-by-thread.js'

const call = internalCall()
const START_MS = 1_000_000_000

const blobOf = (text: string, bytes = 100) => {
  const content = Buffer.alloc(bytes, text)
  return { content, digest: Digest.of(content, digestFunctions.SHA256) }
}

const openFilesIn = async (folder: string): Promise<string[]> => {
  const open = await readdir('/proc/self/fd')
  const paths = await Promise.all(open.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
  return paths.filter((path) => path.startsWith(folder))
}

t.test('what the owner replaces is read in its new form, whether it is a record or a file', async (t) => {
  const { store, reading, close } = await openUsedByThread(t.testdir(), { small_blob_size: 1000 })
  t.teardown(close)
  const digest = blobOf('key').digest.asKey()
  for (const length of [10, 5000, 20, 7000, 7000]) {
    const content = Buffer.alloc(length, `${length}`)
    await putBytes(store, digest, content, call)
    t.same(await getBytes(reading, digest, 10_000, call), content)
    t.same(await getBytes(reading, digest, 10_000, call), content)
  }
  await store.remove(digest, 'unwanted', call)
  await t.rejects(getBytes(reading, digest, 10_000, call), { code: 5 })
  t.same(await missingOf(reading, [digest], call), [digest])
})

t.test('a damaged file is not served, and the owner drops it', async (t) => {
  const folder = t.testdir()
  const { store, reading, files, close } = await openUsedByThread(folder, { small_blob_size: 0 })
  t.teardown(close)
  const { content, digest } = blobOf('good', 200_000)
  await putBytes(store, digest, content, call)
  const located = await files.locate(digest, false)
  if (!('path' in located)) throw new Error('it is a file')
  t.same(await getBytes(reading, digest, 1_000_000, call), content, 'now it is verified')
  await chmod(located.path, 0o644)
  await writeFile(located.path, Buffer.alloc(200_000, 'evil'))
  await utimes(located.path, 1, 1)
  await t.rejects(getBytes(reading, digest, 1_000_000, call))
  t.same(await missingOf(store, [digest], call), [digest])
  await putBytes(store, digest, content, call)
  t.same(await getBytes(reading, digest, 1_000_000, call), content)
})

t.test('a read of wrong bytes says nothing against the blob that has replaced them meanwhile', async (t) => {
  const { store, reading, files, blamed, close } = await openUsedByThread(t.testdir(), { small_blob_size: 0 })
  t.teardown(close)
  const { content, digest } = blobOf('good', 200_000)
  await putBytes(store, digest, content, call)
  const located = await files.locate(digest, false)
  if (!('path' in located)) throw new Error('it is a file')
  const opened = await reading.get(digest, WHOLE, call)
  await chmod(located.path, 0o644)
  await writeFile(located.path, Buffer.alloc(200_000, 'evil'))
  await putBytes(store, digest, content, call)
  await t.rejects(opened.bytes(200_000, call))
  t.same(blamed, [])
  t.same(await getBytes(reading, digest, 200_000, call), content)
})

t.test('uploads for which the index finds no memory are refused, and those beside them are kept', async (t) => {
  const folder = t.testdir()
  const { store, reading, blobFiles, close } = await openUsedByThread(join(folder, 'a'), { small_blob_size: 1000 })
  t.teardown(close)
  const first = blobOf('first')
  await putBytes(reading, first.digest, first.content, call)
  const { SharedArrayBuffer: real } = globalThis
  const restore = (): void => {
    globalThis.SharedArrayBuffer = real
  }
  t.teardown(restore)
  globalThis.SharedArrayBuffer = class {
    constructor() {
      throw new RangeError('Array buffer allocation failed')
    }
  } as unknown as typeof SharedArrayBuffer
  // Each partition of the table has room for 12, so refused ones are followed by others in one batch.
  const blobs = Array.from({ length: 3000 }, (_, at) => blobOf(`${at} `, at % 40 === 0 ? 2000 : 100))
  const ended = await Promise.allSettled(blobs.map(({ digest, content }) => putBytes(reading, digest, content, call)))
  restore()
  const refused = blobs.filter((_, at) => ended[at]?.status === 'rejected')
  const kept = blobs.filter((blob) => !refused.includes(blob))
  t.ok(refused.length > 0 && kept.length > 0, `${refused.length} refused, ${kept.length} kept`)
  for (const outcome of ended)
    if (outcome.status === 'rejected') t.match(outcome.reason, { code: 8, message: /wants \d+ bytes/ })
  const digestsOf = (some: typeof blobs): Digest[] => some.map(({ digest }) => digest)
  t.same(await missingOf(reading, digestsOf(blobs), call), digestsOf(refused))
  t.equal((await blobFiles()).length, kept.filter(({ content }) => content.length === 2000).length, 'no other file')

  const [removed, ...others] = refused.filter(({ content }) => content.length === 100)
  if (removed === undefined) throw new Error('a small blob was refused')
  await store.remove(removed.digest, 'unwanted', call)
  await cp(join(folder, 'a'), join(folder, 'killed'), { recursive: true, filter: (path) => !path.endsWith('/lock') })
  const after = await openFilesystem(join(folder, 'killed'), { small_blob_size: 1000 })
  t.teardown(after.close)
  t.same(await missingOf(after.store, [...digestsOf(kept), removed.digest], call), [removed.digest], 'after a kill')

  for (const { digest, content } of others) {
    await putBytes(reading, digest, content, call)
    t.same(await getBytes(reading, digest, 100, call), content)
  }
})

t.test('records are read from the file that now has the place of a deleted one', async (t) => {
  const folder = t.testdir()
  const records = join(folder, 'content', 'records')
  const parts = { segmentBytes: 4096, small_blob_cache_size: 0, retention: 0, policy: { max_count: 1 } }
  const before = await openFilesystem(folder, parts)
  const first = blobOf('first', 3000)
  await putBytes(before.store, first.digest, first.content, call)
  await before.close()
  const [name = ''] = await readdir(records)
  const number = segmentNumber(name) ?? 0
  const last = await Segment.create(records, number + SEGMENTS_MAX - 1)
  await last.close()
  const opened = await openUsedByThread(folder, parts)
  opened.tellsRetired = false
  const { store, reading, blamed } = opened
  t.same(await getBytes(reading, first.digest, 3000, call), first.content)
  const isThere = async (at: number): Promise<boolean> => (await readdir(records)).includes(segmentName(at))
  for (let at = 0; at < 1000 && !(await isThere(number + SEGMENTS_MAX)); at++) {
    const { content, digest } = blobOf(`${at}`, 3000)
    await putBytes(store, digest, content, call)
    await until(async () => !(await isThere(number)))
    const read = await Promise.all([1, 2].map(() => getBytes(reading, digest, 3000, call)))
    t.same(read, [content, content])
  }
  t.same(blamed, [])
  await opened.close()
  t.same(await openFilesIn(records), [], 'none is left open')
})

t.test('a file of records that goes while a thread opens it is a miss', async (t) => {
  const folder = t.testdir()
  const { store, reading, close } = await openUsedByThread(folder, { small_blob_cache_size: 0 })
  t.teardown(close)
  const { content, digest } = blobOf('good')
  await putBytes(store, digest, content, call)
  const records = join(folder, 'content', 'records')
  const [name = ''] = await readdir(records)
  await rename(join(records, name), join(folder, name))
  await symlink(join(folder, 'gone'), join(records, name))
  await t.rejects(getBytes(reading, digest, 1000, call), { code: 5 })
})

t.test('a damaged record is not served, and the owner drops it', async (t) => {
  const folder = t.testdir()
  const { store, reading, close } = await openUsedByThread(folder, { small_blob_cache_size: 0 })
  t.teardown(close)
  const { content, digest } = blobOf('good')
  await putBytes(store, digest, content, call)
  t.same(await getBytes(reading, digest, 1000, call), content)
  const records = join(folder, 'content', 'records')
  for (const name of await readdir(records)) await truncate(join(records, name), 64)
  await t.rejects(getBytes(reading, digest, 1000, call), { code: 5 })
  t.same(await missingOf(reading, [digest], call), [digest])
  t.match((await store.health(call)).message, /found 1 damaged/, 'the health of the store tells it')
})

t.test('an upload that a thread breaks off leaves no file, and one that it gives away leaves its part', async (t) => {
  const { reading, tempFiles, close } = await openUsedByThread(t.testdir(), { small_blob_size: 1000 })
  t.teardown(close)
  const { content, digest } = blobOf('half', 900_000)
  for (const isWaiting of [false, true]) {
    const parts: UploadPart[] = []
    const abort = new AbortController()
    const feed = new PushedFeed()
    const put = reading.put(digest, Blob.ofFeed(feed, { encoding: 'IDENTITY', sizeBytes: content.length }), {
      ...internalCall({ signal: abort.signal }),
      partTaker: { isWaiting, take: (part) => void parts.push(part) },
    })
    for (let at = 0; at < 600_000; at += 60_000) await feed.push(content.subarray(at, at + 60_000))
    abort.abort()
    await t.rejects(put, { code: 1 })
    t.equal((await tempFiles()).length, parts.length)
    if (isWaiting) t.match(parts, [{ path: String, sizeBytes: 600_000 }])
    else t.same(parts, [])
  }
})

t.test('threads never give their temporary files the same name', async (t) => {
  const shares: SharedStore[] = []
  const threads = { threadCount: 2, register: (store: SharedStore) => void shares.push(store) }
  const { close } = await openFilesystem(t.testdir(), { threads })
  t.teardown(close)
  const writers = shares.flatMap((store) => [1, 2].map(() => (store.share().data as FileShareData).writer))
  t.equal(new Set(['', ...writers]).size, 3)
})

t.test('what a thread used last is evicted last, also if the owner has not been told', async (t) => {
  for (const tellsUses of [true, false]) {
    const clock = new ManualClock(START_MS)
    const parts = { clock, policy: { max_bytes: 1000 }, retention: 100, block_size: 1, small_blob_size: 0 }
    const opened = await openUsedByThread(t.testdir(), parts)
    t.teardown(opened.close)
    opened.tellsUses = tellsUses
    const { store, reading } = opened
    const blobs = ['a', 'b', 'c'].map((text) => blobOf(text, 300))
    for (const { content, digest } of blobs) await putBytes(store, digest, content, call)
    clock.advance(50_000)
    const [first, second] = blobs
    if (first === undefined || second === undefined) throw new Error('there are three')
    t.same(await missingOf(reading, [first.digest], call), [])
    const more = blobOf('d', 300)
    await putBytes(store, more.digest, more.content, call)
    await until(() => opened.usage().sizeBytes <= 1000)
    const present = [...blobs, more].map(({ digest }) => digest)
    t.same(await missingOf(reading, present, call), [second.digest], 'the oldest that nobody used')
  }
})

t.test('a build that reads by a thread holds its blobs beyond their retention', async (t) => {
  const clock = new ManualClock(START_MS)
  const invocations = new Invocations(clock)
  const parts = { clock, invocations, policy: { max_bytes: 4000 }, retention: 10, block_size: 1, small_blob_size: 0 }
  const opened = await openUsedByThread(t.testdir(), parts)
  t.teardown(opened.close)
  const { store, reading } = opened
  const [held, read, other] = [blobOf('held', 400), blobOf('read', 400), blobOf('other', 400)]
  for (const { content, digest } of [held, read, other]) await putBytes(store, digest, content, call)
  const invocation = invocations.touch('build')
  const ofBuild = { ...internalCall(), ...(invocation && { invocation }) }
  t.same(await missingOf(reading, [held.digest], ofBuild), [])
  await getBytes(reading, read.digest, 400, ofBuild)
  clock.advance(60_000)
  // Newer than what the build holds.
  t.same(await missingOf(reading, [other.digest], call), [])
  clock.advance(60_000)
  for (const text of 'abcdefghi') {
    const { content, digest } = blobOf(text, 400)
    await putBytes(store, digest, content, call)
  }
  await until(() => opened.usage().sizeBytes <= 4000)
  t.same(await missingOf(reading, [held.digest, read.digest, other.digest], call), [other.digest])
})
