import { pack } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import { durationOf } from '../../proto/time.js'
import type { CommandExit } from '../command/run-command.js'
import type { UsedImage } from '../image/images.js'
import type { ServingProcess } from './finished.js'

const usageCodec = codec('remexec.worker.v1.CommandUsage')

const imageCodec = codec('remexec.worker.v1.ContainerImage')

/** The image that a command ran in, for the same field; empty if it ran on the worker's own system. */
export const imageMetadata = (image: UsedImage | undefined) => {
  if (image === undefined) return []
  const { asked, digest, isByTag } = image
  const warning = isByTag ? 'named by a tag, which may stand for another image later' : ''
  return [pack(imageCodec, { asked, digest, warning })]
}

const processCodec = codec('remexec.worker.v1.PersistentWorker')

/** The persistent worker that a command was a request of, for the same field; empty if it had a process of its own. */
export const processMetadata = (process: ServingProcess | undefined) =>
  process === undefined ? [] : [pack(processCodec, { process: process.id, request: process.request })]

/**
 * Resource usage of a command for `ExecutedActionMetadata.auxiliary_metadata`; empty if the system does not report it.
 */
export const usageMetadata = ({ usage, memory }: CommandExit) => {
  if (usage === undefined && memory === undefined) return []
  const { userMs = 0, systemMs = 0, peakResidentBytes } = usage ?? {}
  const ofGroup = {
    memoryPeakBytes: memory?.peakBytes,
    memoryLimitBytes: memory?.limitBytes,
    memoryExceeded: memory?.isExceeded,
  }
  return [
    pack(usageCodec, {
      ...{ userTime: durationOf(userMs), systemTime: durationOf(systemMs) },
      ...{ peakResidentBytes, ...ofGroup },
    }),
  ]
}
