import type { Call } from '../../base/call.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import type { ActionResult, ExecuteResponse } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import type { Settle } from '../../scheduler/scheduler.js'
import { putBytes } from '../../store/store.js'
import { lookUp } from '../action-cache/get-action-result.js'
import type { ExecutionInstance, ExecutionOptions } from './instance.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** No operation waits for the action cache longer than this. */
const PATIENCE_MS = 60_000

/** The work of an operation that nobody may interrupt by hanging up. */
const inBackground = async <T>({ instanceName, log, span }: Call, work: (call: Call) => Promise<T>): Promise<T> => {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), PATIENCE_MS).unref()
  try {
    return await work({ signal: late.signal, instanceName, log, span })
  } finally {
    clearTimeout(timer)
  }
}

/**
 * What the action cache has for an action, complete as for GetActionResult; undefined for nothing. An action cache that
 * does not work costs a run, not the build.
 */
export const cachedResult = async (
  { ac, cas }: ExecutionInstance,
  action: Digest,
  call: Call,
  { maxResponseBytes: maxBytes }: Pick<ExecutionOptions, 'maxResponseBytes'>,
): Promise<ActionResult | undefined> => {
  try {
    return await inBackground(call, (call) => lookUp(action, NOTHING_INLINED, { ac, cas, call, maxBytes }))
  } catch (error) {
    if (!isStatus(error, 'NOT_FOUND')) {
      call.log.warn('the action cache does not answer, running the action', { action: action.key, error })
    }
    return undefined
  }
}

const NOTHING_INLINED = { inlineStdout: false, inlineStderr: false, inlineOutputFiles: [] }

/** Keeps a worker's result in the action cache before anybody sees it, where it may be kept (REAPI, Action). */
export const keepResult =
  ({ ac, writesResults }: ExecutionInstance, action: Digest, doNotCache: boolean, call: Call): Settle =>
  async (response) => {
    response.cachedResult = false
    const { result } = response
    if (result === null || !isSuccess(response) || doNotCache || !writesResults) return response
    try {
      await inBackground(call, (call) => putBytes(ac, action, resultCodec.encode(result), call))
    } catch (error) {
      call.log.warn('a result could not be kept in the action cache', {
        action: action.key,
        error: StatusError.from(error),
      })
    }
    return response
  }

const isSuccess = ({ status, result }: ExecuteResponse): boolean =>
  (status === null || status.code === 0) && result !== null && result.exitCode === 0
