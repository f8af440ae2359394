import type { Clock } from '../../base/clock.js'
import type { DirectoryTrees } from '../../store/content/directory-trees.js'
import type { CasInstance, Instances } from '../instance.js'

export interface CasOptions {
  readonly instances: Instances<CasInstance>
  /** What the capabilities announce: the sum of the sizes of one batch. */
  readonly maxBatchBytes: number
  /** No response message is larger than this. */
  readonly maxResponseBytes: number
  /** For GetTree alone. */
  readonly trees: DirectoryTrees
  readonly clock: Clock
}
