import { codeName } from '../../base/status-error.js'
import type { ActionOutcome } from '../../rpc/request-records.js'
import type { Outcome } from '../../scheduler/scheduler.js'

/** What became of an Execute, for the records of requests. */
export const actionOutcome = (action: string, outcome: Outcome, doNotCache: boolean): ActionOutcome => {
  const { code } = ('error' in outcome ? outcome.error : outcome.response.status) ?? { code: 0 }
  if (code !== 0 || 'error' in outcome) return { action, outcome: 'failed', reason: codeName(code) }
  const { cachedResult, result } = outcome.response
  if (cachedResult) return { action, outcome: 'hit' }
  const exitCode = result?.exitCode ?? 0
  if (exitCode !== 0) return { action, outcome: 'ran', reason: `exit code ${exitCode}` }
  return doNotCache ? { action, outcome: 'ran', reason: 'do_not_cache' } : { action, outcome: 'written' }
}
