import type { Clock } from '../../base/clock.js'
import type { DirectoryTrees } from '../../content/directory-trees.js'
import type { SparingLog } from '../../log/sparing-log.js'
import type { CasInstance, Instances } from '../instance.js'

export interface CasOptions {
  readonly instances: Instances<CasInstance>
  /** Maximum sum of blob sizes in one batch, as announced in the capabilities. */
  readonly maxBatchBytes: number
  /** Maximum size of a response message. */
  readonly maxResponseBytes: number
  /** Used only by GetTree. */
  readonly trees: DirectoryTrees
  readonly clock: Clock
  /** Blobs that a store fails to read or take: an outage fails all of them. */
  readonly faults: SparingLog
}

/** Of each kind of fault. */
export const FAULT_RATION = { lines: 1, periodMs: 60_000 } as const
