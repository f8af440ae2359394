import { LruCache } from '../../base/lru-cache.js'
import type { RpcCall } from '../../base/rpc.js'
import { isStatus } from '../../base/status-error.js'
import { codec, EncodedMessage } from '../../proto/codec.js'
import type { ActionResult, GetActionResultRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import { withoutOrigin } from '../../reapi/result-origin.js'
import { getBytes, type Store } from '../../store/store.js'
import { openRequest, requestDigest } from '../request.js'
import { asksForOutputs, type InlineContext, type InlineHints, withOutputs } from './inline-outputs.js'
import type { ActionCacheOptions } from './options.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** Entries of the action cache that were asked for lately, by their length; what is kept of them is some times that. */
const KNOWN_BYTES = 2 * 1024 * 1024
const OVERHEAD_BYTES = 400

interface KnownAnswer {
  readonly bytes: Buffer
  /** What is sent when no output is asked for. */
  readonly answer: EncodedMessage
}

/** A hit is what the action cache has; it has only what is complete. What is asked for often is encoded once. */
export const getActionResult = ({ instances, maxResponseBytes: maxBytes }: ActionCacheOptions) => {
  const known = new LruCache<KnownAnswer>(KNOWN_BYTES)
  return async (request: GetActionResultRequest, rpc: RpcCall): Promise<ActionResult | EncodedMessage> => {
    const { instance, call, functions } = openRequest(instances, request, rpc)
    const action = requestDigest(request.actionDigest, functions, 'action_digest')
    const lookup = { ac: instance.ac, cas: instance.cas, call, maxBytes }
    const bytes = await entryOf(action, lookup)
    const seesOrigin = rpc.visitor?.maySeeOrigins(request.instanceName) ?? true
    const read = async (): Promise<ActionResult> => {
      const result = await resultOf(bytes, action, request, lookup)
      return seesOrigin ? result : withoutOrigin(result)
    }
    if (asksForOutputs(request)) return read()
    const key = seesOrigin ? action.key : `${action.key} of nobody`
    const before = known.get(key)
    // A store that keeps entries in memory gives the very same buffer until the entry changes.
    if (before?.bytes === bytes) return before.answer
    const answer = new EncodedMessage(onItsOwn(resultCodec.encode(await read())))
    known.set(key, { bytes, answer }, bytes.length + OVERHEAD_BYTES)
    return answer
  }
}

/** What is encoded lies in a slab with much else, all of which it would keep. */
const onItsOwn = (bytes: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

interface Lookup extends InlineContext {
  readonly ac: Store
}

/** The result of an action, with the outputs that are asked for and without the others. NOT_FOUND when there is none. */
export const lookUp = async (action: Digest, hints: InlineHints, lookup: Lookup): Promise<ActionResult> =>
  resultOf(await entryOf(action, lookup), action, hints, lookup)

const entryOf = (action: Digest, { ac, maxBytes, call }: Lookup): Promise<Buffer> =>
  orNoResult(action, getBytes(ac, action, maxBytes, call))

const resultOf = (entry: Buffer, action: Digest, hints: InlineHints, context: InlineContext): Promise<ActionResult> =>
  orNoResult(action, withOutputs(entry, action.function, hints, context))

/** What is absent, be it an output that has just left the CAS, makes the entry none. */
const orNoResult = async <T>(action: Digest, work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw error.withPrefix(`no result for action ${action.key}`)
    throw error
  }
}
