import { errnoOf } from '../../base/errno.js'
import { type CodeName, StatusError } from '../../base/status-error.js'

/** What an errno means to whoever called; the others are our fault and INTERNAL. */
const codes: Readonly<Record<string, [code: CodeName, meaning: string]>> = {
  ENOSPC: ['RESOURCE_EXHAUSTED', 'the disk of the store is full'],
  EDQUOT: ['RESOURCE_EXHAUSTED', 'the disk quota of the store is used up'],
  EFBIG: ['RESOURCE_EXHAUSTED', 'the file would be larger than the server may write'],
  EMFILE: ['RESOURCE_EXHAUSTED', 'the server has too many files open'],
  ENFILE: ['RESOURCE_EXHAUSTED', 'the machine has too many files open'],
  ENOTDIR: ['INTERNAL', 'there is a file in the place of a folder of the store'],
  EEXIST: ['ALREADY_EXISTS', 'there is a file in its place'],
  EIO: ['DATA_LOSS', 'the disk of the store reports an error'],
  EROFS: ['INTERNAL', 'the file system of the store is read-only'],
  EACCES: ['INTERNAL', 'the server has no permission for the files of the store'],
  EPERM: ['INTERNAL', 'the server has no permission for the files of the store'],
}

/** `attempted` as in `could not write blob abc-12`. The path stays in the cause. */
export const fileError = (thrown: unknown, attempted: string): StatusError => {
  if (thrown instanceof StatusError) return thrown
  const errno = errnoOf(thrown)
  const unknown = errno === undefined ? 'internal error' : `the system says ${errno}`
  const [code, meaning] = codes[errno ?? ''] ?? ['INTERNAL', unknown]
  return new StatusError(code, `could not ${attempted}: ${meaning}`, { cause: thrown })
}
