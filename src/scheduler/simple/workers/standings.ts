import type { StatusError } from '../../../base/status-error.js'
import type { Context } from '../state/context.js'
import type { Worker } from '../state/state.js'
import type { Dispatch } from './dispatch.js'

/** Which workers take actions: not those that say that they are sick, nor those where several in a row failed by their own fault. */
export class Standings {
  readonly #context: Context
  readonly #dispatch: Dispatch

  constructor(context: Context, dispatch: Dispatch) {
    this.#context = context
    this.#dispatch = dispatch
  }

  /** What the worker says of itself; '' if it is well. */
  told(worker: Worker, sick: string): void {
    const { id, standing } = worker
    if (standing.sick === sick) return
    const { meter } = this.#context
    if (sick !== '') {
      if (standing.sick === '') meter.worker('sick')
      this.#context.log('warn', `worker ${id} takes no actions, it is sick: ${sick}`)
    } else this.#context.log('info', `worker ${id} is well again`)
    standing.sick = sick
    this.#dispatch.place(worker)
    this.#dispatch.feed(worker)
  }

  /** An action ran there. */
  proved(worker: Worker): void {
    if (!worker.standing.proved()) return
    this.#context.deadlines.clear(worker.standing.backoff)
    this.#context.log('info', `worker ${worker.id} takes actions again: one ran there`)
    this.#dispatch.place(worker)
  }

  /** An attempt failed there that was not the action's fault. */
  failed(worker: Worker, executionId: string, error: StatusError): void {
    const { standing } = worker
    const isFirst = standing.aside === ''
    const backoffMs = standing.failed(executionId, error, this.#context.settings)
    if (backoffMs === undefined) return
    if (isFirst) this.#context.meter.worker('set_aside')
    const text = `worker ${worker.id} is ${standing.aside}; it is tried again with one action in ${backoffMs / 1000} s`
    this.#context.log(isFirst ? 'warn' : 'info', text)
    standing.untilMs = this.#context.nowMs + backoffMs
    this.#dispatch.place(worker)
    this.awaitTrial(worker)
  }

  /** After its time aside, the worker may show with one action whether it works again. */
  awaitTrial(worker: Worker): void {
    const { standing } = worker
    if (standing.aside === '' || standing.isOnTrial) return
    standing.backoff.onDue = () => {
      standing.isOnTrial = true
      this.#dispatch.place(worker)
      this.#dispatch.feed(worker)
    }
    this.#context.deadlines.set(standing.backoff, standing.untilMs)
  }
}
