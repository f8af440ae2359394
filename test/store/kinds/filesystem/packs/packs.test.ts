import { mkdir, open, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ManualClock } from '../../../../../src/base/clock.js'
import { Digest } from '../../../../../src/reapi/digest.js'
import { digestFunctions } from '../../../../../src/reapi/digest-function.js'
import { callWith } from '../../../../../src/rpc/call.js'
import { checkFolder } from '../../../../../src/store/kinds/filesystem/check-folder.js'
import { Blob } from '../../../../../src/stream/blob/blob.js'
import { until } from '../../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../../blobs.js'
import { crashed } from '../crashed.js'
import { openFilesystem } from '../open.js'
import { flip, onlyPack, packsIn, presence, putTogether, SIZE_BYTES, SMALL, type Some, some } from './together.js'

t.test('blobs that are put together lie in one file, in order, and are there after a restart', async (t) => {
  for (const durability of ['process_exit', 'power_loss'] as const) {
    const folder = t.testdir()
    const blobs = some(6)
    const files = await openFilesystem(folder, { ...SMALL, durability })
    const together = {}
    await putTogether(files.store, blobs.slice(0, 4), together)
    await putTogether(files.store, blobs.slice(4), together)
    const [plain] = some(1, 'plain') as [Some[0]]
    await put(files.store, plain.digest, plain.bytes)
    t.equal((await files.blobFiles()).length, 1, 'only what came alone is a file of its own')
    t.equal(
      (await stat(await onlyPack(folder))).size,
      blobs.reduce((sum, { bytes }) => sum + bytes.length, 0),
    )
    const located = await files.files.locate((blobs[1] as Some[0]).digest, false)
    t.ok('bytes' in located && located.bytes.equals((blobs[1] as Some[0]).bytes), 'a worker gets a copy')
    for (const close of [true, false]) {
      const again = close ? files : await openFilesystem(folder, { ...SMALL, durability })
      for (const { digest, bytes } of blobs) {
        t.ok((await get(again.store, digest)).equals(bytes))
        t.ok((await get(again.store, digest, { offset: 4000, limit: 500 })).equals(bytes.subarray(4000, 4500)))
      }
      await again.close()
    }
  }
})

t.test('what was put together survives kill -9, without a checkpoint', async (t) => {
  const root = t.testdir()
  const blobs = some(5)
  const files = await openFilesystem(join(root, 'a'), SMALL)
  await putTogether(files.store, blobs)
  await crashed(join(root, 'a'), join(root, 'b'))
  await files.close()
  const again = await openFilesystem(join(root, 'b'), SMALL)
  for (const { digest, bytes } of blobs) t.ok((await get(again.store, digest)).equals(bytes))
  await again.close()
})

t.test('a damaged blob in a file of several is missing, and the others are served', async (t) => {
  for (const when of ['while the store runs', 'while it does not']) {
    const folder = t.testdir()
    const blobs = some(3)
    let files = await openFilesystem(folder, SMALL)
    await putTogether(files.store, blobs)
    if (when === 'while it does not') await files.close()
    await flip(await onlyPack(folder), SIZE_BYTES + 10)
    if (when === 'while it does not') files = await openFilesystem(folder, SMALL)
    const [first, second, third] = blobs as [Some[0], Some[0], Some[0]]
    await t.rejects(get(files.store, second.digest), { message: /is not in the file store/ }, when)
    t.same(await presence(files.store, blobs), [true, false, true], when)
    for (const { digest, bytes } of [first, third]) t.ok((await get(files.store, digest)).equals(bytes), when)
    await putTogether(files.store, [second])
    t.ok((await get(files.store, second.digest)).equals(second.bytes), 'uploaded again')
    await files.close()
    const { damage } = await checkFolder(join(folder, 'content'), () => {})
    t.same(damage, [])
  }
})

t.test('check-folder finds a damaged blob in a file of several', async (t) => {
  const folder = t.testdir()
  const blobs = some(3)
  const files = await openFilesystem(folder, SMALL)
  await putTogether(files.store, blobs)
  await files.close()
  const right = await checkFolder(join(folder, 'content'), () => {})
  t.match(right, { blobs: { count: 3 }, damage: [], hashes: { matching: 3, differing: 0 } })
  await flip(await onlyPack(folder), 10)
  const { damage } = await checkFolder(join(folder, 'content'), () => {})
  t.equal(damage.length, 1)
  t.match(damage[0], (blobs[0] as Some[0]).digest.key)
})

t.test('each blob of a file is evicted by itself, and the file goes with the last', async (t) => {
  const folder = t.testdir()
  const blobs = some(4)
  const clock = new ManualClock(Date.now())
  const files = await openFilesystem(folder, { ...SMALL, clock, retention: 0, policy: { max_count: 4 } })
  await putTogether(files.store, blobs)
  clock.advance(20_000)
  await get(files.store, (blobs[0] as Some[0]).digest)
  for (const { digest, bytes } of some(2, 'other')) await put(files.store, digest, bytes)
  await until(async () => files.usage().entryCount === 4, 'the eviction')
  t.equal((await presence(files.store, blobs)).filter((isThere) => isThere).length, 2)
  t.ok(await isPresent(files.store, (blobs[0] as Some[0]).digest), 'the one that was used stays')
  t.equal((await packsIn(folder)).length, 1)
  for (const { digest } of blobs) await files.store.remove(digest, 'unwanted', call)
  await until(async () => (await packsIn(folder)).length === 0, 'that the file is deleted')
  await files.close()
})

