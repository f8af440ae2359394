import { type FileHandle, open, stat, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { errnoOf } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'

const ATTEMPTS_MAX = 5
/** Longer than another process needs between seeing a stale socket and removing ours instead. */
const SETTLE_MS = 50
const RETRY_MS = 100

/**
 * Prevents other processes from using the same folder: this process listens on a Unix socket in it. The kernel knows
 * whether the listener is alive, so a crash leaves no lock behind, and process ids of other containers do not matter.
 * Rejects with FAILED_PRECONDITION if another process still listens after `waitMs`; `by` names the user of the folder
 * in that error. Returns the function that unlocks.
 */
export const lockFolder = async (folder: string, by: string, waitMs = 0): Promise<() => Promise<void>> => {
  const handle = await open(folder)
  const path = socketIn(folder, handle)
  try {
    const untilMs = performance.now() + waitMs
    let server = await take(path)
    while (server === undefined && performance.now() < untilMs) {
      await pause(RETRY_MS)
      server = await take(path)
    }
    if (server === undefined) throw new StatusError('FAILED_PRECONDITION', `${folder} is in use by ${by}`)
    return release(server, handle)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Whether another process holds the lock of a folder. Changes nothing. */
export const isFolderLocked = async (folder: string): Promise<boolean> => {
  const handle = await open(folder)
  try {
    return await answers(socketIn(folder, handle))
  } finally {
    await handle.close()
  }
}

/** A socket path has at most 107 bytes. Through the open folder it is short, however deep the folder is. */
const socketIn = (folder: string, handle: FileHandle): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/lock` : join(folder, 'lock')

/** Undefined while another process holds the lock. */
const take = async (path: string): Promise<Server | undefined> => {
  let hasRemovedStale = false
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const server = await listen(path)
    if (server !== undefined) {
      if (!hasRemovedStale || (await isStillOurs(path))) return server
      await closed(server)
      break
    }
    if (await answers(path)) break
    hasRemovedStale = true
    await unlink(path).catch((error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw error
    })
  }
  return undefined
}

const listen = (path: string): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy()).unref()
    server.on('error', (error) => (errnoOf(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    server.listen(path, () => resolve(server))
  })

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', (error) => {
      if (['ECONNREFUSED', 'ENOENT'].includes(errnoOf(error) ?? '')) resolve(false)
      else reject(error)
    })
  })

/**
 * Two processes that start together may both remove a stale socket. The later one wins; the earlier one notices here.
 */
const isStillOurs = async (path: string): Promise<boolean> => {
  const inode = async (): Promise<number> => (await stat(path)).ino
  const before = await inode()
  await pause(SETTLE_MS)
  return (await inode()) === before
}

const release =
  (server: Server, handle: FileHandle): (() => Promise<void>) =>
  async () => {
    await closed(server)
    await handle.close()
  }

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
