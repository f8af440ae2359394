import type { RpcCall } from '../../base/rpc.js'
import { StatusError } from '../../base/status-error.js'
import type {
  FindMissingBlobsRequest,
  FindMissingBlobsResponseInput,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { inInstance, instanceOf } from '../instance.js'
import { requestDigests } from '../request-digests.js'
import type { CasOptions } from './options.js'

/** Absence is data, never an error. What is present counts as used, which is how clients extend its life. */
export const findMissingBlobs =
  ({ instances, maxResponseBytes }: CasOptions) =>
  async (request: FindMissingBlobsRequest, call: RpcCall): Promise<FindMissingBlobsResponseInput> => {
    const { cas, digestFunctions } = instanceOf(instances, request.instanceName)
    const functions = { value: request.digestFunction, served: digestFunctions }
    const asked = requestDigests(request.blobDigests, functions, 'blob_digests')
    if (asked.length === 0) return {}
    const missing = await cas.findMissing(asked, inInstance(call, request.instanceName))
    const answerBytes = missing.reduce((bytes, { hash }) => bytes + hash.length + DIGEST_OVERHEAD_BYTES, 0)
    if (answerBytes <= maxResponseBytes) return { missingBlobDigests: missing }
    throw new StatusError(
      'INVALID_ARGUMENT',
      `${asked.length} digests are too many for one request: the answer would exceed ${maxResponseBytes} bytes`,
    )
  }

// Tags and lengths of the digest and its fields, and the longest size.
const DIGEST_OVERHEAD_BYTES = 14
