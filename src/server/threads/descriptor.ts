import { createRequire } from 'node:module'
import { connect, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
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

/** The socket of a connection that never comes about; Node makes its handle at once. */
const probe = (): Socket => connect({ path: '\0remexec-probe' }).on('error', () => {})

/**
 * FAILED_PRECONDITION if this version of Node lacks the private fields by which service threads take over connections:
 * otherwise it would only show in connections that close without a reason.
 */
export const checkPrivateFields = (open: () => Socket = probe): void => {
  const socket = open()
  const overTls = new TLSSocket(new Socket(), {})
  const missing = [
    ...(descriptorOf(socket) === undefined ? ['_handle.fd of a socket'] : []),
    ...(Reflect.get(overTls, '_parent') instanceof Socket ? [] : ['_parent of a TLS socket']),
  ]
  overTls.destroy()
  socket.destroy()
  if (missing.length === 0) return
  const found = `Node ${process.version} has no ${missing.join(' and no ')}`
  throw new StatusError(
    'FAILED_PRECONDITION',
    `${found}, which global.threads needs: leave it out, or use Node 20 to 24`,
  )
}

/** Undefined if Node has no such field; negative for a socket that is closed. */
const descriptorOf = (socket: Socket): number | undefined => {
  const handle: unknown = Reflect.get(socket, '_handle')
  if (handle === null) return -1
  return typeof handle === 'object' && 'fd' in handle && typeof handle.fd === 'number' ? handle.fd : undefined
}

/** FAILED_PRECONDITION without koffi, an optional dependency, and without private fields of Node. */
export const descriptorTaker = (): TakeDescriptor => {
  checkPrivateFields()
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
    const fd = descriptorOf(socket) ?? -1
    // The client may have left already.
    if (fd < 0) return undefined
    const taken = duplicate(fd, F_DUPFD_CLOEXEC, 'int', 0)
    socket.destroy()
    return taken < 0 ? undefined : taken
  }
}
