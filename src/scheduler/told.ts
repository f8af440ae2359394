import { ExecutionStage } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest, type DigestMessage, resolveDigestFunction } from '../reapi/digest.js'
import { digestFunctions } from '../reapi/digest-function.js'
import type { Stage } from './request.js'

const STAGES: ReadonlyMap<number, Stage> = new Map([
  [ExecutionStage.CACHE_CHECK, 'CACHE_CHECK'],
  [ExecutionStage.QUEUED, 'QUEUED'],
  [ExecutionStage.EXECUTING, 'EXECUTING'],
])

/** The stage of an unfinished operation that another server tells of; undefined for COMPLETED and unknown ones. */
export const stageOf = (stage: number): Stage | undefined => STAGES.get(stage)

const FUNCTIONS = Object.values(digestFunctions)

/** The action of such an operation. Throws INVALID_ARGUMENT if it is no digest. */
export const digestOf = (told: {
  readonly actionDigest: DigestMessage | null
  readonly digestFunction: number
}): Digest => {
  const digestFunction = resolveDigestFunction(told.digestFunction, told.actionDigest?.hash, FUNCTIONS)
  return Digest.parse(told.actionDigest, digestFunction, 'action_digest')
}
