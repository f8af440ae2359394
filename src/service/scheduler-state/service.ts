import type { Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { GetStateRequest } from '../../proto/generated/remexec.scheduler.v1.js'
import type { RpcCall, Service } from '../../rpc/rpc.js'
import type { Scheduler, SchedulerOverview } from '../../scheduler/scheduler.js'
import { send } from '../send.js'
import { partsOf } from './parts.js'

export interface SchedulerStateOptions {
  /** Those that a server gives actions to. */
  readonly schedulers: readonly Scheduler[]
  /** Operations that ended, by result. */
  readonly results: () => ReadonlyMap<string, number>
  readonly clock: Clock
}

/** Queue and workers for the pages of servers that forward actions to this one. */
export const schedulerStateService = ({ schedulers, results, clock }: SchedulerStateOptions): Service => ({
  name: 'remexec.scheduler.v1.SchedulerState',
  serverStreaming: {
    GetState: async (_: GetStateRequest, _call: RpcCall, responses: Writable): Promise<void> => {
      const all = await Promise.all(schedulers.map(stateOf))
      const elsewhere = all.flatMap((overview) => Object.entries(overview.elsewhere?.results ?? {}))
      const overview: SchedulerOverview = {
        workers: all.flatMap(({ workers }) => workers),
        queued: all.reduce((sum, { queued }) => sum + queued, 0),
        queue: all.flatMap(({ queue }) => queue),
        failed: all.flatMap(({ failed }) => failed),
      }
      const parts = partsOf({ nowMs: clock.now(), overview, results: sumOf([...results(), ...elsewhere]) })
      for (const part of parts) await send(responses, part)
    },
  },
})

/** UNAVAILABLE if the queue is in another process that does not answer. */
const stateOf = async ({ operator, elsewhere }: Scheduler): Promise<SchedulerOverview> => {
  if (operator !== undefined) return operator.overview()
  if (elsewhere === undefined) throw new StatusError('UNIMPLEMENTED', 'this server does not know its queue')
  await elsewhere.refresh()
  const overview = elsewhere.overview()
  const { address, trouble } = overview.elsewhere ?? {}
  if (trouble === undefined) return overview
  throw new StatusError('UNAVAILABLE', `the queue is at ${address}: ${trouble.reason}`)
}

const sumOf = (counts: Iterable<readonly [string, number]>): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count)
  return sums
}
