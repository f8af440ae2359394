import { StatusError } from '../base/status-error.js'
import { preconditionFailure } from '../proto/error-details.js'
import type { Action } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../proto/time.js'
import type { Digest } from './digest.js'

/**
 * Timeout of an action in milliseconds: the requested one, or `maxTimeoutMs` if it requests none (REAPI
 * Action.timeout). Throws INVALID_ARGUMENT for a longer or a negative one.
 */
export const actionTimeoutMs = (action: Pick<Action, 'timeout'>, maxTimeoutMs: number): number => {
  if (action.timeout === null) return maxTimeoutMs
  const askedMs = toMs(action.timeout)
  if (askedMs === 0) return maxTimeoutMs
  if (askedMs > 0 && askedMs <= maxTimeoutMs) return askedMs
  const expected = `expected at most ${maxTimeoutMs / 1000} s`
  throw new StatusError('INVALID_ARGUMENT', `Action.timeout: ${askedMs / 1000} s is not valid, ${expected}`)
}

/**
 * FAILED_PRECONDITION that tells a client which blobs to upload before a retry. It has one detail with one
 * violation of type MISSING for each blob (REAPI Execute). Pants rejects a second detail, and Bazel retries
 * only if all violations are MISSING.
 */
export const missingBlobs = (digests: readonly Digest[]): StatusError => {
  const violations = digests.map((digest) => ({ type: 'MISSING', subject: blobSubject(digest), description: '' }))
  const some = violations.slice(0, 3).map(({ subject }) => subject)
  if (digests.length > some.length) some.push('...')
  const message = `${digests.length} blobs the action needs are not in the CAS, upload them first: ${some.join(', ')}`
  return new StatusError('FAILED_PRECONDITION', message, { details: [preconditionFailure(violations)] })
}

/**
 * `blobs/{hash}/{size}` or `blobs/{function}/{hash}/{size}`, as REAPI requires for the function; without an
 * instance name.
 */
const blobSubject = ({ function: { segment }, hash, sizeBytes }: Digest): string =>
  segment === undefined ? `blobs/${hash}/${sizeBytes}` : `blobs/${segment}/${hash}/${sizeBytes}`
