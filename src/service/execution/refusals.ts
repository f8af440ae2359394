import { Code, codeName, StatusError } from '../../base/status-error.js'
import { SparingLog } from '../../log/sparing-log.js'
import type { ExecuteRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { RpcCall } from '../../rpc/rpc.js'
import type { OperationState } from '../../scheduler/scheduler.js'
import type { ExecutionOptions } from './instance.js'

const RATION = { lines: 60, periodMs: 60_000 }

/** Cancellations by the client, and the timeout of an action, which is a regular result. */
const NO_REFUSAL: ReadonlySet<number> = new Set([Code.OK, Code.CANCELLED, Code.DEADLINE_EXCEEDED])
/** The listener already logs calls that fail with these codes. */
const LOGGED_BY_LISTENER: ReadonlySet<number> = new Set([Code.UNKNOWN, Code.INTERNAL, Code.DATA_LOSS])

type Asked = Pick<ExecuteRequest, 'instanceName' | 'actionDigest'>

/**
 * Logs each Execute that ended without a result, one line each. Many clients fall back to local builds silently, so a
 * whole team might believe that it builds remotely.
 */
export class Refusals {
  readonly #log: SparingLog

  constructor({ log, clock }: Pick<ExecutionOptions, 'log' | 'clock'>) {
    this.#log = new SparingLog(log, clock, RATION)
  }

  /** A call that failed before it had an operation. */
  ofCall(request: Asked, { peer }: RpcCall, thrown: unknown): void {
    const { code, message } = StatusError.from(thrown)
    if (!LOGGED_BY_LISTENER.has(code)) this.#logRefusal(request, peer, code, message)
  }

  /** An operation that is over without a result. */
  ofOperation(request: Asked, { peer }: RpcCall, { outcome }: OperationState): void {
    if (outcome === undefined) return
    const { code, message } = ('error' in outcome ? outcome.error : outcome.response.status) ?? { code: 0, message: '' }
    this.#logRefusal(request, peer, code, message)
  }

  #logRefusal({ instanceName, actionDigest }: Asked, peer: string, code: number, reason: string): void {
    if (NO_REFUSAL.has(code)) return
    const action = actionDigest === null ? 'none' : `${bounded(actionDigest.hash)}-${actionDigest.sizeBytes}`
    const fields = { instance: bounded(instanceName), action, code: codeName(code), reason: bounded(reason), peer }
    this.#log.warn('Execute ended without a result', fields)
  }
}

/** Shortens texts that clients choose. */
const bounded = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)}...` : text)
