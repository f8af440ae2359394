import { Code, type CodeName, StatusError } from './status-error.js'

/** The errno name of a failed system call (`ENOENT`); undefined for other errors. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^E[A-Z0-9_]+$/.test(error.code)
    ? error.code
    : undefined

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the operation is not permitted',
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a file is where a directory is expected',
  EISDIR: 'it is a directory',
  EEXIST: 'a file is in its place',
  ENOTEMPTY: 'the directory is not empty',
  ELOOP: 'symbolic links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  EILSEQ: 'this machine cannot have a file of that name',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than allowed',
  EMFILE: 'the process has too many files open',
  ENFILE: 'the machine has too many files open',
  EIO: 'the disk reports an error',
  EBUSY: 'it is in use',
  EXDEV: 'it is on another file system',
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EAFNOSUPPORT: 'this machine does not speak that kind of address',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was lost',
  ECONNABORTED: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ETIMEDOUT: 'there is no answer',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
}

/** The text of a failed system call for operators, `permission denied (EACCES)`; for other errors their message. */
export const inWords = (error: unknown): string => {
  const errno = errnoOf(error)
  if (errno === undefined) return error instanceof Error ? error.message : String(error)
  const words = WORDS[errno]
  if (words === undefined) return errno
  // Of a host that is looked up.
  const { hostname } = error as { readonly hostname?: unknown }
  return typeof hostname === 'string' ? `${words}: ${hostname} (${errno})` : `${words} (${errno})`
}

/** Status codes for errnos. All others are INTERNAL. */
const CODES: Readonly<Record<string, CodeName>> = {
  ENOSPC: 'RESOURCE_EXHAUSTED',
  EDQUOT: 'RESOURCE_EXHAUSTED',
  EFBIG: 'RESOURCE_EXHAUSTED',
  EMFILE: 'RESOURCE_EXHAUSTED',
  ENFILE: 'RESOURCE_EXHAUSTED',
  ENAMETOOLONG: 'INVALID_ARGUMENT',
  EILSEQ: 'INVALID_ARGUMENT',
  EEXIST: 'ALREADY_EXISTS',
  EIO: 'DATA_LOSS',
}

/**
 * Converts a file system error into a status for clients. `what` says what was attempted (`could not write blob
 * abc-12`). Local paths stay in the cause.
 */
export const fileFailure = (thrown: unknown, what: string): StatusError => {
  if (thrown instanceof StatusError) return thrown
  const errno = errnoOf(thrown)
  if (errno === undefined) return StatusError.from(thrown).withPrefix(what)
  return new StatusError(CODES[errno] ?? 'INTERNAL', `${what}: ${inWords(thrown)}`, { cause: thrown })
}

const ATTEMPTS: Readonly<Record<string, string>> = {
  access: 'use',
  bind: 'listen on',
  chmod: 'change the rights of',
  link: 'link',
  listen: 'listen on',
  lstat: 'look at',
  mkdir: 'make the directory',
  open: 'open',
  opendir: 'list',
  read: 'read',
  realpath: 'look at',
  rename: 'move',
  rmdir: 'remove',
  scandir: 'list',
  spawn: 'start',
  stat: 'look at',
  unlink: 'remove',
  write: 'write',
}

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'give the user of this process the right to it, or configure another one',
  EPERM: 'give the user of this process the right to it, or configure another one',
  EEXIST: 'move that file away, or configure another directory',
  ENOTDIR: 'move that file away, or configure another directory',
  EISDIR: 'move that directory away, or configure another one',
  EROFS: 'configure a directory on a file system that can be written',
  ENOSPC: 'make room on that disk, or configure a directory on another one',
  EDQUOT: 'make room on that disk, or configure a directory on another one',
  EIO: 'look at the log of the kernel for that disk, and replace it if it fails',
  ELOOP: 'remove one of these links, or configure another path',
  ENAMETOOLONG: 'configure a shorter path',
  EBUSY: 'stop what uses it, or configure another one',
  ENFILE: 'raise fs.file-max of the machine',
  EMFILE: 'raise the limit with ulimit -n or in the service unit',
  EADDRINUSE: 'stop what listens there, or configure another port',
  EADDRNOTAVAIL: 'configure an address of this machine, or none for every one',
  ENOTFOUND: 'configure an address of this machine, or none for every one',
}

/** What to do about an errno at start, to be appended to `inWords`; empty if there is no advice. */
export const advice = (error: unknown): string => {
  const text = ADVICE[errnoOf(error) ?? '']
  return text === undefined ? '' : `; ${text}`
}

/**
 * Why a component did not start, for operators: the component, what was attempted with which path, the errno in words,
 * and what to do. Other errors keep their text, prefixed with the component. `step` is what it was doing: `opens its
 * records`.
 */
export const startFailure = (part: string, thrown: unknown, step?: string): StatusError => {
  const failed = systemError(thrown)
  const during = step === undefined ? '' : ` while it ${step}`
  if (failed === undefined) {
    const error = StatusError.from(thrown)
    // What is no plain refusal of the configuration may come from any step.
    return error.withPrefix(error.code === Code.FAILED_PRECONDITION ? part : `${part}${during && ` failed${during}`}`)
  }
  const { syscall = 'use', path = '' } = failed
  const attempted = `${ATTEMPTS[syscall] ?? syscall} ${path}`.trimEnd()
  const message = `${part}: cannot ${attempted}${during}: ${inWords(failed)}${advice(failed)}`
  return new StatusError('FAILED_PRECONDITION', message, { cause: thrown })
}

/** The failed system call that an error is, or that caused an error without a message of its own. */
const systemError = (thrown: unknown): NodeJS.ErrnoException | undefined => {
  if (errnoOf(thrown) !== undefined) return thrown as NodeJS.ErrnoException
  const isMute = thrown instanceof StatusError && thrown.code === Code.INTERNAL
  return isMute ? systemError(thrown.cause) : undefined
}
