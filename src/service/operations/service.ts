import { StatusError } from '../../base/status-error.js'
import type {
  CancelOperationRequest,
  DeleteOperationRequest,
  GetOperationRequest,
  WaitOperationRequest,
} from '../../proto/generated/google.longrunning.js'
import { toMs } from '../../proto/time.js'
import { unknownOperation } from '../../reapi/operation-name.js'
import type { RpcCall, Service } from '../../rpc/rpc.js'
import type { OperationState } from '../../scheduler/scheduler.js'
import { type ExecutionOptions, schedulerOf } from '../execution/instance.js'
import { type OperationMessage, operationMessage, readerOf } from '../execution/operation-message.js'
import { listOperations } from './list-operations.js'

/** Access to operations of Execute without a stream. Any client that knows the name of an operation may use it. */
export const operationsService = (
  options: Pick<ExecutionOptions, 'instances' | 'linkOf' | 'hasLogStreams'>,
): Service => ({
  name: 'google.longrunning.Operations',
  instances: options.instances,
  unary: {
    GetOperation: async ({ name }: GetOperationRequest, rpc: RpcCall): Promise<OperationMessage> => {
      const state = await schedulerOf(options, name).get(name)
      if (state === undefined) throw unknownOperation(name)
      return operationMessage(state, readerOf(rpc, state.instanceName, options))
    },
    ListOperations: listOperations(options),
    CancelOperation: async ({ name }: CancelOperationRequest) => {
      if (!(await schedulerOf(options, name).cancel(name))) throw unknownOperation(name)
      return {}
    },
    DeleteOperation: async ({ name }: DeleteOperationRequest) => {
      if (!(await schedulerOf(options, name).delete(name))) throw unknownOperation(name)
      return {}
    },
    WaitOperation: async (request: WaitOperationRequest, call: RpcCall) => {
      const state = await finalState(request, options, call.signal)
      call.signal.throwIfAborted()
      return operationMessage(state, readerOf(call, state.instanceName, options))
    },
  },
})

/**
 * The operation once it is done, or its state when the request's timeout expires. Without a timeout, the call's
 * deadline applies.
 */
const finalState = async (
  { name, timeout }: WaitOperationRequest,
  options: Pick<ExecutionOptions, 'instances'>,
  signal: AbortSignal,
): Promise<OperationState> => {
  const patience = timeout === null ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs(toMs(timeout)))])
  const scheduler = schedulerOf(options, name)
  let latest = await scheduler.get(name)
  if (latest === undefined) throw unknownOperation(name)
  for await (const state of scheduler.watch(name, patience)) latest = state
  return latest
}

/** The maximum of Node's timers, about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1

const timeoutMs = (askedMs: number): number => {
  if (askedMs >= 0) return Math.min(Math.ceil(askedMs), MAX_TIMER_MS)
  throw new StatusError('INVALID_ARGUMENT', `timeout: ${askedMs / 1000} s is not valid, expected 0 s or more`)
}
