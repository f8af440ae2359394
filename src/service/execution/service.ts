import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { LruCache } from '../../base/lru-cache.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import type {
  Command,
  ExecuteRequest,
  WaitExecutionRequest,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { REQUEST_METADATA, requestMetadata } from '../../proto/request-metadata.js'
import { rootKeysOf } from '../../reapi/root-keys.js'
import type { Call } from '../../rpc/call.js'
import type { RpcCall, ServedCall, Service } from '../../rpc/rpc.js'
import type { ExecutionRequest, OperationState } from '../../scheduler/scheduler.js'
import { inInstance } from '../instance.js'
import { Repeats } from '../repeats.js'
import { requestDigest } from '../request.js'
import { send } from '../send.js'
import { actionOutcome } from './action-outcome.js'
import { type ExecutionOptions, executionInstance, schedulerOf } from './instance.js'
import { inlinedOperationMessage, type OperationMessage, operationMessage, readerOf } from './operation-message.js'
import { type PreparedAction, prepareAction } from './prepare.js'
import { Refusals } from './refusals.js'

/** Room in an Operation for all fields except the result: names, digests, a message, timestamps. */
const ENVELOPE_BYTES = 64 * 1024

/** Size of the cache of decoded Commands, in bytes of the encoded messages. Many actions share a Command. */
const KNOWN_COMMAND_BYTES = 4 * 1024 * 1024

export const executionService = (options: ExecutionOptions): Service => {
  const repeats = new Repeats(options.clock)
  return {
    name: 'build.bazel.remote.execution.v2.Execution',
    instances: options.instances,
    serverStreaming: { Execute: execute(options, repeats), WaitExecution: waitExecution(options, repeats) },
  }
}

/**
 * An invalid request fails the call. Once an operation has a name, every failure is reported in the operation. So are
 * missing blobs, because Pants drops the details of a failed call.
 */
const execute = (options: ExecutionOptions, repeats: Repeats) => {
  const commands = new LruCache<Command>(KNOWN_COMMAND_BYTES)
  const refusals = new Refusals(options)
  return async (request: ExecuteRequest, rpc: ServedCall, responses: Writable): Promise<void> => {
    const { name, instance, call, action, doNotCache } = await begin(request, rpc, { options, commands, refusals })
    // By then a lookup in memory has finished, so the first message already has its outcome and a hit takes one
    // message.
    await setImmediate()
    const states = instance.scheduler.watch(name, call.signal)
    const maxBytes = options.maxResponseBytes - ENVELOPE_BYTES
    const inlining = { hints: request, cas: instance.cas, call, maxBytes }
    const reader = readerOf(rpc, request.instanceName, options)
    let isLinked = false
    await sendEach(states, responses, repeats, (state) => {
      if (state.joined !== undefined && !isLinked) call.span?.link(state.joined)
      isLinked ||= state.joined !== undefined
      refusals.ofOperation(request, rpc, state)
      if (state.outcome !== undefined)
        rpc.record?.(actionOutcome(state.outcome, { digest: action, doNotCache, identity: rpc.visitor?.identity }))
      return inlinedOperationMessage(state, inlining, reader)
    })
  }
}

/** Sends a message for each state, and the last one again while there is no other. */
const sendEach = async (
  states: AsyncIterable<OperationState>,
  responses: Writable,
  repeats: Repeats,
  messageOf: (state: OperationState) => OperationMessage | Promise<OperationMessage>,
): Promise<void> => {
  let speak = (): void => {}
  try {
    for await (const state of states) {
      const message = await messageOf(state)
      speak()
      await send(responses, message)
      if (!message.done) speak = repeats.add(responses, message)
    }
  } finally {
    speak()
  }
}

interface Context {
  readonly options: ExecutionOptions
  readonly commands: LruCache<Command>
  readonly refusals: Refusals
}

/** Validates the request and starts its operation. */
const begin = async (request: ExecuteRequest, rpc: ServedCall, { options, commands, refusals }: Context) => {
  try {
    const { instanceName } = request
    const instance = executionInstance(options, instanceName)
    const functions = { value: request.digestFunction, served: instance.digestFunctions }
    const actionDigest = requestDigest(request.actionDigest, functions, 'action_digest')
    const call = inInstance(rpc, instanceName)
    const prepared = await orMissing(prepareAction(instance, actionDigest, { commands, trees: options.trees }, call))
    const known = prepared instanceof StatusError ? { ...NOTHING_KNOWN, refusal: prepared } : prepared
    const { inputs, ...about } = known
    const scope = rpc.visitor?.scopeIn(instanceName)?.name
    const name = await instance.scheduler.execute({
      ...{ instanceName, actionDigest },
      priority: request.executionPolicy?.priority ?? 0,
      skipCacheLookup: request.skipCacheLookup,
      ...about,
      ...(inputs && { rootKeys: rootKeysOf({ instanceName, scope, ...inputs }) }),
      ...askedBy(call),
      trace: call.span?.context,
      identity: rpc.visitor?.nameInResults,
      scope,
    })
    rpc.note({ operation: name })
    return { name, instance, call, action: actionDigest, doNotCache: known.doNotCache }
  } catch (error) {
    refusals.ofCall(request, rpc, error)
    throw error
  }
}

const NOTHING_KNOWN: PreparedAction = { doNotCache: false, properties: [] }

/** The client's description of the build that the action belongs to (RequestMetadata). */
const askedBy = ({ metadata }: Call): Pick<ExecutionRequest, 'invocation' | 'target' | 'mnemonic' | 'metadata'> => {
  const asked = requestMetadata(metadata)
  if (asked === undefined || asked === 'undecodable') return { invocation: '' }
  const { toolInvocationId: invocation, targetId: target, actionMnemonic: mnemonic } = asked
  const header = metadata?.get(REQUEST_METADATA)
  return { invocation, target, mnemonic, metadata: Buffer.isBuffer(header) ? header : undefined }
}

/** Sends the current state of the operation, then its updates. A WaitExecutionRequest has no inline hints. */
const waitExecution =
  (options: ExecutionOptions, repeats: Repeats) =>
  ({ name }: WaitExecutionRequest, rpc: RpcCall, responses: Writable): Promise<void> =>
    sendEach(schedulerOf(options, name).watch(name, rpc.signal), responses, repeats, (state) =>
      operationMessage(state, readerOf(rpc, state.instanceName, options)),
    )

const orMissing = async (prepared: Promise<PreparedAction>): Promise<PreparedAction | StatusError> => {
  try {
    return await prepared
  } catch (error) {
    if (isStatus(error, 'FAILED_PRECONDITION')) return error
    throw error
  }
}
