import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ManualClock } from '../../../../../src/base/clock.js'
import { Code } from '../../../../../src/base/status-error.js'
import type { Store } from '../../../../../src/blobs/store.js'
import { silentLog } from '../../../../../src/log/log.js'
import { callWith } from '../../../../../src/rpc/call.js'
import { BlobIndex } from '../../../../../src/store/index/blob-index.js'
import { Catalog } from '../../../../../src/store/kinds/filesystem/catalog.js'
import { Unlinker } from '../../../../../src/store/kinds/filesystem/files/unlinker.js'
import { Inspection } from '../../../../../src/store/kinds/filesystem/inspection.js'
import { Layout } from '../../../../../src/store/kinds/filesystem/layout.js'
import { Packs } from '../../../../../src/store/kinds/filesystem/packs/packs.js'
import { encodePlace } from '../../../../../src/store/kinds/filesystem/records/place.js'
import { RecordLog } from '../../../../../src/store/kinds/filesystem/records/record-log.js'
import { recover } from '../../../../../src/store/kinds/filesystem/recover/recover.js'
import { PackKeeper } from '../../../../../src/store/kinds/filesystem/upkeep/pack-keeper.js'
import { Blob } from '../../../../../src/stream/blob/blob.js'
import { WHOLE } from '../../../../../src/stream/path.js'
import { until } from '../../../../until.js'
import { bytesOf, call, digestOf, get, isPresent } from '../../../blobs.js'
import { openFilesystem } from '../open.js'
import { onlyPack, packsIn, putTogether, SMALL, type Some, some } from './together.js'

const removeAll = async (store: Store, blobs: Some): Promise<void> => {
  for (const { digest } of blobs) await store.remove(digest, 'unwanted', call)
}

/** Whether this process has the file open, deleted or not. */
const isOpen = (path: string): boolean =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path)
    } catch {
      return false
    }
  })

t.test('a deleted file of several blobs is read to the end, and closed by its last reader', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, SMALL)
  t.teardown(() => files.close())
  const bytes = bytesOf(300_000, 'larger')
  const blobs = [{ bytes, digest: digestOf(bytes) }]
  await putTogether(files.store, blobs)
  const path = await onlyPack(folder)
  const blob = await files.store.get(digestOf(bytes), WHOLE, call)
  await removeAll(files.store, blobs)
  await until(async () => (await packsIn(folder)).length === 0, 'that the file is deleted')
  t.ok(isOpen(path))
  t.ok((await blob.bytes(bytes.length, call)).equals(bytes))
  await until(async () => !isOpen(path), 'that the file is closed')
})

t.test('a file is closed when it is deleted after a run of it could not be read', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, SMALL)
  t.teardown(() => files.close())
  const blobs = some(3)
  await putTogether(files.store, blobs)
  const path = await onlyPack(folder)
  const [first, , third] = blobs as [Some[0], Some[0], Some[0]]
  t.equal(await files.store.sideBySide?.get([first.digest, third.digest], WHOLE, call), undefined)
  await removeAll(files.store, blobs)
  await until(async () => !isOpen(path), 'that the file is closed')
})

t.test('a file is not deleted with its last blob while another is added to it', async (t) => {
  const folder = t.testdir()
  let files = await openFilesystem(folder, SMALL)
  const kept: Some[0][] = []
  // The removal is so many steps behind.
  for (let steps = 0; steps < 30; steps++) {
    const [first, second] = some(2, `${steps}`) as [Some[0], Some[0]]
    const together = {}
    await putTogether(files.store, [first], together)
    const adding = putTogether(files.store, [second], together)
    for (let step = 0; step < steps; step++) await (step % 3 === 2 ? setImmediate() : undefined)
    await files.store.remove(first.digest, 'unwanted', call)
    await adding
    kept.push(second)
  }
  for (const { digest, bytes } of kept) t.ok((await get(files.store, digest)).equals(bytes))
  await files.close()
  files = await openFilesystem(folder, SMALL)
  for (const { digest, bytes } of kept) t.ok((await get(files.store, digest)).equals(bytes), 'after a start')
  await files.close()
})

t.test('a file of an earlier run stays when its only known blob is removed, until all blobs are known', async (t) => {
  const folder = t.testdir()
  const blobs = some(2)
  const files = await openFilesystem(folder, SMALL)
  // After a start their places are looked up first.
  const others = Array.from({ length: 3000 }, (_, number) => {
    const bytes = bytesOf(SMALL.small_blob_size + 1, `other ${number}`)
    return { bytes, digest: digestOf(bytes) }
  })
  await putTogether(files.store, others)
  await putTogether(files.store, blobs)
  await files.close()
  const again = await openFilesystem(folder, SMALL)
  t.teardown(() => again.close())
  const [first, second] = blobs as [Some[0], Some[0]]
  await get(again.store, first.digest)
  await again.store.remove(first.digest, 'unwanted', call)
  t.ok((await get(again.store, second.digest)).equals(second.bytes))
})

