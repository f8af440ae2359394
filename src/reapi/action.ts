import { StatusError } from '../base/status-error.js'
import type { Action } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../proto/time.js'

/**
 * How long an action may run, in milliseconds: what it asks for, or `maxTimeoutMs` when it names no timeout (REAPI
 * Action.timeout). INVALID_ARGUMENT when it asks for more, or for less than nothing.
 */
export const actionTimeoutMs = (action: Pick<Action, 'timeout'>, maxTimeoutMs: number): number => {
  if (action.timeout === null) return maxTimeoutMs
  const askedMs = toMs(action.timeout)
  if (askedMs === 0) return maxTimeoutMs
  if (askedMs > 0 && askedMs <= maxTimeoutMs) return askedMs
  const expected = `expected at most ${maxTimeoutMs / 1000} s`
  throw new StatusError('INVALID_ARGUMENT', `Action.timeout: ${askedMs / 1000} s is not valid, ${expected}`)
}
