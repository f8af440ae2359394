import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { withFields } from '../../base/log.js'
import { LruCache } from '../../base/lru-cache.js'
import type { RpcCall, ServedCall, Service } from '../../base/rpc.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import type { TraceContext } from '../../base/trace.js'
import { codec } from '../../proto/codec.js'
import type {
  Command,
  ExecuteRequest,
  WaitExecutionRequest,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { requestMetadata } from '../../proto/request-metadata.js'
import type { Digest } from '../../reapi/digest.js'
import { operationName, unknownOperation } from '../../reapi/operation-name.js'
import { inInstance } from '../instance.js'
import { requestDigest } from '../request.js'
import { send } from '../send.js'
import { type ExecutionInstance, type ExecutionOptions, executionInstance, schedulerOf } from './instance.js'
import { inlinedOperationMessage, operationMessage } from './operation-message.js'
import { type PreparedAction, prepareAction } from './prepare.js'
import { Refusals } from './refusals.js'
import { cachedResult, keepResult } from './results.js'

/** What an Operation has around the result: names, digests, a message, timestamps. */
const ENVELOPE_BYTES = 64 * 1024

/** Commands that many actions share are decoded once; counted in bytes of the messages. */
const KNOWN_COMMAND_BYTES = 4 * 1024 * 1024

const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')

export const executionService = (options: ExecutionOptions): Service => ({
  name: 'build.bazel.remote.execution.v2.Execution',
  instances: options.instances,
  serverStreaming: { Execute: execute(options), WaitExecution: waitExecution(options) },
})

/**
 * What is wrong with the request itself fails the call. From the moment an operation has a name, everything is told in
 * it; so are missing blobs, because Pants drops the details of a failed call.
 */
const execute = (options: ExecutionOptions) => {
  const commands = new LruCache<Command>(KNOWN_COMMAND_BYTES)
  const refusals = new Refusals(options)
  return async (request: ExecuteRequest, rpc: ServedCall, responses: Writable): Promise<void> => {
    const { name, instance, call } = await begin(request, rpc, { options, commands, refusals })
    // A lookup in memory is over by then: the first message says what came of it, and a hit is told in one message.
    await setImmediate()
    const states = instance.scheduler.watch(name, call.signal) ?? []
    const inlining = { hints: request, cas: instance.cas, call, maxBytes: options.maxResponseBytes - ENVELOPE_BYTES }
    for await (const state of states) {
      refusals.ofOperation(request, rpc, state)
      await send(responses, await inlinedOperationMessage(state, inlining))
    }
  }
}

interface Context {
  readonly options: ExecutionOptions
  readonly commands: LruCache<Command>
  readonly refusals: Refusals
}

/** Opens the operation of a request that can have one, and lets it go its way. */
const begin = async (request: ExecuteRequest, rpc: ServedCall, { options, commands, refusals }: Context) => {
  try {
    const instance = executionInstance(options, request.instanceName)
    const functions = { value: request.digestFunction, served: instance.digestFunctions }
    const action = requestDigest(request.actionDigest, functions, 'action_digest')
    const { signal, peer, metadata } = rpc
    const name = operationName(request.instanceName, options.newId())
    rpc.note({ operation: name })
    const log = withFields(rpc.log, { operation: name })
    const call: RpcCall = { ...inInstance(rpc, request.instanceName), signal, peer, metadata, log }
    const prepared = await orMissing(prepareAction(instance, action, { commands, trees: options.trees }, call))
    const { scheduler } = instance
    scheduler.open(name, request.instanceName, action)
    if (prepared instanceof StatusError) scheduler.complete(name, { error: prepared })
    else void decide({ name, action, prepared, instance, request, call, options })
    return { name, instance, call }
  } catch (error) {
    refusals.ofCall(request, rpc, error)
    throw error
  }
}

/** First the operation as it is, then its updates. A WaitExecutionRequest has no inline hints. */
const waitExecution =
  (options: ExecutionOptions) =>
  async ({ name }: WaitExecutionRequest, { signal }: RpcCall, responses: Writable): Promise<void> => {
    const states = schedulerOf(options, name).watch(name, signal)
    if (states === undefined) throw unknownOperation(name)
    for await (const state of states) await send(responses, operationMessage(state))
  }

const orMissing = async (prepared: Promise<PreparedAction>): Promise<PreparedAction | StatusError> => {
  try {
    return await prepared
  } catch (error) {
    if (isStatus(error, 'FAILED_PRECONDITION')) return error
    throw error
  }
}

interface Decision {
  readonly name: string
  readonly action: Digest
  readonly prepared: PreparedAction
  readonly instance: ExecutionInstance
  readonly request: ExecuteRequest
  readonly call: RpcCall
  readonly options: ExecutionOptions
}

/** Answers from the action cache or queues the action. Goes on when the client hangs up; never rejects. */
const decide = async (decision: Decision): Promise<void> => {
  const { name, action, prepared, instance, request, call } = decision
  const { doNotCache, properties } = prepared
  const isCacheable = !doNotCache && !request.skipCacheLookup
  const result = isCacheable ? await cachedResult(instance, action, call, decision.options) : undefined
  if (result !== undefined) {
    const response = responseCodec.decode(Buffer.alloc(0))
    response.cachedResult = true
    response.result = result
    instance.scheduler.complete(name, { response })
    return
  }
  const priority = request.executionPolicy?.priority ?? 0
  const asked = requestMetadata(call.metadata)
  const invocation = typeof asked === 'object' ? asked.toolInvocationId : ''
  const traced = call.span && { trace: call.span.context, joined: (run: TraceContext) => call.span?.link(run) }
  const queued = { properties, priority, invocation, isShareable: isCacheable, ...traced }
  instance.scheduler.enqueue(name, queued, keepResult(instance, action, doNotCache, call))
}
