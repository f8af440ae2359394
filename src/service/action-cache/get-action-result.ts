import { LruCache } from '../../base/lru-cache.js'
import { isStatus } from '../../base/status-error.js'
import { codec, EncodedMessage } from '../../proto/codec.js'
import type { ActionResult, GetActionResultRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import { withoutOrigin } from '../../reapi/result-origin.js'
import type { RpcCall } from '../../rpc/rpc.js'
import { getBytes, type Store } from '../../store/contract/store.js'
import { openRequest, requestDigest } from '../request.js'
import { asksForOutputs, type InlineContext, type InlineHints, withOutputs } from './inline-outputs.js'
import type { ActionCacheOptions } from './options.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/**
 * Size of the cache of encoded answers, counted in bytes of the entries. The memory in use is a few times as much.
 */
const KNOWN_BYTES = 2 * 1024 * 1024
const OVERHEAD_BYTES = 400

interface KnownAnswer {
  readonly bytes: Buffer
  /** The answer to a request without inline hints. */
  readonly answer: EncodedMessage
}

/**
 * Every entry of `ac` is a hit, because `ac` contains only complete results. Answers without inlined outputs are
 * cached.
 */
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
    // A store that keeps entries in memory returns the same buffer until the entry changes.
    if (before?.bytes === bytes) return before.answer
    const answer = new EncodedMessage(onItsOwn(resultCodec.encode(await read())))
    known.set(key, { bytes, answer }, bytes.length + OVERHEAD_BYTES)
    return answer
  }
}

/** Copies the bytes out of the encoder's shared slab, because a cached slice would keep the whole slab in memory. */
const onItsOwn = (bytes: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
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