t.test('a blob whose record is moved while its place is looked for after a start stays with its file', async (t) => {
  const folder = t.testdir()
  const blobs = some(3)
  const files = await openFilesystem(folder, SMALL)
  await putTogether(files.store, blobs)
  const path = await onlyPack(folder)
  await files.close()

  const layout = new Layout(join(folder, 'content'), join(folder, 'temp'))
  const clock = new ManualClock(Date.now())
  const policy = { max_bytes: 0, evict_bytes: 0, max_count: 0, max_seconds: 0 }
  const index = new BlobIndex({ policy, clock })
  const options = { folder: layout.recordsPath, segmentBytes: 2 ** 20, isSynced: false, log: silentLog }
  const records = await RecordLog.open(options)
  await recover({ index, records, checkpointPath: layout.checkpointPath, log: silentLog, path: 'TEST' })
  const catalog = new Catalog({ layout, index, records, recentBytes: 0, syncs: undefined, clock, log: silentLog })
  const [first, moved, third] = blobs as [Some[0], Some[0], Some[0]]
  const slot = index.find(moved.digest)
  const before = index.extraOf(slot)
  const read = records.readPacked.bind(records)
  // The cleaner is ahead of the read: the record is elsewhere, and the segment of the old one is gone.
  records.readPacked = async (location, digest) => {
    const record = await read(location, digest)
    if (location !== before || record === undefined) return record
    const onLocated = (copyLocation: number): void => index.setExtra(slot, copyLocation)
    await records.append({ ...record.head, bytes: encodePlace(record.place), onLocated })
    return undefined
  }
  const parts = { catalog, inspection: new Inspection(catalog, silentLog), clock, log: silentLog }
  const keeper = new PackKeeper(parts)
  await keeper.survey()
  t.not(index.extraOf(slot), before, 'it was moved')
  for (const { digest } of [first, third]) await catalog.drop(digest)
  await catalog.unlinker.idle()
  t.ok(existsSync(path), 'the file of the last blob')
  await keeper.stop()
  await catalog.close()
  await records.close()
})

t.test('no file goes before the removal of a blob is in the log whose file was not known yet', async (t) => {
  const folder = t.testdir()
  const layout = new Layout(join(folder, 'content'), join(folder, 'temp'))
  const unlinker = new Unlinker(silentLog)
  const packs = new Packs({ layout, unlinker })
  const { path } = packs.pack(7)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'the blob that was removed')
  let record = (): void => {}
  const recorded = new Promise<void>((resolve) => {
    record = resolve
  })
  packs.left(3, 25, recorded)
  const complete = packs.complete()
  for (let step = 0; step < 10; step++) await setImmediate()
  t.notOk(packs.isComplete)
  t.ok(existsSync(path))
  record()
  await complete
  await unlinker.idle()
  t.notOk(existsSync(path), 'it has no other blob')
})

t.test('a cancelled upload of blobs that belong together lets go of what it was given', async (t) => {
  const files = await openFilesystem(t.testdir(), SMALL)
  t.teardown(() => files.close())
  const source = new PassThrough()
  const [{ digest }] = some(1) as [Some[0]]
  const entries = [{ digest, blob: Blob.ofPath([source], { sizeBytes: digest.sizeBytes }) }]
  const cancelled = callWith(call, { together: {}, signal: AbortSignal.abort() })
  const [outcome] = await files.store.putAll(entries, cancelled)
  t.equal(outcome?.code, Code.CANCELLED)
  t.ok(source.destroyed)
})

t.test('a blob whose record has lost its place is missing after a start, although nobody reads it', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const blobs = some(2)
  const files = await openFilesystem(folder, { ...SMALL, clock })
  await putTogether(files.store, blobs)
  await files.close()
  const [first, second] = blobs as [Some[0], Some[0]]
  const records = join(folder, 'content', 'records')
  const [name = ''] = readdirSync(records)
  const bytes = readFileSync(join(records, name))
  const placeAt = bytes.indexOf(Buffer.from(first.digest.hash, 'hex')) + first.digest.hash.length / 2
  bytes.writeUInt8(bytes.readUInt8(placeAt) ^ 1, placeAt)
  writeFileSync(join(records, name), bytes)
  const again = await openFilesystem(folder, { ...SMALL, clock })
  t.teardown(() => again.close())
  await until(async () => {
    clock.advance(1000)
    return !(await isPresent(again.store, first.digest))
  }, 'that it is missing')
  t.ok((await get(again.store, second.digest)).equals(second.bytes))
})

t.test('of several files the one with the largest dead share is emptied, and others stay as they are', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(Date.now())
  const files = await openFilesystem(folder, { ...SMALL, clock })
  t.teardown(() => files.close())
  await putTogether(files.store, some(3, 'whole'))
  const whole = await onlyPack(folder)
  const half = some(4, 'half')
  await putTogether(files.store, half)
  const [emptied = ''] = (await packsIn(folder)).filter((path) => path !== whole)
  await removeAll(files.store, half.slice(1))
  await until(async () => {
    clock.advance(1000)
    return !(await packsIn(folder)).includes(emptied)
  }, 'that the file is emptied')
  t.ok((await packsIn(folder)).includes(whole))
})
