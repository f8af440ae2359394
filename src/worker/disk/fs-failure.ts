import { errnoOf } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'

/** What a failure of this machine's file system means to a client; `what` says what was attempted, without paths of here. */
export const fsFailure = (error: unknown, what: string): StatusError => {
  if (error instanceof StatusError) return error
  const errno = errnoOf(error)
  switch (errno) {
    case 'ENAMETOOLONG':
    case 'EILSEQ':
      return new StatusError('INVALID_ARGUMENT', `${what}: this machine cannot have a file of that name`, {
        cause: error,
      })
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EMFILE':
    case 'ENFILE':
      return new StatusError('RESOURCE_EXHAUSTED', `${what}: the worker has run out of resources (${errno})`, {
        cause: error,
      })
    default: {
      const status = StatusError.from(error)
      return errno === undefined ? status : new StatusError(status.code, `${what}: failed (${errno})`, { cause: error })
    }
  }
}
