import { Code, codeName, type StatusError } from '../../base/status-error.js'
import type { LogFields } from '../../log/log.js'
import type { ExecuteResponse } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { type Time, toMs } from '../../proto/time.js'
import type { Outcome } from '../request.js'
import type { EndedExecution } from './state/state.js'

/** Whether the server or a worker failed, or the action ran out of time. A command that exits with 1 is no fault. */
export const isFault = (outcome: Outcome): boolean =>
  'error' in outcome ? outcome.error.code !== Code.CANCELLED : (outcome.response.status?.code ?? Code.OK) !== Code.OK

/** Result, exit code, worker, the time of each stage, and the build that the action belongs to. */
export const actionFields = (ended: EndedExecution): LogFields => {
  const { request, outcome, queuedMs } = ended
  const { target, mnemonic, invocation, identity } = request
  return {
    ...resultFields(ended),
    ...{ operation: ended.operationName, action: request.actionDigest.key, instance: request.instanceName },
    ...(target && { target }),
    ...(mnemonic && { mnemonic }),
    ...(invocation && { invocation }),
    ...(identity && { identity }),
    ...(ended.need?.memoryKb !== undefined && { learnedMemoryKb: ended.need.memoryKb }),
    ...(ended.need?.cpus !== undefined && { learnedCpus: ended.need.cpus }),
    ...{ attempts: ended.attempts, ms: Math.round(ended.endedMs - queuedMs) },
    ...('response' in outcome && timesOf(outcome.response, queuedMs)),
  }
}

/** How an action ended. `worker` is empty or absent if none had it. */
export interface ResultFields {
  readonly result: 'success' | 'failure' | 'timeout' | 'error' | 'cancelled'
  readonly exitCode?: number
  readonly worker?: string
  /** Of the error, if the server or a worker failed. */
  readonly code?: string
  readonly reason?: string
}

/** `workerId` is the worker that had the action last, for outcomes that name none. */
export const resultFields = ({ outcome, workerId }: Pick<EndedExecution, 'outcome' | 'workerId'>): ResultFields =>
  'error' in outcome
    ? { ...errorFields(outcome.error), ...(workerId && { worker: workerId }) }
    : resultOf(outcome.response, workerId)

const errorFields = ({ code, message }: StatusError): ResultFields => ({
  result: code === Code.CANCELLED ? 'cancelled' : 'error',
  code: codeName(code),
  reason: message,
})

const resultOf = ({ status, result }: ExecuteResponse, workerId: string): ResultFields => {
  const code = status?.code ?? Code.OK
  const exitCode = result?.exitCode
  const ran = { ...(exitCode !== undefined && { exitCode }), worker: result?.executionMetadata?.worker || workerId }
  if (code === Code.OK) return { result: exitCode === 0 ? 'success' : 'failure', ...ran }
  const word = code === Code.DEADLINE_EXCEEDED ? 'timeout' : 'error'
  return { result: word, code: codeName(code), ...ran, reason: status?.message ?? '' }
}

/** Milliseconds in the queue, and those in which the worker fetched inputs, ran the command and uploaded outputs. */
const timesOf = ({ result }: ExecuteResponse, queuedMs: number): LogFields => {
  const times = result?.executionMetadata
  if (times === undefined || times === null) return {}
  const { workerStartTimestamp: started } = times
  return {
    ...(started && { queueMs: Math.max(0, Math.round(toMs(started) - queuedMs)) }),
    ...between('fetchMs', times.inputFetchStartTimestamp, times.inputFetchCompletedTimestamp),
    ...between('runMs', times.executionStartTimestamp, times.executionCompletedTimestamp),
    ...between('uploadMs', times.outputUploadStartTimestamp, times.outputUploadCompletedTimestamp),
  }
}

const between = (name: string, from: Time | null, to: Time | null): LogFields =>
  from === null || to === null ? {} : { [name]: Math.round(toMs(to) - toMs(from)) }
