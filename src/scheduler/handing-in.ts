import { StatusError } from '../base/status-error.js'
import { errorOf, statusOf } from '../proto/error-details.js'
import { ExecutionStage } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type {
  HandIn,
  HandInInput,
  OperationEnd,
  OperationEndInput,
  OperationNews,
  OperationNewsInput,
  OperationPastInput,
  OperationPast as PastMessage,
} from '../proto/generated/remexec.scheduler.v1.js'
import type { Digest } from '../reapi/digest.js'
import type { ExecutionRequest, HandedOperation, OperationPast, OperationState, Outcome } from './request.js'
import { digestOf, stageOf } from './told.js'

/** How operations travel between a server that forwards them and the server with their scheduler (`scheduling.proto`). */

/** Whether a field of a request travels. Where to look for a result, and why an action is refused, was the matter of the front. */
export const CARRIED = {
  ...{ instanceName: true, actionDigest: true, properties: true, actionBytes: true, workingDirectory: true },
  rootKeys: true,
  ...{ priority: true, doNotCache: true, skipCacheLookup: true, invocation: true, target: true, mnemonic: true },
  ...{ trace: true, metadata: true, scope: true, identity: true, lookUpIn: false, refusal: false },
} satisfies Record<keyof ExecutionRequest, boolean>

export const handInOf = (
  { id, past, wasLookedUp }: HandedOperation,
  request: ExecutionRequest,
  { isAttended, nowMs }: { readonly isAttended: boolean; readonly nowMs: number },
): HandInInput => ({
  ...{ id, isAttended, wasLookedUp, past: past && pastMessage(past, nowMs), instanceName: request.instanceName },
  ...digestFields(request.actionDigest),
  ...{ properties: request.properties, rootKeys: request.rootKeys },
  ...{ priority: request.priority, doNotCache: request.doNotCache, skipCacheLookup: request.skipCacheLookup },
  ...{ action: request.actionBytes, metadata: request.metadata, invocation: request.invocation },
  ...{ target: request.target, mnemonic: request.mnemonic, ...request.trace },
  ...{ workingDirectory: request.workingDirectory, hasWorkingDirectory: request.workingDirectory !== undefined },
  ...{ identity: request.identity, hasIdentity: request.identity !== undefined, scope: request.scope },
})

/** Throws INVALID_ARGUMENT if a value is none that a front sends. */
export const handedIn = (message: HandIn, nowMs: number): { request: ExecutionRequest; handed: HandedOperation } => {
  const { id, past, wasLookedUp, traceparent, tracestate, action, metadata } = message
  checkId(id)
  const request: ExecutionRequest = {
    ...{ instanceName: message.instanceName, actionDigest: digestOf(message), properties: message.properties },
    ...{ priority: message.priority, doNotCache: message.doNotCache, skipCacheLookup: message.skipCacheLookup },
    ...{ invocation: message.invocation, target: message.target, mnemonic: message.mnemonic },
    actionBytes: action.length === 0 ? undefined : action,
    metadata: metadata.length === 0 ? undefined : metadata,
    workingDirectory: message.hasWorkingDirectory ? message.workingDirectory : undefined,
    identity: message.hasIdentity ? message.identity : undefined,
    scope: message.scope === '' ? undefined : message.scope,
    rootKeys: message.rootKeys.length === 0 ? undefined : message.rootKeys,
    trace: traceparent === '' ? undefined : { traceparent, tracestate },
  }
  return { request, handed: { id, wasLookedUp, past: past === null ? undefined : pastOf(past, nowMs) } }
}

export const newsOf = (id: string, state: OperationState, nowMs: number): OperationNewsInput => ({
  ...{ id, name: state.name, stage: ExecutionStage[state.stage], ...digestFields(state.actionDigest) },
  past: state.past && pastMessage(state.past, nowMs),
  ...{ joinedTraceparent: state.joined?.traceparent, joinedTracestate: state.joined?.tracestate },
})

export const endOf = (id: string, { name, actionDigest }: OperationState, outcome: Outcome): OperationEndInput => ({
  ...{ id, name, ...digestFields(actionDigest) },
  ...('error' in outcome ? { error: statusOf(outcome.error) } : { executeResponse: outcome.response }),
})

/** The state as the front shows it, under its own name for the operation. */
export const stateOfNews = (
  news: OperationNews,
  { name, instanceName, nowMs }: { readonly name: string; readonly instanceName: string; readonly nowMs: number },
): OperationState => {
  const { stage, past, joinedTraceparent: traceparent, joinedTracestate: tracestate } = news
  return {
    ...{ name, instanceName, actionDigest: digestOf(news), stage: stageOf(stage) ?? 'QUEUED', outcome: undefined },
    ...{ joined: traceparent === '' ? undefined : { traceparent, tracestate } },
    past: past === null ? undefined : pastOf(past, nowMs),
  }
}

export const stateOfEnd = (
  end: OperationEnd,
  { name, instanceName }: { readonly name: string; readonly instanceName: string },
): OperationState => {
  const { executeResponse, error } = end
  const outcome =
    executeResponse !== null
      ? { response: executeResponse }
      : { error: error === null ? new StatusError('INTERNAL', 'the scheduler sent no outcome') : errorOf(error) }
  return { name, instanceName, actionDigest: digestOf(end), stage: 'COMPLETED', outcome }
}

/** Shape of the ids that servers make: the last part of an operation's name. */
const ID = /^[A-Za-z0-9_-]{1,200}$/

export const checkId = (id: string): void => {
  if (ID.test(id)) return
  const shown = JSON.stringify(id.slice(0, 200))
  throw new StatusError('INVALID_ARGUMENT', `id ${shown} is not valid, expected 1 to 200 letters, digits, - and _`)
}

const digestFields = (digest: Digest) => ({ actionDigest: digest.toMessage(), digestFunction: digest.function.value })

const pastMessage = ({ queuedMs, attempts, failures, running }: OperationPast, nowMs: number): OperationPastInput => ({
  ...{ queuedForMs: Math.max(0, nowMs - queuedMs), attempts, failures },
  ...(running && { attemptId: running.attemptId, workerId: running.workerId, attemptScope: running.scope }),
})

const pastOf = (
  { queuedForMs, attempts, failures, attemptId, workerId, attemptScope: scope }: PastMessage,
  nowMs: number,
): OperationPast => ({
  ...{ queuedMs: nowMs - Math.max(0, queuedForMs), attempts, failures },
  running: attemptId === '' || workerId === '' ? undefined : { attemptId, workerId, scope },
})
