import { StatusError } from '../../base/status-error.js'
import { pack } from '../../proto/any.js'
import { codec, type Input } from '../../proto/codec.js'
import { statusOf } from '../../proto/error-details.js'
import {
  type ActionResult,
  type ActionResultInput,
  type ExecuteResponseInput,
  ExecutionStage,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { requestMetadata } from '../../proto/request-metadata.js'
import { timestampOf } from '../../proto/time.js'
import type { Digest } from '../../reapi/digest.js'
import { keptResponseOf } from '../../reapi/kept-response.js'
import { logStreamName } from '../../reapi/log-stream-name.js'
import { withoutOrigin } from '../../reapi/result-origin.js'
import type { Metadata, RpcCall } from '../../rpc/rpc.js'
import type { OperationState, Outcome, Progress } from '../../scheduler/scheduler.js'
import { asksForOutputs, type InlineContext, type InlineHints, withOutputs } from '../action-cache/inline-outputs.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')
const progressCodec = codec('remexec.scheduler.v1.OperationProgress')
const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

export type OperationMessage = Input<'google.longrunning.Operation'>

/**
 * The protocol message of an operation. Failures are in ExecuteResponse.status; Operation.error is never set (REAPI).
 */
export const operationMessage = (state: OperationState, reader: Reader): OperationMessage =>
  messageOf(state, state.outcome && executeResponse(state, state.outcome, reader), reader)

/** The permissions of the client that reads an operation. */
export interface Reader {
  /** Whether the client may see the origins of results. */
  readonly seesOrigins: boolean
  /** The address of the page of an action, for messages about failures; undefined if there is none. */
  readonly linkOf?: LinkOf | undefined
  /** Whether it can read what a running action prints. */
  readonly hasLogStreams?: boolean | undefined
}

/** `kept`: where the response is kept, if it is no result of the action cache. */
type LinkOf = (instanceName: string, action: Digest, kept?: Digest) => string

/** `invocation` is that of the client that gets the link; empty if it names none. */
export type LinkFor = (instanceName: string, action: Digest, kept: Digest | undefined, invocation: string) => string

/** What a server can tell of an action besides its operation. */
export interface AboutActions {
  readonly linkOf?: LinkFor | undefined
  readonly hasLogStreams?: ((instanceName: string) => boolean) | undefined
}

export const readerOf = (
  { visitor, metadata }: Pick<RpcCall, 'visitor' | 'metadata'>,
  instanceName: string,
  { linkOf: linkFor, hasLogStreams }: AboutActions = {},
): Reader => ({
  seesOrigins: visitor?.maySeeOrigins(instanceName) ?? true,
  linkOf: linkFor && ((instance, action, kept) => linkFor(instance, action, kept, invocationIn(metadata))),
  hasLogStreams: hasLogStreams?.(instanceName),
})

/** Decoded for failures only. */
const invocationIn = (metadata: Metadata): string => {
  const known = requestMetadata(metadata)
  return known === undefined || known === 'undecodable' ? '' : known.toolInvocationId
}

export interface Inlining extends InlineContext {
  readonly hints: InlineHints
}

/**
 * Like `operationMessage`, with the outputs that the client wants inlined. Best effort: outputs that cannot be inlined
 * are left out.
 */
export const inlinedOperationMessage = async (
  state: OperationState,
  inlining: Inlining,
  reader: Reader,
): Promise<OperationMessage> => {
  const { outcome } = state
  if (outcome === undefined || 'error' in outcome || outcome.response.result === null)
    return operationMessage(state, reader)
  const result = await inlined(outcome.response.result, state, inlining)
  return messageOf(state, { ...executeResponse(state, outcome, reader), result: shown(result, reader) }, reader)
}

const messageOf = (
  state: OperationState,
  response: ExecuteResponseInput | undefined,
  { hasLogStreams = false }: Reader,
): OperationMessage => {
  const { function: digestFunction } = state.actionDigest
  const metadata = {
    stage: ExecutionStage[state.stage],
    actionDigest: state.actionDigest.toMessage(),
    digestFunction: digestFunction.value,
    ...(hasLogStreams && state.stage === 'EXECUTING' && streamNames(state)),
    ...(state.progress && { partialExecutionMetadata: partial(state.progress) }),
  }
  const message = { name: state.name, metadata: pack(metadataCodec, metadata), done: response !== undefined }
  return response === undefined ? message : { ...message, response: pack(responseCodec, response) }
}

const streamNames = ({ instanceName, name: operation }: OperationState) => ({
  stdoutStreamName: logStreamName({ instanceName, operation }, 'stdout'),
  stderrStreamName: logStreamName({ instanceName, operation }, 'stderr'),
})

/** Queued time is in REAPI's own field; the other facts are in `auxiliary_metadata`. */
const partial = (progress: Progress): Input<'build.bazel.remote.execution.v2.ExecutedActionMetadata'> => {
  const { waitsFor, position, queueLength, attempt, workerId, queuedMs, startedMs } = progress
  const queuedTimestamp = queuedMs === undefined ? null : timestampOf(queuedMs)
  const attemptStartTimestamp = startedMs === undefined ? null : timestampOf(startedMs)
  const operationProgress = {
    ...{ waitsFor, queuePosition: position, queueLength, attempt, worker: workerId },
    ...{ queuedTimestamp, attemptStartTimestamp },
  }
  // The field `worker` is not set here: it is the worker's name in results, `workerId` identifies one worker of that
  // name.
  return { queuedTimestamp, auxiliaryMetadata: [pack(progressCodec, operationProgress)] }
}

const executeResponse = (state: OperationState, outcome: Outcome, reader: Reader): ExecuteResponseInput => {
  if ('error' in outcome) {
    const { error } = outcome
    return { status: statusOf(error), message: withLink(error.message, state, reader, null) }
  }
  const { result, cachedResult, status, serverLogs, message } = outcome.response
  const hasFailed = (status?.code ?? 0) !== 0 || (result?.exitCode ?? 0) !== 0
  const shownMessage = hasFailed ? withLink(message, state, reader, result) : message
  return { result: result && shown(result, reader), cachedResult, status, serverLogs, message: shownMessage }
}

/** Bazel shows the message of an action that failed. */
const withLink = (
  message: string,
  { instanceName, actionDigest }: OperationState,
  { linkOf }: Reader,
  result: ActionResult | null,
): string => {
  if (linkOf === undefined) return message
  const link = `remexec: see ${linkOf(instanceName, actionDigest, keptResponseOf(result, actionDigest.function))}`
  return message === '' ? link : `${message}\n${link}`
}

/**
 * Adds empty execution_metadata if it is absent, as in results uploaded by clients. Buck2 fails on results without it.
 */
const shown = (result: ActionResult, { seesOrigins }: Reader): ActionResultInput => {
  result.executionMetadata ??= metadataOfNobody
  return seesOrigins ? result : withoutOrigin(result)
}

const metadataOfNobody = codec('build.bazel.remote.execution.v2.ExecutedActionMetadata').decode(Buffer.alloc(0))

/** Returns a copy, because all clients of the operation share the result. */
const inlined = async (
  shared: ActionResult,
  { name, actionDigest }: OperationState,
  { hints, ...context }: Inlining,
): Promise<ActionResult> => {
  if (!asksForOutputs(hints)) return shared
  try {
    return await withOutputs(resultCodec.encode(shared), actionDigest.function, hints, context)
  } catch (error) {
    context.call.log.warn('outputs could not be inlined', { operation: name, error: StatusError.from(error) })
    return shared
  }
}
