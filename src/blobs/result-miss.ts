import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'

/**
 * Why an entry of an action cache is no hit. `incomplete`: a blob that the result refers to is not in the CAS.
 * `damaged`: the entry is not an ActionResult, or a tree that it names cannot be decoded.
 */
export type MissReason = { readonly kind: 'incomplete'; readonly output: Digest } | { readonly kind: 'damaged' }

/** NOT_FOUND for an entry that exists, with the reason why it is no hit. */
export class ResultMiss extends StatusError {
  readonly reason: MissReason

  constructor(reason: MissReason, message: string) {
    super('NOT_FOUND', message)
    this.reason = reason
  }
}

/** The reason in an error of an action cache, also behind prefixes; undefined if there was no entry. */
export const missReasonOf = (error: unknown): MissReason | undefined => {
  for (let cause = error; cause instanceof StatusError; cause = cause.cause)
    if (cause instanceof ResultMiss) return cause.reason
  return undefined
}
