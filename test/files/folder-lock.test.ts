import { createServer } from 'node:net'
import { chdir, cwd } from 'node:process'
import t from 'tap'
import { lockFolder } from '../../src/files/folder-lock.js'

/** Holds the lock of a folder, and releases it at the first request of another process. */
const predecessor = async (folder: string): Promise<void> => {
  const before = cwd()
  const server = createServer((socket) => {
    socket.destroy()
    server.close()
  })
  // The path of a socket has at most 107 bytes.
  chdir(folder)
  await new Promise<void>((resolve) => server.listen('lock', resolve))
  chdir(before)
}

t.test('the lock of a process that is about to end is waited for', async (t) => {
  const folder = t.testdir({})
  await predecessor(folder)
  const release = await lockFolder(folder, 'another', 10_000)
  await t.rejects(lockFolder(folder, 'another', 150), { code: 9, message: /is in use by another/ }, 'but not for ever')
  await release()
})

t.test('without a wait a held lock is rejected at once', async (t) => {
  const folder = t.testdir({})
  await predecessor(folder)
  await t.rejects(lockFolder(folder, 'another'), { code: 9, message: /is in use by another/ })
})

t.test('what is in the place of a lock and cannot be removed is no lock of another process', async (t) => {
  const folder = t.testdir({ lock: {} })
  await t.rejects(lockFolder(folder, 'another'), { message: /unlink/ })
})
