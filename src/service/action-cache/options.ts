import type { Store } from '../../blobs/store.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import type { CallerResults } from '../../store/scoped/result-cache.js'
import type { Instances } from '../instance.js'

export interface AcInstance {
  /** Encoded ActionResults by action digest. Contains only results whose outputs are all in `cas`. */
  readonly results: CallerResults
  /** The CAS (`asCas`) that results refer to. Undefined if the instance has none: outputs are then not checked. */
  readonly cas: Store | undefined
  readonly digestFunctions: readonly DigestFunction[]
  /** Whether updates by clients are refused. */
  readonly isReadOnly: boolean
}

export interface ActionCacheOptions {
  readonly instances: Instances<AcInstance>
  /** Maximum size of a result, inlined outputs included. */
  readonly maxResponseBytes: number
}
