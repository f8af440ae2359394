import { StatusError } from '../../base/status-error.js'
import { holds, unpack } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import { errorOf } from '../../proto/error-details.js'
import { ExecutionStage } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest, resolveDigestFunction } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import type { OperationState, Outcome, Stage } from '../scheduler.js'
import type { Operation } from './remote-execution.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')
const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')

/**
 * Converts the state of a remote operation. `action` is used first, because some servers report no action
 * digest.
 */
export const stateOf = (
  operation: Operation,
  { name, instanceName, action }: { readonly name: string; readonly instanceName: string; readonly action?: Digest },
): OperationState => {
  const { metadata } = operation
  const known = metadata !== null && holds(metadata, metadataCodec) ? unpack(metadataCodec, metadata) : undefined
  const outcome = operation.done ? outcomeOf(operation) : undefined
  const stage = outcome === undefined ? stageOf(known?.stage) : 'COMPLETED'
  return { name, instanceName, actionDigest: action ?? digestOf(known) ?? NO_ACTION, stage, outcome }
}

const STAGES: ReadonlyMap<number, Stage> = new Map([
  [ExecutionStage.CACHE_CHECK, 'CACHE_CHECK'],
  [ExecutionStage.QUEUED, 'QUEUED'],
  [ExecutionStage.EXECUTING, 'EXECUTING'],
])

/**
 * A remote operation is complete only with `done`. Until then COMPLETED and unknown stages are shown as
 * EXECUTING.
 */
const stageOf = (stage: number | undefined): Stage => STAGES.get(stage ?? 0) ?? 'EXECUTING'

const outcomeOf = ({ error, response }: Operation): Outcome => {
  if (error !== null) return { error: errorOf(error) }
  if (response !== null && holds(response, responseCodec)) return { response: unpack(responseCodec, response) }
  return { error: new StatusError('INTERNAL', 'the server ended the operation without a response') }
}

const NO_ACTION = Digest.of(Buffer.alloc(0), digestFunctions.SHA256)

const digestOf = (known: ReturnType<typeof metadataCodec.decode> | undefined): Digest | undefined => {
  if (known === undefined || known.actionDigest === null) return undefined
  const { actionDigest, digestFunction } = known
  const functions = Object.values(digestFunctions)
  return Digest.parse(
    actionDigest,
    resolveDigestFunction(digestFunction, actionDigest.hash, functions),
    'action_digest',
  )
}
