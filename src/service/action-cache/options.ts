import type { DigestFunction } from '../../reapi/digest-function.js'
import type { Store } from '../../store/store.js'
import type { Instances } from '../instance.js'

export interface AcInstance {
  /** Keeps encoded ActionResults under action digests, and has those whose outputs are all in `cas`. */
  readonly ac: Store
  /** The CAS (`asCas`) that results refer to; undefined where the instance has none: then nobody can check them. */
  readonly cas: Store | undefined
  readonly digestFunctions: readonly DigestFunction[]
  /** Whether clients may not update. */
  readonly isReadOnly: boolean
}

export interface ActionCacheOptions {
  readonly instances: Instances<AcInstance>
  /** No result is larger than this, inlined outputs included. */
  readonly maxResponseBytes: number
}
