import type { Call } from '../../base/call.js'
import type { RpcCall } from '../../base/rpc.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import type { ActionResult, GetActionResultRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { type ReferencedBlobs, referencedBlobs } from '../../reapi/action-result.js'
import type { Digest } from '../../reapi/digest.js'
import { readBytes, type Store } from '../../store/store.js'
import { inInstance, instanceOf } from '../instance.js'
import { requestDigest } from '../request-digests.js'
import { firstMissing } from './completeness.js'
import { inlineOutputs } from './inline-outputs.js'
import type { ActionCacheOptions } from './options.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** A hit is a result whose every output is in the CAS; anything less is NOT_FOUND, so that the client builds again. */
export const getActionResult =
  ({ instances, maxResponseBytes }: ActionCacheOptions) =>
  async (request: GetActionResultRequest, rpc: RpcCall): Promise<ActionResult> => {
    const { ac, cas, digestFunctions } = instanceOf(instances, request.instanceName)
    const functions = { value: request.digestFunction, served: digestFunctions }
    const action = requestDigest(request.actionDigest, functions, 'action_digest')
    const call = inInstance(rpc, request.instanceName)
    const { result, referenced, sizeBytes } = await readResult(ac, action, call, maxResponseBytes)
    if (cas !== undefined) {
      const missing = await firstMissing(referenced, cas, call)
      if (missing !== undefined) throw noResult(action, `output ${missing.key} is no longer in the CAS`)
    }
    const context = { cas, digestFunction: action.function, call, maxBytes: maxResponseBytes, resultBytes: sizeBytes }
    try {
      await inlineOutputs(result, request, context)
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) throw noResult(action, 'an output has just left the CAS')
      throw error
    }
    return result
  }

interface StoredResult {
  readonly result: ActionResult
  readonly referenced: ReferencedBlobs
  readonly sizeBytes: number
}

const readResult = async (ac: Store, action: Digest, call: Call, maxBytes: number): Promise<StoredResult> => {
  const bytes = await readEntry(ac, action, call, maxBytes)
  try {
    const result = resultCodec.decode(bytes)
    return { result, referenced: referencedBlobs(result, action.function), sizeBytes: bytes.length }
  } catch (error) {
    if (!isStatus(error, 'INVALID_ARGUMENT')) throw error
    // Nobody can use it, and as long as it is there nobody gets to replace it by asking.
    call.log.warn('dropped an action cache entry that is no ActionResult', { action: action.key, error })
    await ac.remove(action, call)
    throw noResult(action, 'the entry was damaged')
  }
}

const readEntry = async (ac: Store, action: Digest, call: Call, maxBytes: number): Promise<Buffer> => {
  try {
    return await readBytes(ac, action, maxBytes, call)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw noResult(action, 'there is no entry')
    throw error
  }
}

const noResult = (action: Digest, reason: string): StatusError =>
  new StatusError('NOT_FOUND', `no result for action ${action.key}: ${reason}`)
