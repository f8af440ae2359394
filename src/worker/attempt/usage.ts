import { pack } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import { durationOf } from '../../proto/time.js'
import type { ProgramUsage } from '../command/starter.js'

const usageCodec = codec('remexec.worker.v1.CommandUsage')

/** What a command took, as `ExecutedActionMetadata.auxiliary_metadata` tells it: nothing where the system does not. */
export const usageMetadata = (usage: ProgramUsage | undefined) => {
  if (usage === undefined) return []
  const { userMs, systemMs, peakResidentBytes } = usage
  return [pack(usageCodec, { userTime: durationOf(userMs), systemTime: durationOf(systemMs), peakResidentBytes })]
}
