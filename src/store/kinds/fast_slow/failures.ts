import { Code, isStatus, StatusError } from '../../../base/status-error.js'
import type { SparingLog } from '../../../log/sparing-log.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import { isAway } from './slow-watch.js'

/** Undefined if slow is away; throws any other error. */
export const unlessAway = (error: unknown): undefined => {
  if (!isAway(error)) throw error
}

/** While slow is away, a blob that fast lacks is absent, so that clients build or upload it again. */
export const absentIfAway = ({ key }: Digest, error: unknown): never => {
  if (!isAway(error)) throw error
  throw new StatusError('NOT_FOUND', `blob ${key} is not in the fast store, and ${error.message}`)
}

/** Errors caused by the caller: it left or read past the end. */
export const isCallers = (error: unknown): boolean => isStatus(error, 'OUT_OF_RANGE') || isStatus(error, 'CANCELLED')

export const takenByNeither = ({ key }: Digest): StatusError =>
  new StatusError('PERMISSION_DENIED', `blob ${key} cannot be written: neither tier takes uploads`)

/** Whether a failure of fast, which fails no call, is worth a line. */
export const isNews = ({ code }: StatusError, { signal }: Call): boolean =>
  !signal.aborted && code !== Code.NOT_FOUND && code !== Code.CANCELLED

/** Logs why fast did not store a blob. The call does not fail. */
export const warnNotCached = (log: SparingLog, digest: Digest, error: StatusError, call: Call): void => {
  if (isNews(error, call)) log.warn('the fast store did not take a blob', { digest: digest.key, error })
}
