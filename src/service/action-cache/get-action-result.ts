import { EncodedMessage } from '../../proto/codec.js'
import type { ActionResult, GetActionResultRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { withoutEncodedOrigin } from '../../reapi/result-origin.js'
import type { RpcCall, ServedCall } from '../../rpc/rpc.js'
import { openRequest, requestDigest } from '../request.js'
import { asksForOutputs, containsOutputs } from './inline-outputs.js'
import { hitOf, type Lookup, lookUpEntry, resultOf } from './lookup.js'
import type { ActionCacheOptions } from './options.js'

/**
 * Every entry of `ac` is a hit, because `ac` contains only complete results. It was decoded there; here its bytes are
 * sent as they are stored, unless the client asks for outputs or the entry contains some.
 */
export const getActionResult =
  ({ instances, maxResponseBytes: maxBytes }: ActionCacheOptions) =>
  async (request: GetActionResultRequest, rpc: NotedCall): Promise<ActionResult | EncodedMessage> => {
    const { instance, call, functions } = openRequest(instances, request, rpc)
    const action = requestDigest(request.actionDigest, functions, 'action_digest')
    const ac = instance.results.of(rpc.visitor?.scopeIn(request.instanceName))
    const context = { ac, cas: instance.cas, call, maxBytes }
    const entry = noted(await lookUpEntry(action, context), rpc)
    record(action.key, entry, rpc)
    const stored = hitOf(entry)
    const seesOrigin = rpc.visitor?.maySeeOrigins(request.instanceName) ?? true
    const bytes = seesOrigin ? stored : withoutOrigin(stored)
    if (!asksForOutputs(request) && !containsOutputs(bytes)) return new EncodedMessage(bytes)
    return hitOf(noted(await resultOf(bytes, action, request, context), rpc))
  }

type NotedCall = RpcCall & Pick<ServedCall, 'note' | 'record'>

const record = (action: string, entry: Lookup<Buffer>, rpc: NotedCall): void => {
  if (entry.kind === 'hit') rpc.record?.({ action, outcome: 'hit', sizeBytes: entry.found.length })
  else if (entry.kind === 'incomplete')
    rpc.record?.({ action, outcome: 'miss', reason: entry.kind, output: entry.output.key })
  else rpc.record?.({ action, outcome: 'miss', reason: entry.kind })
}

/** Names the reason of a miss in the log line of the call. */
const noted = <Found>(answer: Lookup<Found>, rpc: NotedCall): Lookup<Found> => {
  if (answer.kind === 'incomplete') rpc.note({ miss: answer.kind, output: answer.output.key })
  else if (answer.kind !== 'hit') rpc.note({ miss: answer.kind })
  return answer
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
