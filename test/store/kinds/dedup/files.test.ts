import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import t, { type Test } from 'tap'
import type { Digest } from '../../../../src/reapi/digest.js'
import { isolatedView } from '../../../../src/store/view/isolated.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { rejects } from '../../suite.js'
import { type OnDisk, type OnDiskParts, openOnDisk } from './on-disk.js'

const open = async (t: Test, parts?: OnDiskParts): Promise<OnDisk> => {
  const opened = await openOnDisk(t.testdir(), parts)
  t.teardown(() => opened.close())
  return opened
}

const located = async ({ files }: Pick<OnDisk, 'files'>, digest: Digest): Promise<Buffer> => {
  const found = await files.locate(digest, false)
  return 'bytes' in found ? found.bytes : readFileSync(found.path)
}

const large = { bytes: bytesOf(300_000, 'large'), digest: digestOf(bytesOf(300_000, 'large')) }
const small = { bytes: bytesOf(20_000, 'small'), digest: digestOf(bytesOf(20_000, 'small')) }

t.test(
  'an action leases blobs of either size: a larger one becomes a file, a chunk is linked where it is',
  async (t) => {
    const both = await open(t)
    for (const { digest, bytes } of [large, small]) await put(both.store, digest, bytes)
    const lease = await both.files.lease([large.digest, small.digest], call)
    t.same(lease.missing, [large.digest])
    await rejects(t, both.files.locate(large.digest, false), 'NOT_FOUND')
    await Promise.all([both.files.populate(large.digest, call), both.files.populate(large.digest, call)])
    t.same(await lease.extend([large.digest]), [])
    t.ok((await located(both, large.digest)).equals(large.bytes))
    t.ok((await located(both, small.digest)).equals(small.bytes))
    t.same((await both.whole.blobFiles()).length, 1)
    const executable = await both.files.locate(large.digest, true)
    t.ok('path' in executable && statSync(executable.path).mode & 0o100)
    lease.release()
  },
)

const packsOf = (folder: string): string[] =>
  (readdirSync(join(folder, 'content', 'content', 'packs'), { recursive: true }) as string[])
    .filter((name) => name.length > 3)
    .map((name) => join(folder, 'content', 'content', 'packs', name))

t.test('a blob of which no chunk was there before becomes a file without a copy, others are joined', async (t) => {
  const folder = t.testdir()
  const both = await openOnDisk(folder)
  await put(both.store, large.digest, large.bytes)
  await both.files.populate(large.digest, call)
  const [pack = ''] = packsOf(folder)
  const linked = await both.files.locate(large.digest, false)
  t.ok('path' in linked && statSync(linked.path).ino === statSync(pack).ino, 'one file on disk')
  t.ok((await located(both, large.digest)).equals(large.bytes))
  // Its first half is there already, so it lies in two files.
  const next = Buffer.concat([large.bytes.subarray(0, 150_000), bytesOf(150_000, 'other')])
  await put(both.store, digestOf(next), next)
  await both.files.populate(digestOf(next), call)
  t.ok((await located(both, digestOf(next))).equals(next))
  // The rest of it begins a file, and is not all of one.
  t.equal(packsOf(folder).length, 2)
  await both.close()
  const again = await openOnDisk(folder)
  t.teardown(() => again.close())
  t.ok((await located(again, large.digest)).equals(large.bytes), 'checked against its checksum after a restart')
  await again.whole.store.remove(large.digest, 'unwanted', call)
  await again.files.populate(large.digest, call)
  t.ok((await located(again, large.digest)).equals(large.bytes), 'linked again after a restart')
})

t.test('an action that writes to a linked file makes the blob missing, and it is never served', async (t) => {
  const folder = t.testdir()
  const both = await openOnDisk(folder)
  t.teardown(() => both.close())
  await put(both.store, large.digest, large.bytes)
  await both.files.populate(large.digest, call)
  const linked = await both.files.locate(large.digest, false)
  if (!('path' in linked)) throw new Error('expected a file')
  chmodSync(linked.path, 0o600)
  writeFileSync(linked.path, Buffer.from([(large.bytes[0] as number) ^ 1]), { flag: 'r+' })
  await both.files.drop(large.digest, call)
  await rejects(t, both.files.populate(large.digest, call), 'NOT_FOUND')
  t.notOk(await isPresent(both.store, large.digest))
  await put(both.store, large.digest, large.bytes)
  await both.files.populate(large.digest, call)
  t.ok((await located(both, large.digest)).equals(large.bytes))
})

