import { chmod, lstat, unlink } from 'node:fs/promises'
import { connect, type Server } from 'node:net'
import { advice, errnoOf, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'

const UNIX = 'unix:'

/** For the user and the group of the process. */
export const UNIX_SOCKET_MODE = 0o660

export const isUnixAddress = (address: string): boolean => address.startsWith(UNIX)

/**
 * Listens on `unix:/path`, and resolves with that address. A socket that nobody listens on, as kill -9 leaves it, is
 * replaced. UNAVAILABLE if somebody does, or if something else has that path.
 */
export const bindUnix = async (net: Server, address: string, mode: number): Promise<string> => {
  const path = address.slice(UNIX.length)
  try {
    await removeStale(path)
    await listen(net, path)
    await chmod(path, mode)
    return address
  } catch (error) {
    net.close()
    if (error instanceof StatusError) throw error
    throw new StatusError('UNAVAILABLE', `cannot listen on ${address}: ${inWords(error)}${advice(error)}`, {
      cause: error,
    })
  }
}

const listen = (net: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // The socket is created in this call. Nobody else may connect before it has its mode.
    const before = process.umask(0o177)
    try {
      net.on('error', reject).listen({ path }, () => {
        resolve()
      })
    } finally {
      process.umask(before)
    }
  })

const removeStale = async (path: string): Promise<void> => {
  const found = await lstat(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) return
  if (!found.isSocket()) {
    throw new StatusError('UNAVAILABLE', `cannot listen on unix:${path}: it is no socket, expected a path of its own`)
  }
  if (await isListened(path)) {
    throw new StatusError('UNAVAILABLE', `cannot listen on unix:${path}: another process listens there`)
  }
  await unlink(path)
}

const isListened = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const probe = connect(path, () => {
      probe.destroy()
      resolve(true)
    })
    probe.on('error', (error) => {
      if (errnoOf(error) === 'ECONNREFUSED') resolve(false)
      else reject(error)
    })
  })
