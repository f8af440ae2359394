import { pack } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import { durationOf } from '../../proto/time.js'
import type { ProgramUsage } from '../command/starter.js'
import type { UsedImage } from '../image/images.js'

const usageCodec = codec('remexec.worker.v1.CommandUsage')

const imageCodec = codec('remexec.worker.v1.ContainerImage')

/** The image that a command ran in, for the same field; empty if it ran on the worker's own system. */
export const imageMetadata = (image: UsedImage | undefined) => {
  if (image === undefined) return []
  const { asked, digest, isByTag } = image
  const warning = isByTag ? 'named by a tag, which may stand for another image later' : ''
  return [pack(imageCodec, { asked, digest, warning })]
}

/**
 * Resource usage of a command for `ExecutedActionMetadata.auxiliary_metadata`; empty if the system does not report it.
 */
export const usageMetadata = (usage: ProgramUsage | undefined) => {
  if (usage === undefined) return []
  const { userMs, systemMs, peakResidentBytes } = usage
  return [pack(usageCodec, { userTime: durationOf(userMs), systemTime: durationOf(systemMs), peakResidentBytes })]
}
