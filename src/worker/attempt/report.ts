import { putBytes, type Store } from '../../blobs/store.js'
import { codec } from '../../proto/codec.js'
import type { ActionResultInput, ExecuteResponseInput } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'

const actionResultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const historyCodec = codec('remexec.worker.v1.HistoricalExecuteResponse')

export type ResultStrategy = 'success_only' | 'never' | 'everything' | 'failures_only'

/** Which results a worker stores and where, and the templates of its messages. */
export interface ResultPolicy {
  /** Undefined if the execution service stores results itself. */
  readonly actionCache: Store | undefined
  readonly strategy: ResultStrategy
  /** A CAS for complete responses. */
  readonly history: Store
  readonly historyStrategy: ResultStrategy
  readonly successMessage: string
  readonly failureMessage: string
}

/**
 * Writes a result with status OK to the action cache if the strategy asks for it. Best effort: a failure is logged, and
 * the client still gets its result.
 */
export const cacheResult = async (
  actionDigest: Digest,
  result: ActionResultInput,
  { actionCache, strategy }: ResultPolicy,
  call: Call,
): Promise<void> => {
  if (actionCache === undefined || !isWanted(strategy, result.exitCode === 0)) return
  try {
    await putBytes(actionCache, actionDigest, actionResultCodec.encode(result), call)
  } catch (error) {
    call.log.warn('could not write a result to the action cache', { action: actionDigest.key, error })
  }
}

/** Stores a response if the strategy asks for it, and returns its digest. Best effort, like `cacheResult`. */
export const keepResponse = async (
  actionDigest: Digest,
  executeResponse: ExecuteResponseInput,
  isSuccess: boolean,
  { history, historyStrategy }: ResultPolicy,
  call: Call,
): Promise<Digest | undefined> => {
  if (!isWanted(historyStrategy, isSuccess)) return undefined
  const bytes = historyCodec.encode({ actionDigest: actionDigest.toMessage(), executeResponse })
  const digest = Digest.of(bytes, actionDigest.function)
  try {
    await putBytes(history, digest, bytes, call)
    return digest
  } catch (error) {
    call.log.warn('could not keep the response of an action', { action: actionDigest.key, error })
    return undefined
  }
}

const isWanted = (strategy: ResultStrategy, isSuccess: boolean): boolean =>
  strategy === 'everything' || strategy === (isSuccess ? 'success_only' : 'failures_only')

/** `ExecuteResponse.message`: the template for this kind of result with its placeholders filled in. */
export const resultMessage = (
  actionDigest: Digest,
  kept: Digest | undefined,
  isSuccess: boolean,
  policy: ResultPolicy,
): string => {
  const template = isSuccess ? policy.successMessage : policy.failureMessage
  if (template === '') return ''
  const values: Readonly<Record<string, string>> = {
    digest_function: actionDigest.function.name.toLowerCase(),
    action_digest_hash: actionDigest.hash,
    action_digest_size: String(actionDigest.sizeBytes),
    historical_results_hash: kept?.hash ?? '',
    historical_results_size: kept === undefined ? '' : String(kept.sizeBytes),
  }
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)
}
