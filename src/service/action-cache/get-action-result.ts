import type { Call } from '../../base/call.js'
import { LruCache } from '../../base/lru-cache.js'
import type { RpcCall } from '../../base/rpc.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { codec, EncodedMessage } from '../../proto/codec.js'
import type { ActionResult, GetActionResultRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { type ReferencedBlobs, referencedBlobs } from '../../reapi/action-result.js'
import type { Digest } from '../../reapi/digest.js'
import { getBytes, type Store } from '../../store/store.js'
import { inInstance, instanceOf } from '../instance.js'
import { requestDigest } from '../request-digests.js'
import { firstMissing } from './completeness.js'
import { type InlineContext, type InlineHints, inlineOutputs } from './inline-outputs.js'
import type { ActionCacheOptions } from './options.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** A hit is a result whose every output is in the CAS; anything less is NOT_FOUND, so that the client builds again. */
export const getActionResult =
  (options: ActionCacheOptions) =>
  async (request: GetActionResultRequest, rpc: RpcCall): Promise<ActionResult> => {
    const found = await findResult(options, request, rpc)
    return withOutputs(found, request)
  }

/** The same for the wire: a result that is asked for again and again is decoded and encoded once. */
export const answerActionResult = (options: ActionCacheOptions) => {
  const known: KnownResults = new LruCache<StoredResult>(KNOWN_BYTES)
  return async (request: GetActionResultRequest, rpc: RpcCall): Promise<ActionResult | EncodedMessage> => {
    const found = await findResult(options, request, rpc, known)
    if (asksForOutputs(request)) return withOutputs(found, request)
    found.stored.answer ??= new EncodedMessage(resultCodec.encode(await withOutputs(found, request)))
    return found.stored.answer
  }
}

const asksForOutputs = ({ inlineStdout, inlineStderr, inlineOutputFiles }: GetActionResultRequest): boolean =>
  inlineStdout || inlineStderr || inlineOutputFiles.length > 0

interface Found {
  readonly stored: StoredResult
  /** Decoded, when that had to be done to find out about it. */
  readonly result: ActionResult | undefined
  readonly action: Digest
  readonly context: InlineContext
}

const findResult = async (
  { instances, maxResponseBytes: maxBytes, trees }: ActionCacheOptions,
  request: GetActionResultRequest,
  rpc: RpcCall,
  known?: KnownResults,
): Promise<Found> => {
  const { ac, cas, digestFunctions } = instanceOf(instances, request.instanceName)
  const functions = { value: request.digestFunction, served: digestFunctions }
  const action = requestDigest(request.actionDigest, functions, 'action_digest')
  const call = inInstance(rpc, request.instanceName)
  const bytes = await readEntry(ac, action, call, maxBytes)
  const before = known?.get(action.key)
  // A store that keeps entries in memory gives the very same buffer until the entry changes.
  const { stored, result } =
    before?.bytes === bytes ? { stored: before, result: undefined } : await parse(bytes, ac, action, call)
  if (result !== undefined) known?.set(action.key, stored, bytes.length + OVERHEAD_BYTES)
  if (cas !== undefined) {
    const missing = await firstMissing(stored.referenced, { cas, trees, call })
    if (missing !== undefined) throw noResult(action, `output ${missing.key} is no longer in the CAS`)
  }
  const context = { cas, digestFunction: action.function, call, maxBytes, resultBytes: bytes.length }
  return { stored, result, action, context }
}

/** The result in a form of its own, with the outputs that are asked for and without the others. */
const withOutputs = async (
  { stored: { bytes }, result = resultCodec.decode(bytes), action, context }: Found,
  hints: InlineHints,
): Promise<ActionResult> => {
  try {
    await inlineOutputs(result, hints, context)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw noResult(action, 'an output has just left the CAS')
    throw error
  }
  return result
}

interface StoredResult {
  readonly bytes: Buffer
  readonly referenced: ReferencedBlobs
  /** What is sent when no output is asked for, made when first needed. */
  answer?: EncodedMessage
}

type KnownResults = LruCache<StoredResult>

/** Entries of the action cache that were asked for lately, by their length; what is kept of them is some times that. */
const KNOWN_BYTES = 2 * 1024 * 1024
const OVERHEAD_BYTES = 400

const parse = async (
  bytes: Buffer,
  ac: Store,
  action: Digest,
  call: Call,
): Promise<Pick<Found, 'stored' | 'result'>> => {
  try {
    const result = resultCodec.decode(bytes)
    return { stored: { bytes, referenced: referencedBlobs(result, action.function) }, result }
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
    return await getBytes(ac, action, maxBytes, call)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw noResult(action, 'there is no entry')
    throw error
  }
}

const noResult = (action: Digest, reason: string): StatusError =>
  new StatusError('NOT_FOUND', `no result for action ${action.key}: ${reason}`)
