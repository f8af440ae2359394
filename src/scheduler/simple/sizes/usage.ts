import { holds, unpack } from '../../../proto/any.js'
import { codec } from '../../../proto/codec.js'
import type { ExecuteResponse } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../../../proto/time.js'

const usageCodec = codec('remexec.worker.v1.CommandUsage')

/** What a run of an action took, as its worker says. */
export interface RunUsage {
  /** 0 if it is unknown. */
  readonly peakBytes: number
  /** Processors that it kept busy on average; undefined if it ran too shortly to say. */
  readonly cpus: number | undefined
  /** The kernel ended it at this limit of memory. */
  readonly endedAtBytes: number | undefined
}

/** Below it, the start of processes is most of what is measured. */
const SHORTEST_MS = 1_000

/** Undefined if the worker says nothing. */
export const usageOf = ({ result }: ExecuteResponse): RunUsage | undefined => {
  const metadata = result?.executionMetadata
  const packed = metadata?.auxiliaryMetadata.find((any) => holds(any, usageCodec))
  if (metadata === undefined || metadata === null || packed === undefined) return undefined
  const { userTime, systemTime, ...memory } = unpack(usageCodec, packed)
  const { executionStartTimestamp: start, executionCompletedTimestamp: end } = metadata
  const runMs = start === null || end === null ? 0 : toMs(end) - toMs(start)
  const busyMs = (userTime === null ? 0 : toMs(userTime)) + (systemTime === null ? 0 : toMs(systemTime))
  return {
    peakBytes: memory.memoryPeakBytes || memory.peakResidentBytes,
    cpus: runMs >= SHORTEST_MS ? busyMs / runMs : undefined,
    endedAtBytes: memory.memoryExceeded && memory.memoryLimitBytes > 0 ? memory.memoryLimitBytes : undefined,
  }
}
