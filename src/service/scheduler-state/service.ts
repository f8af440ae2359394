import type { Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { GetStateRequest } from '../../proto/generated/remexec.scheduler.v1.js'
import type { RpcCall, Service } from '../../rpc/rpc.js'
import { listedOf } from '../../scheduler/listed.js'
import type { QueuedAction, Scheduler, SchedulerOverview, StuckActions } from '../../scheduler/scheduler.js'
import { send } from '../send.js'
import { partsOf, type TellsState } from './parts.js'

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
      const state: TellsState = {
        nowMs: clock.now(),
        workers: all.flatMap(({ workers }) => workers),
        queued: all.reduce((sum, { queued }) => sum + queued, 0),
        stuck: stuckOf(all),
        queue: await listedOf(inTurn(all.map(({ queue }) => queue))),
        failed: all.flatMap(({ failed }) => failed),
        demand: all.flatMap(({ demand }) => demand),
        results: sumOf([...results(), ...elsewhere]),
      }
      const parts = partsOf(state)
      for (const part of parts) await send(responses, part)
    },
  },
})

/** The first of each queue before the second of any. */
function* inTurn(queues: readonly SchedulerOverview['queue'][]): Generator<QueuedAction> {
  let open = queues.map((queue) => queue[Symbol.iterator]())
  while (open.length > 0) {
    const more: typeof open = []
    for (const rest of open) {
      const { value, done } = rest.next()
      if (done) continue
      yield value
      more.push(rest)
    }
    open = more
  }
}

const stuckOf = (all: readonly SchedulerOverview[]): StuckActions | undefined => {
  const found = all.flatMap(({ stuck }) => stuck() ?? [])
  const [first] = found
  return first && { count: found.reduce((sum, { count }) => sum + count, 0), reason: first.reason }
}

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
