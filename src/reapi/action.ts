import { StatusError } from '../base/status-error.js'
import { preconditionFailure } from '../proto/error-details.js'
import type { Action } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../proto/time.js'
import type { Digest } from './digest.js'

/**
 * How long an action may run, in milliseconds: what it asks for, or `maxTimeoutMs` when it names no timeout (REAPI
 * Action.timeout). INVALID_ARGUMENT when it asks for more, or for less than nothing.
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
 * The FAILED_PRECONDITION by which a client learns what to upload before it asks again: one detail, with one violation
 * of type MISSING for each blob (REAPI Execute; Pants refuses a second detail, Bazel retries only if all are MISSING).
 */
export const missingBlobs = (digests: readonly Digest[]): StatusError => {
  const violations = digests.map((digest) => ({ type: 'MISSING', subject: blobSubject(digest), description: '' }))
  const some = violations.slice(0, 3).map(({ subject }) => subject)
  if (digests.length > some.length) some.push('...')
  const message = `${digests.length} blobs the action needs are not in the CAS, upload them first: ${some.join(', ')}`
  return new StatusError('FAILED_PRECONDITION', message, { details: [preconditionFailure(violations)] })
}

/** `blobs/{hash}/{size}`, with the function in between where the protocol wants it; without an instance name. */
const blobSubject = ({ function: { segment }, hash, sizeBytes }: Digest): string =>
  segment === undefined ? `blobs/${hash}/${sizeBytes}` : `blobs/${segment}/${hash}/${sizeBytes}`
