import type { Log } from '../../log/log.js'
import type { Tracer } from '../../rpc/trace.js'
import type { FailedAction } from '../scheduler.js'
import { actionFields, isFault } from './action-line.js'
import { FailedActions } from './failed-actions.js'
import type { Command, EndedExecution } from './state/state.js'

export interface ActionLogOptions {
  /** Of the scheduler. */
  readonly name: string
  readonly log: Log
  readonly tracer?: Tracer | undefined
  /** The share of ended actions, 0 to 1, whose log line is at level info instead of debug. Default 0. */
  readonly shownShare?: number | undefined
}

const ENDED = 'an action ended'

/** What operators see of actions: lines of the log, the time in the queue as a part of the client's trace, the latest that failed. */
export class ActionLog {
  readonly #options: ActionLogOptions
  readonly #failed = new FailedActions()

  constructor(options: ActionLogOptions) {
    this.#options = options
  }

  get failed(): readonly FailedAction[] {
    return this.#failed.all
  }

  /** Logs the start, and adds the queueing time to the requesting client's trace. */
  started({ start, workerId }: Extract<Command, { kind: 'start' }>): void {
    const { tracer, name, log } = this.#options
    const { waitingSinceMs: startMs, attemptId, request } = start
    log.debug('an action was given to a worker', () => ({
      ...{ attempt: attemptId, digest: request.actionDigest.key, worker: workerId },
    }))
    const parent = request.trace
    if (parent === undefined) return
    const attributes = { 'remexec.scheduler': name, 'remexec.worker': workerId, 'remexec.attempt': attemptId }
    tracer?.begin('queue', { parent, startMs, attributes })?.end()
  }

  /** One line for each action: at level info if something failed besides the command, else for a share of them. */
  ended(ended: EndedExecution): void {
    const { log, shownShare = 0 } = this.#options
    this.#failed.note(ended)
    if (isFault(ended.outcome)) log.info(ENDED, actionFields(ended))
    else if (shownShare > 0 && Math.random() < shownShare)
      log.info(ENDED, { ...actionFields(ended), share: shownShare })
    else log.debug(ENDED, () => actionFields(ended))
  }
}
