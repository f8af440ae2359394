import type { Context } from './state/context.js'
import type { Operations } from './state/operations.js'
import { SharedRuns } from './state/shared-runs.js'
import { Execution, type Operation, type ToRun } from './state/state.js'
import type { Dispatch } from './workers/dispatch.js'

export interface Found {
  readonly execution: Execution
  /** Whether it is neither queued nor started yet. */
  readonly isNew: boolean
}

/** The executions that operations wait for, by their ids. */
export class Runs {
  readonly #context: Context
  readonly #operations: Operations
  readonly #dispatch: Dispatch
  readonly #byId = new Map<string, Execution>()
  readonly #shared = new SharedRuns()
  #sequence = 0

  constructor(context: Context, operations: Operations, dispatch: Dispatch) {
    this.#context = context
    this.#operations = operations
    this.#dispatch = dispatch
  }

  get all(): IterableIterator<Execution> {
    return this.#byId.values()
  }

  get(id: string): Execution | undefined {
    return this.#byId.get(id)
  }

  /** A run that the operation may join, whoever asked first if all workers confine their actions, or a new one if `check` lets it in. */
  joinable(operation: Operation, toRun: ToRun, areConfined: boolean, check: () => void): Found {
    const created = this.#created(operation, toRun)
    return this.#entered(created, operation, toRun, this.#shared.joinable(created, areConfined), check)
  }

  /** The same among the runs of its scope. */
  ofScope(operation: Operation, toRun: ToRun, check = (): void => {}): Found {
    const created = this.#created(operation, toRun)
    return this.#entered(created, operation, toRun, this.#shared.ofScope(created), check)
  }

  forget(execution: Execution): void {
    this.#byId.delete(execution.id)
    this.#shared.remove(execution)
  }

  #created(operation: Operation, toRun: ToRun): Execution {
    return new Execution(operation, toRun, { sequence: ++this.#sequence, nowMs: this.#context.nowMs })
  }

  #entered(
    created: Execution,
    operation: Operation,
    toRun: ToRun,
    shared: Execution | undefined,
    check: () => void,
  ): Found {
    if (shared !== undefined) {
      this.#join(operation, shared, toRun)
      return { execution: shared, isNew: false }
    }
    check()
    this.#shared.add(created)
    this.#byId.set(created.id, created)
    operation.execution = created
    created.operations.add(operation)
    return { execution: created, isNew: true }
  }

  #join(operation: Operation, execution: Execution, { request, past }: ToRun): void {
    const { priority } = request
    operation.request = request
    operation.joined = execution.request.trace
    operation.execution = execution
    execution.operations.add(operation)
    const queuedMs = past?.queuedMs ?? execution.queuedMs
    if (priority < execution.priority || queuedMs < execution.queuedMs) {
      execution.priority = Math.min(priority, execution.priority)
      execution.queuedMs = Math.min(queuedMs, execution.queuedMs)
      if (execution.state === 'queued') this.#dispatch.queue.raised(execution)
    }
    this.#operations.advance(operation, execution.state === 'queued' ? 'QUEUED' : 'EXECUTING')
  }
}
