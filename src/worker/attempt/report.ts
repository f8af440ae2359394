import type { Call } from '../../base/call.js'
import { codec } from '../../proto/codec.js'
import type { ActionResultInput } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import { putBytes, type Store } from '../../store/store.js'

const actionResultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

export type ResultStrategy = 'success_only' | 'never' | 'everything' | 'failures_only'

/** How a worker stores results, and what it tells with them. */
export interface ResultPolicy {
  /** Absent: the execution service stores results itself. */
  readonly actionCache: Store | undefined
  readonly strategy: ResultStrategy
  readonly successMessage: string
  readonly failureMessage: string
}

/**
 * Writes a result with status OK to the action cache when the strategy says so. A cache that fails does not spoil the
 * result: the client gets it and the log tells.
 */
export const cacheResult = async (
  actionDigest: Digest,
  result: ActionResultInput,
  { actionCache, strategy }: ResultPolicy,
  call: Call,
): Promise<void> => {
  if (actionCache === undefined || !isWanted(strategy, result.exitCode ?? 0)) return
  try {
    await putBytes(actionCache, actionDigest, actionResultCodec.encode(result), call)
  } catch (error) {
    call.log.warn('could not write a result to the action cache', { action: actionDigest.key, error })
  }
}

const isWanted = (strategy: ResultStrategy, exitCode: number): boolean =>
  strategy === 'everything' ||
  (strategy === 'success_only' ? exitCode === 0 : strategy === 'failures_only' && exitCode !== 0)

/** `ExecuteResponse.message`: the template for this kind of result with its placeholders filled in. */
export const resultMessage = (actionDigest: Digest, isSuccess: boolean, policy: ResultPolicy): string => {
  const template = isSuccess ? policy.successMessage : policy.failureMessage
  if (template === '') return ''
  const values: Readonly<Record<string, string>> = {
    digest_function: actionDigest.function.name.toLowerCase(),
    action_digest_hash: actionDigest.hash,
    action_digest_size: String(actionDigest.sizeBytes),
  }
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)
}