t.test('a file that is mostly dead is emptied: its blobs move, and survive kill -9 at any time', async (t) => {
  const root = t.testdir()
  const folder = join(root, 'a')
  const blobs = some(12)
  const clock = new ManualClock(Date.now())
  const parts = { ...SMALL, clock, segmentBytes: 4096 }
  const files = await openFilesystem(folder, parts)
  await putTogether(files.store, blobs)
  const before = await onlyPack(folder)
  const kept = blobs.filter((_, number) => number % 3 === 0)
  for (const blob of blobs) if (!kept.includes(blob)) await files.store.remove(blob.digest, 'unwanted', call)
  await crashed(folder, join(root, 'before'))
  await until(async () => {
    clock.advance(1000)
    return !(await packsIn(folder)).includes(before)
  }, 'that the file is emptied')
  t.equal(
    (await stat(await onlyPack(folder))).size,
    kept.reduce((sum, { bytes }) => sum + bytes.length, 0),
  )
  await crashed(folder, join(root, 'after'))
  for (const { digest, bytes } of kept) t.ok((await get(files.store, digest)).equals(bytes))
  await files.close()
  for (const left of ['a', 'before', 'after']) {
    const again = await openFilesystem(join(root, left), parts)
    for (const blob of blobs) {
      t.equal(await isPresent(again.store, blob.digest), kept.includes(blob), left)
      if (kept.includes(blob)) t.ok((await get(again.store, blob.digest)).equals(blob.bytes), left)
    }
    await again.close()
  }
})

t.test('a file that nobody knows is deleted, and blobs without their file are missing', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const blobs = some(3)
  const [lost, kept] = [blobs.slice(0, 2), blobs.slice(2)]
  const files = await openFilesystem(folder, { ...SMALL, clock })
  await putTogether(files.store, lost)
  const path = await onlyPack(folder)
  await putTogether(files.store, kept)
  await files.close()
  await unlink(path)
  // What an upload had written when the process was killed.
  const unknown = join(folder, 'content', 'packs', '00', '00123456789a')
  await rm(unknown, { force: true })
  await mkdir(join(folder, 'content', 'packs', '00'), { recursive: true })
  await writeFile(unknown, 'half')
  const again = await openFilesystem(folder, { ...SMALL, clock })
  await until(async () => {
    clock.advance(1000)
    return (await presence(again.store, lost)).every((isThere) => !isThere)
  }, 'that the lost blobs are missing')
  await until(async () => !(await packsIn(folder)).includes(unknown), 'that the unknown file is deleted')
  t.ok((await get(again.store, (kept[0] as Some[0]).digest)).equals((kept[0] as Some[0]).bytes))
  await again.close()
})

t.test('after a power loss a blob whose bytes the disk has lost is missing from the start', async (t) => {
  const root = t.testdir()
  const blobs = some(3)
  const files = await openFilesystem(join(root, 'a'), SMALL)
  await putTogether(files.store, blobs)
  // Without a checkpoint nobody knows whether the machine was restarted.
  await crashed(join(root, 'a'), join(root, 'b'))
  await files.close()
  const file = await open(await onlyPack(join(root, 'b')), 'r+')
  await file.truncate(SIZE_BYTES + 100)
  await file.close()
  const again = await openFilesystem(join(root, 'b'), SMALL)
  t.same(await presence(again.store, blobs), [true, false, false])
  await again.close()
})

t.test('what fails to be written fails alone, and leaves nothing', async (t) => {
  const folder = t.testdir()
  const blobs = some(2)
  const files = await openFilesystem(folder, SMALL)
  await writeFile(join(folder, 'content', 'packs'), 'in the way')
  await t.rejects(putTogether(files.store, blobs), { message: /could not write blob/ })
  t.same(await presence(files.store, blobs), [false, false])
  await rm(join(folder, 'content', 'packs'))
  await putTogether(files.store, blobs)
  t.same(await presence(files.store, blobs), [true, true])
  await files.close()
})

t.test('keys whose blob is replaced read as what was put last', async (t) => {
  const folder = t.testdir()
  const key = Digest.of(Buffer.from('key'), digestFunctions.SHA256).asKey()
  const versions = some(3, 'version').map(({ bytes }) => ({ digest: key, bytes }))
  const files = await openFilesystem(folder, SMALL)
  const together = {}
  for (const version of versions) {
    await putTogether(files.store, [version], together)
    t.ok((await get(files.store, key)).equals(version.bytes))
  }
  await put(files.store, key, bytesOf(3000, 'alone'))
  t.ok((await get(files.store, key)).equals(bytesOf(3000, 'alone')))
  await until(async () => (await packsIn(folder)).length === 0, 'that the file is deleted')
  await files.close()
})

