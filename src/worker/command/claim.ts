import { closeSync, constants as files, openSync } from 'node:fs'
import { constants } from 'node:os'
import type { Libc } from './libc.js'

/** A file that no process has open. Opening it blocks until the claim is released. */
export interface ClaimedFile {
  release(): void
}

/**
 * `in use`: a process (also this one) has the file open. Undefined if the system cannot answer: without koffi, on a
 * file system without leases, or for a file of another user.
 */
export type ClaimFile = (path: string) => ClaimedFile | 'in use' | undefined

const FLAGS = files.O_RDONLY | files.O_NOFOLLOW | files.O_NONBLOCK
const F_SETSIG = 10
const F_SETLEASE = 1024
const F_WRLCK = 1

/** Claims files by a lease of the kernel, which costs an open and two calls. */
export const claimsOf =
  (libc: Libc | undefined): ClaimFile =>
  (path) => {
    if (libc === undefined) return undefined
    const fd = openSync(path, FLAGS)
    // A process that opens the file meanwhile blocks, and the kernel signals this process. The default signal would end
    // it.
    const isSet = libc.fcntl(fd, F_SETSIG, constants.signals.SIGURG) === 0
    if (isSet && libc.fcntl(fd, F_SETLEASE, F_WRLCK) === 0) return { release: () => closeSync(fd) }
    const errno = libc.errno()
    closeSync(fd)
    return errno === constants.errno.EAGAIN ? 'in use' : undefined
  }
