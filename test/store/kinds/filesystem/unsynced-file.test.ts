// The sources keep the functions of node:fs that they find when they are loaded.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'

const { fsync } = fs
const broken = (fd: number, callback: fs.NoParamCallback): void => {
  const isTemporary = fs.readlinkSync(`/proc/self/fd/${fd}`).includes('/temp/')
  if (isTemporary) process.nextTick(callback, Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' }))
  else fsync(fd, callback)
}
fs.fsync = Object.assign(broken, { __promisify__: fsync.__promisify__ })
syncBuiltinESMExports()
const { openFilesystem } = await import('./open.js')
const { bytesOf, digestOf, isPresent, put } = await import('../../blobs.js')

t.test('a blob whose bytes could not be synced to disk is not acknowledged, and leaves no file', async (t) => {
  const { store, blobFiles, tempFiles, close } = await openFilesystem(t.testdir(), { durability: 'power_loss' })
  t.teardown(close)
  const bytes = bytesOf(200_000)
  await t.rejects(put(store, digestOf(bytes), bytes), { message: /EIO/ })
  t.notOk(await isPresent(store, digestOf(bytes)))
  t.same([await blobFiles(), await tempFiles()], [[], []])
})
