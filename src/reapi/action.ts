import { counted } from '../base/quantities.js'
import { type ErrorDetail, StatusError } from '../base/status-error.js'
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
  const missing = new MissingBlobs()
  missing.add(digests)
  return missing.error()
}

/** The error of `missingBlobs`, made of several parts. */
export class MissingBlobs {
  readonly #some: string[] = []
  readonly #details: ErrorDetail[] = []
  #count = 0

  add(digests: readonly Digest[]): void {
    const violations = digests.map((digest) => ({ type: 'MISSING', subject: blobSubject(digest), description: '' }))
    const someMore = violations.slice(0, MAX_NAMED - this.#some.length)
    this.#some.push(...someMore.map(({ subject }) => subject))
    this.#count += digests.length
    this.#details.push(preconditionFailure(violations))
  }

  error(): StatusError {
    const some = [...this.#some, ...(this.#count > MAX_NAMED ? ['...'] : [])].join(', ')
    const message = `the CAS lacks ${counted(this.#count, 'blob')} that the action needs, upload first: ${some}`
    return new StatusError('FAILED_PRECONDITION', message, { details: [joined(this.#details)] })
  }
}

/** Blobs that the message names. The detail names all. */
const MAX_NAMED = 3

/** One detail: encoded messages in a row are one message with the lists of all. */
const joined = (details: readonly ErrorDetail[]): ErrorDetail => {
  const [first = preconditionFailure([])] = details
  return { typeUrl: first.typeUrl, value: Buffer.concat(details.map(({ value }) => value)) }
}

/**
 * `blobs/{hash}/{size}` or `blobs/{function}/{hash}/{size}`, as REAPI requires for the function; without an
 * instance name.
 */
const blobSubject = ({ function: { segment }, hash, sizeBytes }: Digest): string =>
  segment === undefined ? `blobs/${hash}/${sizeBytes}` : `blobs/${segment}/${hash}/${sizeBytes}`
