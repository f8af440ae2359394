import { isStatus, StatusError } from '../../../base/status-error.js'
import type { ExecuteResponse } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import { checkOutputs, reachesUp, referencedBlobs } from '../../../reapi/action-result.js'
import type { ExecutionRequest } from '../../request.js'

/** Why what a worker reported can be no result of this action: digests that are none, outputs outside its input root. */
export const resultFault = (
  { result }: ExecuteResponse,
  { actionDigest, workingDirectory }: ExecutionRequest,
): StatusError | undefined => {
  if (result === null) return undefined
  try {
    referencedBlobs(result, actionDigest.function)
    // Where nobody told the working directory, nobody can tell how far up an output may be.
    if (workingDirectory !== undefined || !reachesUp(result)) checkOutputs(result, workingDirectory ?? '')
    return undefined
  } catch (error) {
    if (!isStatus(error, 'INVALID_ARGUMENT')) throw error
    return new StatusError('INTERNAL', `the worker reported a result that is none: ${StatusError.from(error).message}`)
  }
}
