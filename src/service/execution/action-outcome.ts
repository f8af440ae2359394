import { codeName } from '../../base/status-error.js'
import type { ActionResult } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { type Time, toMs } from '../../proto/time.js'
import type { Digest } from '../../reapi/digest.js'
import { keptResponseOf } from '../../reapi/kept-response.js'
import type { ExecutionFacts } from '../../rpc/execution-facts.js'
import type { ActionOutcome } from '../../rpc/request-records.js'
import type { Outcome } from '../../scheduler/scheduler.js'

interface Asked {
  readonly digest: Digest
  readonly doNotCache: boolean
  /** The caller. */
  readonly identity: string | undefined
}

/** What became of an Execute, for the records of requests. */
export const actionOutcome = (outcome: Outcome, { digest, doNotCache, identity }: Asked): ActionOutcome => {
  const action = digest.key
  const { code, message } = ('error' in outcome ? outcome.error : outcome.response.status) ?? OK
  if ('error' in outcome)
    return {
      action,
      outcome: 'failed',
      reason: codeName(code),
      execution: { ...factsOf(null, digest, message), identity },
    }
  const { cachedResult, result } = outcome.response
  if (cachedResult && code === 0) return { action, outcome: 'hit' }
  const execution = { ...factsOf(result, digest, message || outcome.response.message), identity }
  if (code !== 0) return { action, outcome: 'failed', reason: codeName(code), execution }
  const exitCode = result?.exitCode ?? 0
  if (exitCode !== 0) return { action, outcome: 'ran', reason: `exit code ${exitCode}`, execution }
  return doNotCache
    ? { action, outcome: 'ran', reason: 'do_not_cache', execution }
    : { action, outcome: 'written', execution }
}

const OK = { code: 0, message: '' } as const

/** `result` is null if the action did not run to its end. */
const factsOf = (
  result: ActionResult | null,
  { function: digestFunction }: Digest,
  message: string,
): Omit<ExecutionFacts, 'identity'> => {
  const ran = result?.executionMetadata ?? null
  const steps = [
    [ran?.queuedTimestamp, ran?.workerStartTimestamp],
    [ran?.inputFetchStartTimestamp, ran?.inputFetchCompletedTimestamp],
    [ran?.executionStartTimestamp, ran?.executionCompletedTimestamp],
    [ran?.outputUploadStartTimestamp, ran?.outputUploadCompletedTimestamp],
  ] as const
  const [queueMs, fetchMs, runMs, uploadMs] = steps.map(([from, to]) => msBetween(from, to))
  const ended = ran?.outputUploadCompletedTimestamp ?? ran?.executionCompletedTimestamp ?? ran?.workerCompletedTimestamp
  return {
    exitCode: result?.exitCode,
    worker: ran?.worker ?? '',
    queuedMs: ran?.queuedTimestamp ? toMs(ran.queuedTimestamp) : 0,
    endedMs: ended ? toMs(ended) : 0,
    ...{ queueMs, fetchMs, runMs, uploadMs },
    response: keptResponseOf(result, digestFunction)?.key,
    message: message || undefined,
  }
}

const msBetween = (from: Time | null | undefined, to: Time | null | undefined): number | undefined =>
  from && to ? Math.max(0, toMs(to) - toMs(from)) : undefined
