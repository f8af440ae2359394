import type { Clock } from '../../base/clock.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import type { Call } from '../../rpc/call.js'
import type { Scope } from '../../rpc/scope.js'
import type { Instances } from '../instance.js'
import type { AssetRecord } from './asset-record.js'
import type { Downloads } from './downloads.js'
import type { AssetRecords } from './records.js'

export interface FetchInstance {
  readonly digestFunctions: readonly DigestFunction[]
  /** Where assets are looked up for a caller, in this order. */
  readonly recordsFor: (scope: Scope | undefined) => readonly AssetRecords[]
  /** Whether clients can push assets to the instance, so that any qualifier may be that of one. */
  readonly acceptsPushes: boolean
  /** Absent if the instance only knows what was pushed. */
  readonly downloads: Downloads | undefined
}

export interface PushInstance {
  readonly digestFunctions: readonly DigestFunction[]
  /** Where a caller pushes. */
  readonly recordsFor: (scope: Scope | undefined) => AssetRecords
  /** The first blob of a record that is not in the CAS; always undefined for an instance without one. */
  readonly firstMissing: (record: AssetRecord, call: Call) => Promise<Digest | undefined>
  readonly isReadOnly: boolean
}

export interface FetchOptions {
  readonly instances: Instances<FetchInstance>
  readonly clock: Clock
}

export interface PushOptions {
  readonly instances: Instances<PushInstance>
  readonly clock: Clock
}
