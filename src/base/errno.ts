/** The name Node gives to a failed system call (`ENOENT`), if that is what the error is. */
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
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
}

/** What a failed system call says, for operators: `permission denied (EACCES)`; of any other error its message. */
export const inWords = (error: unknown): string => {
  const errno = errnoOf(error)
  if (errno === undefined) return error instanceof Error ? error.message : String(error)
  return WORDS[errno] === undefined ? errno : `${WORDS[errno]} (${errno})`
}
