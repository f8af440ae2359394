import { keptResponseOf } from '../../reapi/kept-response.js'
import type { FailedAction } from '../scheduler.js'
import { actionFacts } from './action-facts.js'
import { resultFields } from './action-line.js'
import type { EndedExecution } from './state/state.js'

const MAX_KEPT = 100
const MAX_REASON_LENGTH = 500

/** The latest actions that did not succeed, newest first. They stay until others push them out, or the process ends. */
export class FailedActions {
  #kept: readonly FailedAction[] = []

  get all(): readonly FailedAction[] {
    return this.#kept
  }

  /** Keeps an action unless it succeeded or its client cancelled it. */
  note(ended: EndedExecution): void {
    const { result, exitCode, worker, code, reason } = resultFields(ended)
    if (result === 'success' || result === 'cancelled') return
    const { outcome, request, attempts, endedMs, queuedMs } = ended
    const outputs = 'response' in outcome ? outcome.response.result : undefined
    const failed: FailedAction = {
      operation: ended.operationName,
      ...actionFacts(request),
      ...{ result, attempts, endedMs, tookMs: endedMs - queuedMs },
      ...(exitCode !== undefined && { exitCode }),
      ...(worker && { worker }),
      ...(code && { code }),
      ...(reason && { reason: reason.slice(0, MAX_REASON_LENGTH) }),
      ...digestOf('stdout', outputs?.stdoutDigest),
      ...digestOf('stderr', outputs?.stderrDigest),
      ...digestOf('response', keptResponseOf(outputs, request.actionDigest.function)),
    }
    this.#kept = [failed, ...this.#kept.slice(0, MAX_KEPT - 1)]
  }
}

const digestOf = (
  name: 'stdout' | 'stderr' | 'response',
  digest: { readonly hash: string; readonly sizeBytes: number } | null | undefined,
): Partial<FailedAction> => (digest ? { [name]: `${digest.hash}-${digest.sizeBytes}` } : {})
