import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { StatusError } from '../../base/status-error.js'

/** Duplicates a descriptor so that programs this process starts do not inherit it (Linux, fcntl(2)). */
const F_DUPFD_CLOEXEC = 1030

interface Koffi {
  load(library: null): {
    func(declaration: string): (fd: number, command: number, type: string, value: number) => number
  }
  errno(): number
}

/**
 * Takes the connection of an accepted socket as a descriptor, which another thread may open. Node has no way to give up a
 * descriptor without closing it, so the C library duplicates it. The socket is closed; the connection is not.
 */
export type TakeDescriptor = (socket: Socket) => number | undefined

/** FAILED_PRECONDITION without koffi, an optional dependency. */
export const descriptorTaker = (): TakeDescriptor => {
  let koffi: Koffi
  let duplicate: ReturnType<ReturnType<Koffi['load']>['func']>
  try {
    koffi = createRequire(import.meta.url)('koffi')
    duplicate = koffi.load(null).func('int fcntl(int fd, int command, ...)')
  } catch (cause) {
    const advice = 'install it (npm install koffi) or leave out global.threads'
    throw new StatusError('FAILED_PRECONDITION', `global.threads needs the package koffi: ${advice}`, { cause })
  }
  return (socket) => {
    const handle: unknown = Reflect.get(socket, '_handle')
    const fd = typeof handle === 'object' && handle !== null && 'fd' in handle ? Number(handle.fd) : -1
    // The client may have left already.
    if (fd < 0) return undefined
    const taken = duplicate(fd, F_DUPFD_CLOEXEC, 'int', 0)
    socket.destroy()
    return taken < 0 ? undefined : taken
  }
}
