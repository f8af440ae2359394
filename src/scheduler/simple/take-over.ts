import type { BroughtAttempt, ExecutionRequest, RunningAttempt } from '../request.js'
import { operationBytes } from '../request-size.js'
import type { Runs } from './runs.js'
import type { Context } from './state/context.js'
import type { Operations } from './state/operations.js'
import { requirementIfAny } from './state/requirement.js'
import type { Execution, Worker } from './state/state.js'
import type { Dispatch } from './workers/dispatch.js'
import type { Workers } from './workers/workers.js'

export interface TakeOverParts {
  readonly operations: Operations
  readonly dispatch: Dispatch
  readonly workers: Workers
  readonly runs: Runs
}

/**
 * What a scheduler takes over from the process before it. Two sides tell of it, in any order: servers hand in the operations
 * of their clients again, and workers bring the attempts that they run.
 */
export class TakeOver {
  readonly #context: Context
  readonly #parts: TakeOverParts
  /** Time of the first event. */
  #firstMs = Number.POSITIVE_INFINITY

  constructor(context: Context, parts: TakeOverParts) {
    this.#context = context
    this.#parts = parts
  }

  began(nowMs: number): void {
    this.#firstMs = Math.min(this.#firstMs, nowMs)
  }

  /**
   * A worker brings an attempt that this process did not start. It goes on in its operation: one that was handed in again, and is
   * queued, at any time; one that nobody knows only for a while after the start. Clients that requested the same action since
   * get its result. False if the attempt is not needed.
   */
  adopt(worker: Worker, { attemptId, operationName: name, request }: BroughtAttempt): boolean {
    const { settings, nowMs } = this.#context
    const { operations, dispatch, workers, runs } = this.#parts
    const isKnown = operations.has(name)
    if (workers.isDraining || (!isKnown && nowMs >= this.#firstMs + settings.adoptForMs)) return false
    const requirement = requirementIfAny(request.properties, settings.supportedPlatformProperties)
    if (requirement === undefined || !dispatch.isCapable(worker, requirement)) return false
    if (isKnown) return this.#goesOn(worker, attemptId, request, operations.unfinished(name)?.execution)
    operations.open(name, request.instanceName, request.actionDigest, operationBytes(request))
    const operation = operations.unfinished(name)
    if (operation === undefined) return false
    const { execution } = runs.ofScope(operation, { request, requirement })
    return this.#goesOn(worker, attemptId, request, execution)
  }

  #goesOn(worker: Worker, attemptId: string, request: ExecutionRequest, execution: Execution | undefined): boolean {
    if (execution === undefined || (execution.state !== 'new' && execution.state !== 'queued')) return false
    // What a run of other callers, or of another action, comes to must not become the result of this one.
    const isSame = execution.request.actionDigest.key === request.actionDigest.key
    if (!isSame || execution.scope !== (request.scope ?? '')) return false
    const text = `${execution.id} goes on as attempt ${attemptId}, which worker ${worker.id} had from before`
    this.#context.log('info', text)
    this.#parts.dispatch.adopt(execution, worker, attemptId)
    return true
  }

  /**
   * Waits for the worker that runs this, instead of running it twice: it has the time of a worker that lost its connection.
   * False if it is here already, and came without the attempt.
   */
  expect(execution: Execution, { attemptId, workerId, scope }: RunningAttempt): boolean {
    if (execution.scope !== scope) return false
    if (execution.state !== 'new' && execution.state !== 'queued') return false
    const { dispatch, workers } = this.#parts
    if (dispatch.attempts.has(attemptId)) return false
    const worker = workers.expected(workerId)
    if (worker === undefined) return false
    dispatch.expect(execution, worker, attemptId)
    return true
  }
}
