import { isStatus, StatusError } from '../../../base/status-error.js'
import type { ExecuteResponse } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import { checkOutputs, reachesUp, referencedBlobs } from '../../../reapi/action-result.js'
import type { ExecutionRequest } from '../../request.js'

/** Why a reported result is invalid for this action: malformed digests, or outputs outside the input root. */
export const resultFault = (
  { result }: ExecuteResponse,
  { actionDigest, workingDirectory }: ExecutionRequest,
): StatusError | undefined => {
  if (result === null) return undefined
  try {
    referencedBlobs(result, actionDigest.function)
    // Without the working directory the depth of an output path with `..` cannot be checked.
    if (workingDirectory !== undefined || !reachesUp(result)) checkOutputs(result, workingDirectory ?? '')
    return undefined
  } catch (error) {
    if (!isStatus(error, 'INVALID_ARGUMENT')) throw error
    return new StatusError('INTERNAL', `the worker reported an invalid result: ${StatusError.from(error).message}`)
  }
}
