import { StatusError } from '../../base/status-error.js'
import { holds, unpack } from '../../proto/any.js'
import { codec, type Output } from '../../proto/codec.js'
import { errorOf } from '../../proto/error-details.js'
import { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import type { OperationState, Outcome } from '../scheduler.js'
import { digestOf, stageOf } from '../told.js'

export type Operation = Output<'google.longrunning.Operation'>

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
  const told = known?.actionDigest == null ? undefined : digestOf(known)
  const outcome = operation.done ? outcomeOf(operation) : undefined
  // Complete only with `done`: until then COMPLETED and unknown stages are shown as EXECUTING.
  const stage = outcome === undefined ? (stageOf(known?.stage ?? 0) ?? 'EXECUTING') : 'COMPLETED'
  return { name, instanceName, actionDigest: action ?? told ?? NO_ACTION, stage, outcome }
}

const outcomeOf = ({ error, response }: Operation): Outcome => {
  if (error !== null) return { error: errorOf(error) }
  if (response !== null && holds(response, responseCodec)) return { response: unpack(responseCodec, response) }
  return { error: new StatusError('INTERNAL', 'the server ended the operation without a response') }
}

const NO_ACTION = Digest.of(Buffer.alloc(0), digestFunctions.SHA256)
