import fs from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { begin, hold, reached, release, waitingAtRest } from '../../../held-disk.js'
import { bytesOf, call, digestOf, get, put } from '../../blobs.js'
import { openFilesystem } from './open.js'

t.test('a store that closes while an upload gets its name waits for that, and has the blob afterwards', async (t) => {
  const folder = t.testdir()
  const { store, close } = await openFilesystem(folder, { small_blob_size: 0 })
  const bytes = bytesOf(100_000)
  hold()
  const upload = put(store, digestOf(bytes), bytes)
  await reached()
  const closed = close()
  t.same(await waitingAtRest(), ['rename'], 'the checkpoint is not written before')
  release()
  await begin('rename')
  await Promise.all([upload, closed])
  const again = await openFilesystem(folder)
  t.teardown(again.close)
  t.ok((await get(again.store, digestOf(bytes))).equals(bytes))
})

t.test('a file that the store keeps is not writable before it has its name', async (t) => {
  const folder = t.testdir()
  const { files, close } = await openFilesystem(folder, { small_blob_size: 0 })
  t.teardown(close)
  const bytes = bytesOf(1000)
  const { path } = await files.reserve(call)
  fs.writeFileSync(path, bytes, { mode: 0o644 })
  const { mtimeMs } = fs.statSync(path)
  hold()
  const kept = files.adopt(digestOf(bytes), { path, sizeBytes: bytes.length, checksum: crc32(bytes), mtimeMs }, call)
  t.same(await waitingAtRest(), ['chmod'])
  await begin('chmod')
  await begin('rename')
  release()
  await kept
  const located = await files.locate(digestOf(bytes), false)
  t.equal(fs.statSync('path' in located ? located.path : join(folder, 'absent')).mode & 0o777, 0o444)
})
