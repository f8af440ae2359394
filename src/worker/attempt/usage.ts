import { pack } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import { durationOf } from '../../proto/time.js'
import type { ProgramUsage } from '../command/starter.js'

const usageCodec = codec('remexec.worker.v1.CommandUsage')

/**
 * Resource usage of a command for `ExecutedActionMetadata.auxiliary_metadata`; empty if the system does not report it.
 */
export const usageMetadata = (usage: ProgramUsage | undefined) => {
  if (usage === undefined) return []
  const { userMs, systemMs, peakResidentBytes } = usage
  return [pack(usageCodec, { userTime: durationOf(userMs), systemTime: durationOf(systemMs), peakResidentBytes })]
}
