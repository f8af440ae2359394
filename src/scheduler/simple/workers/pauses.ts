import type { Context } from '../state/context.js'
import type { Execution, Worker } from '../state/state.js'
import type { Dispatch } from './dispatch.js'

/** Workers that take nothing for a while. */
export class Pauses {
  readonly #context: Context
  readonly #dispatch: Dispatch
  /** Whether the worker has not left, nor come back as another one. */
  readonly #isHere: (worker: Worker) => boolean

  constructor(context: Context, dispatch: Dispatch, isHere: (worker: Worker) => boolean) {
    this.#context = context
    this.#dispatch = dispatch
    this.#isHere = isHere
  }

  /**
   * While an action that failed there waits for another worker, this one takes nothing: it is free first, would get the same action
   * again, and could use up all of its tries. Not if there is no other worker, and not for longer than `worker_backoff_s`.
   */
  leaveToOthers(worker: Worker, execution: Execution): void {
    const { settings, deadlines, nowMs } = this.#context
    if (execution.state !== 'queued' || !this.#dispatch.hasOther(execution)) return
    this.pause(worker, settings.workerBackoffMs)
    execution.onLeft = () => {
      // At the next tick, because this may be in the middle of an assignment.
      if (worker.isPaused && this.#isHere(worker)) deadlines.set(worker.pause, nowMs)
    }
  }

  pause(worker: Worker, forMs: number): void {
    worker.isPaused = true
    this.#dispatch.index.changed(worker)
    worker.pause.onDue = () => {
      worker.isPaused = false
      this.#dispatch.index.changed(worker)
      this.#dispatch.feed(worker)
    }
    this.#context.deadlines.set(worker.pause, this.#context.nowMs + forMs)
  }
}
