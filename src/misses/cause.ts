import type { Digest } from '../reapi/digest.js'
import type { RequestRecord } from '../rpc/request-records.js'
import type { Difference } from './action-difference.js'

/** Why an action had no result. `evictedMs`: when it or its output was evicted, if a store remembers. */
export type Cause =
  /** No earlier action like it is known. */
  | { readonly kind: 'never built'; readonly sinceMs: number | undefined }
  /** It had a result, which the action cache does not have any more. */
  | { readonly kind: 'evicted'; readonly last: RequestRecord; readonly evictedMs: number | undefined }
  /** It was requested before, and no result was written since. */
  | { readonly kind: 'never written'; readonly last: RequestRecord; readonly isUncacheable: boolean }
  /** Its result is there, an output of it is not. `path` is undefined if the result is not there any more. */
  | {
      readonly kind: 'output gone'
      readonly output: Digest | undefined
      readonly path: string | undefined
      readonly evictedMs: number | undefined
    }
  | { readonly kind: 'damaged' }
  | { readonly kind: 'forbidden' }
  /** An earlier action like it differs. At least one difference, the first cause first. */
  | {
      readonly kind: 'different'
      readonly earlier: RequestRecord
      readonly differences: readonly [Difference, ...Difference[]]
    }
  /** Earlier actions like it are known, but the Action itself or all of them are not in the CAS. */
  | { readonly kind: 'unknown'; readonly isActionThere: boolean }

export interface ExplainedMiss {
  readonly miss: RequestRecord
  readonly cause: Cause
  /** Where its outputs go, as far as the Action is known: relative to the input root. */
  readonly outputs: readonly string[]
}