t.test('of blobs that are put together, one with wrong bytes fails and the others are kept', async (t) => {
  const files = await openFilesystem(t.testdir(), SMALL)
  const blobs = some(3)
  const entries = blobs.map(({ digest, bytes }, at) => ({
    digest,
    blob: Blob.ofBytes(at === 1 ? bytesOf(bytes.length, 'wrong') : bytes).verify(digest, { fault: 'client' }),
  }))
  const outcomes = await files.store.putAll(entries, callWith(call, { together: {} }))
  t.same(
    outcomes.map((failure) => failure?.code),
    [undefined, 3, undefined],
  )
  t.same(await presence(files.store, blobs), [true, false, true])
  await files.close()
})

t.test(
  'blobs whose file was deleted while the store runs are not read from it, and nothing is added to it',
  async (t) => {
    const root = t.testdir()
    const blobs = some(4)
    const [before, behind] = [blobs.slice(0, 3), blobs.slice(3)]
    const together = {}
    const files = await openFilesystem(join(root, 'a'), SMALL)
    await putTogether(files.store, before, together)
    await unlink(await onlyPack(join(root, 'a')))
    await putTogether(files.store, behind, together)
    await crashed(join(root, 'a'), join(root, 'b'))
    for (const { digest } of before) await t.rejects(get(files.store, digest), { message: /is not in the file store/ })
    t.same(await presence(files.store, blobs), [false, false, false, true])
    await files.close()
    const again = await openFilesystem(join(root, 'b'), SMALL)
    for (const { digest, bytes } of behind) t.ok((await get(again.store, digest)).equals(bytes))
    await again.close()
  },
)

t.test('a change of a file of several blobs is noticed by readers that come together', async (t) => {
  const folder = t.testdir()
  const blobs = some(3)
  const files = await openFilesystem(folder, SMALL)
  await putTogether(files.store, blobs)
  const path = await onlyPack(folder)
  await flip(path, SIZE_BYTES + 10)
  await utimes(path, new Date(), new Date(Date.now() + 5000))
  const read = await Promise.allSettled(blobs.map(({ digest }) => get(files.store, digest)))
  t.same(
    read.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  await files.close()
})

t.test('a full store refuses blobs that are put together, before it writes them', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, {
    ...SMALL,
    retention: 3600,
    when_full: 'refuse',
    policy: { max_bytes: 12_000 },
  })
  const blobs = some(3)
  await putTogether(files.store, blobs.slice(0, 2))
  await t.rejects(putTogether(files.store, blobs.slice(2)), { code: 8 })
  t.equal((await packsIn(folder)).length, 1)
  t.same(await presence(files.store, blobs), [true, true, false])
  await files.close()
})

t.test('what arrives while a file is emptied is not replaced by the older place', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const files = await openFilesystem(folder, { ...SMALL, clock, segmentBytes: 4096 })
  const blobs = some(6)
  const together = {}
  await putTogether(files.store, blobs, together)
  const before = await onlyPack(folder)
  for (const { digest } of blobs.slice(2)) await files.store.remove(digest, 'unwanted', call)
  const [first, second] = blobs as [Some[0], Some[0]]
  for (let round = 0; round < 20; round++) {
    clock.advance(1000)
    await put(files.store, first.digest, first.bytes)
    await putTogether(files.store, [second])
  }
  await until(async () => {
    clock.advance(1000)
    return !(await packsIn(folder)).includes(before)
  }, 'that the file is emptied')
  for (const { digest, bytes } of [first, second]) t.ok((await get(files.store, digest)).equals(bytes))
  t.equal((await files.blobFiles()).length, 1)
  await files.close()
  const again = await openFilesystem(folder, { ...SMALL, clock, segmentBytes: 4096 })
  for (const { digest, bytes } of [first, second]) t.ok((await get(again.store, digest)).equals(bytes))
  await again.close()
})

t.test('an upload that is written while its blob is moved counts, not the copy that comes behind it', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const smallBytes = 1024 * 1024
  const files = await openFilesystem(folder, { small_blob_size: smallBytes, clock })
  // Only a larger blob begins a file of several.
  const bytes = bytesOf(smallBytes + 1, 'larger')
  const larger = { bytes, digest: digestOf(bytes) }
  const blobs = some(10)
  const together = {}
  await putTogether(files.store, [larger], together)
  await putTogether(files.store, blobs, together)
  const path = await onlyPack(folder)
  await files.store.remove(larger.digest, 'unwanted', call)
  // They are written first, for so long that a blob is copied meanwhile.
  const before = Array.from({ length: 24 }, (_, number) => ({
    digest: Digest.of(Buffer.from(`before ${number}`), digestFunctions.SHA256).asKey(),
    bytes: bytes.subarray(1),
  }))
  const putting = [...before, ...blobs].map(({ digest, bytes }) => files.store.put(digest, Blob.ofBytes(bytes), call))
  clock.advance(1000)
  await Promise.all(putting)
  await until(async () => {
    clock.advance(1000)
    return !(await packsIn(folder)).includes(path)
  }, 'that the file is emptied')
  for (const { digest, bytes } of blobs) t.ok((await get(files.store, digest)).equals(bytes))
  await files.close()
})
