import { isStatus } from '../../base/status-error.js'
import { EncodedMessage } from '../../proto/codec.js'
import type { ActionResult, GetActionResultRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import { withoutEncodedOrigin } from '../../reapi/result-origin.js'
import type { RpcCall } from '../../rpc/rpc.js'
import { getBytes, type Store } from '../../store/contract/store.js'
import { openRequest, requestDigest } from '../request.js'
import { asksForOutputs, containsOutputs, type InlineContext, type InlineHints, withOutputs } from './inline-outputs.js'
import type { ActionCacheOptions } from './options.js'

/**
 * Every entry of `ac` is a hit, because `ac` contains only complete results. It was decoded there; here its bytes are
 * sent as they are stored, unless the client asks for outputs or the entry contains some.
 */
export const getActionResult =
  ({ instances, maxResponseBytes: maxBytes }: ActionCacheOptions) =>
  async (request: GetActionResultRequest, rpc: RpcCall): Promise<ActionResult | EncodedMessage> => {
    const { instance, call, functions } = openRequest(instances, request, rpc)
    const action = requestDigest(request.actionDigest, functions, 'action_digest')
    const lookup = { ac: instance.ac, cas: instance.cas, call, maxBytes }
    const stored = await entryOf(action, lookup)
    const seesOrigin = rpc.visitor?.maySeeOrigins(request.instanceName) ?? true
    const bytes = seesOrigin ? stored : withoutOrigin(stored)
    if (!asksForOutputs(request) && !containsOutputs(bytes)) return new EncodedMessage(bytes)
    return resultOf(bytes, action, request, lookup)
  }

const stripped = new WeakMap<Buffer, Buffer>()

/** A store with an entry in memory returns the same buffer each time, so it is stripped once. */
const withoutOrigin = (stored: Buffer): Buffer => {
  const before = stripped.get(stored)
  if (before !== undefined) return before
  const bytes = withoutEncodedOrigin(stored)
  stripped.set(stored, bytes)
  return bytes
}

interface Lookup extends InlineContext {
  readonly ac: Store
}

/** The result of an action. Inlines only the outputs that `hints` name. NOT_FOUND if there is no result. */
export const lookUp = async (action: Digest, hints: InlineHints, lookup: Lookup): Promise<ActionResult> =>
  resultOf(await entryOf(action, lookup), action, hints, lookup)

const entryOf = (action: Digest, { ac, maxBytes, call }: Lookup): Promise<Buffer> =>
  orNoResult(action, getBytes(ac, action, maxBytes, call))

const resultOf = (entry: Buffer, action: Digest, hints: InlineHints, context: InlineContext): Promise<ActionResult> =>
  orNoResult(action, withOutputs(entry, action.function, hints, context))

/** An entry without all its outputs is a miss, also if an output has just left the CAS. */
const orNoResult = async <T>(action: Digest, work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw error.withPrefix(`no result for action ${action.key}`)
    throw error
  }
}