t.test('the store for whole files is bounded, but not by what an action has leased', async (t) => {
  const both = await open(t, { wholePolicy: { max_bytes: 700_000 } })
  const blobs = Array.from({ length: 5 }, (_, at) => bytesOf(300_000, `blob ${at}`))
  const [first] = blobs.map(digestOf) as [Digest]
  for (const bytes of blobs) await put(both.store, digestOf(bytes), bytes)
  const lease = await both.files.lease([first], call)
  for (const bytes of blobs) await both.files.populate(digestOf(bytes), call)
  t.ok((await both.whole.blobFiles()).length <= 3)
  t.ok((await located(both, first)).equals(blobs[0] as Buffer))
  lease.release()
  for (const bytes of blobs) t.ok((await get(both.store, digestOf(bytes))).equals(bytes), 'all are there as chunks')
})

t.test('an output of an action is cut, and stays the file that it was', async (t) => {
  const both = await open(t)
  for (const { digest, bytes } of [large, small]) {
    const { path } = await both.files.reserve(call)
    writeFileSync(path, bytes)
    const file = { path, sizeBytes: bytes.length, checksum: crc32(bytes), mtimeMs: statSync(path).mtimeMs }
    await both.files.adopt(digest, file, call)
    t.ok((await located(both, digest)).equals(bytes))
  }
  t.same((await both.content.tempFiles()).length, 0)
  t.ok(((await both.store.chunks?.listOf(large.digest, call))?.chunks.length ?? 0) > 3)
  await both.files.drop(large.digest, call)
  t.ok((await get(both.store, large.digest)).equals(large.bytes), 'from its chunks')
})

t.test('an output whose bytes are not those of its digest is refused', async (t) => {
  const both = await open(t)
  const { path } = await both.files.reserve(call)
  const bytes = Buffer.from(large.bytes).fill(0, 1000, 1001)
  writeFileSync(path, bytes)
  const file = { path, sizeBytes: bytes.length, checksum: crc32(bytes), mtimeMs: statSync(path).mtimeMs }
  await rejects(t, both.files.adopt(large.digest, file, call), 'INVALID_ARGUMENT')
  t.notOk(await isPresent(both.store, large.digest))
  await rejects(t, both.files.locate(large.digest, false), 'NOT_FOUND')
})

t.test('an input whose chunk is gone cannot become a file', async (t) => {
  const both = await open(t)
  await put(both.store, large.digest, large.bytes)
  const [chunk] = (await both.store.chunks?.listOf(large.digest, call))?.chunks ?? []
  await both.content.store.remove(chunk as Digest, 'unwanted', call)
  await rejects(t, both.files.populate(large.digest, call), 'NOT_FOUND')
  const absent = digestOf(bytesOf(10, 'absent'))
  await rejects(t, both.files.populate(absent, call), 'NOT_FOUND')
})

t.test('a file of an instance on its own is one of that instance alone', async (t) => {
  const both = await open(t)
  const [ours, theirs] = [isolatedView(both.store, 'ours'), isolatedView(both.store, 'theirs')]
  await put(ours, large.digest, large.bytes)
  await ours.files?.populate(large.digest, call)
  t.ok((await located({ files: ours.files as never }, large.digest)).equals(large.bytes))
  await rejects(t, theirs.files?.locate(large.digest, false) as never, 'NOT_FOUND')
  await rejects(t, theirs.files?.populate(large.digest, call) as never, 'NOT_FOUND')
})

t.test('linking a blob is a use of its chunks', async (t) => {
  const both = await open(t)
  await put(both.store, large.digest, large.bytes)
  await both.files.populate(large.digest, call)
  const used: number[] = []
  const { findMissing } = both.content.store
  both.content.store.findMissing = (digests, of) => {
    used.push(digests.count)
    return findMissing.call(both.content.store, digests, of)
  }
  ;(await both.files.lease([large.digest], call)).release()
  t.ok(used.some((count) => count > 3))
})
