import type { StatusError } from '../../base/status-error.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import type { AssetKind, AssetRecord } from './asset-record.js'
import type { Qualifiers } from './qualifiers.js'

/** A parsed request of Fetch. */
export interface Lookup {
  readonly kind: AssetKind
  readonly uris: readonly string[]
  readonly qualifiers: Qualifiers
  readonly digestFunction: DigestFunction
  readonly nowMs: number
  /** Older content is not accepted. */
  readonly oldestMs: number
}

/** `failed`: for reasons outside this server, which the API puts into the response. */
export type FetchOutcome =
  | { readonly kind: 'found'; readonly record: AssetRecord }
  | { readonly kind: 'failed'; readonly error: StatusError }
