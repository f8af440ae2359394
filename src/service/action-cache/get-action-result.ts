import { LruCache } from '../../base/lru-cache.js'
import type { RpcCall } from '../../base/rpc.js'
import { isStatus } from '../../base/status-error.js'
import { codec, EncodedMessage } from '../../proto/codec.js'
import type { ActionResult, GetActionResultRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import { getBytes } from '../../store/store.js'
import { inInstance, instanceOf } from '../instance.js'
import { requestDigest } from '../request-digests.js'
import { type InlineContext, type InlineHints, inlineOutputs } from './inline-outputs.js'
import type { ActionCacheOptions } from './options.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** A hit is what the action cache has; it has only what is complete. */
export const getActionResult =
  (options: ActionCacheOptions) =>
  async (request: GetActionResultRequest, rpc: RpcCall): Promise<ActionResult> => {
    const found = await findResult(options, request, rpc)
    return withOutputs(found, request)
  }

/** The same for the wire: a result that is asked for again and again is decoded and encoded once. */
export const answerActionResult = (options: ActionCacheOptions) => {
  const known = new LruCache<KnownAnswer>(KNOWN_BYTES)
  return async (request: GetActionResultRequest, rpc: RpcCall): Promise<ActionResult | EncodedMessage> => {
    const found = await findResult(options, request, rpc)
    if (asksForOutputs(request)) return withOutputs(found, request)
    const { bytes, action } = found
    const before = known.get(action.key)
    // A store that keeps entries in memory gives the very same buffer until the entry changes.
    if (before?.bytes === bytes) return before.answer
    const answer = new EncodedMessage(resultCodec.encode(await withOutputs(found, request)))
    known.set(action.key, { bytes, answer }, bytes.length + OVERHEAD_BYTES)
    return answer
  }
}

const asksForOutputs = ({ inlineStdout, inlineStderr, inlineOutputFiles }: GetActionResultRequest): boolean =>
  inlineStdout || inlineStderr || inlineOutputFiles.length > 0

interface KnownAnswer {
  readonly bytes: Buffer
  /** What is sent when no output is asked for. */
  readonly answer: EncodedMessage
}

/** Entries of the action cache that were asked for lately, by their length; what is kept of them is some times that. */
const KNOWN_BYTES = 2 * 1024 * 1024
const OVERHEAD_BYTES = 400

interface Found {
  readonly bytes: Buffer
  readonly action: Digest
  readonly context: InlineContext
}

const findResult = async (
  { instances, maxResponseBytes: maxBytes }: ActionCacheOptions,
  request: GetActionResultRequest,
  rpc: RpcCall,
): Promise<Found> => {
  const { ac, cas, digestFunctions } = instanceOf(instances, request.instanceName)
  const functions = { value: request.digestFunction, served: digestFunctions }
  const action = requestDigest(request.actionDigest, functions, 'action_digest')
  const call = inInstance(rpc, request.instanceName)
  const bytes = await orNoResult(action, getBytes(ac, action, maxBytes, call))
  const context = { cas, digestFunction: action.function, call, maxBytes, resultBytes: bytes.length }
  return { bytes, action, context }
}

/** The result in a form of its own, with the outputs that are asked for and without the others. */
const withOutputs = async ({ bytes, action, context }: Found, hints: InlineHints): Promise<ActionResult> => {
  const result = resultCodec.decode(bytes)
  await orNoResult(action, inlineOutputs(result, hints, context))
  return result
}

/** What is absent, be it an output that has just left the CAS, makes the entry none. */
const orNoResult = async <T>(action: Digest, work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw error.withPrefix(`no result for action ${action.key}`)
    throw error
  }
}
