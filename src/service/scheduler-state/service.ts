import type { Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type {
  GetStateRequest,
  ReadPrintedRequest,
  ReadPrintedResponseInput,
} from '../../proto/generated/remexec.scheduler.v1.js'
import type { RpcCall, ServedCall, Service } from '../../rpc/rpc.js'
import { listedOf } from '../../scheduler/listed.js'
import {
  type PrintedByOperation,
  type QueuedAction,
  type Scheduler,
  type SchedulerOverview,
  type StuckActions,
  tellerOf,
} from '../../scheduler/scheduler.js'
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
/** What an answer takes: the last 64 KiB of both outputs. */
const PRINTED_BYTES = 128 * 1024

export const schedulerStateService = ({ schedulers, results, clock }: SchedulerStateOptions): Service => ({
  name: 'remexec.scheduler.v1.SchedulerState',
  unary: {
    ReadPrinted: async (request: ReadPrintedRequest, call: ServedCall): Promise<ReadPrintedResponseInput> => {
      await call.reserveAnswer(PRINTED_BYTES)
      const { attemptId, operation, ...offsets } = request
      for (const scheduler of schedulers) {
        const teller = tellerOf(scheduler)
        const byAttempt = async () => {
          const printed = await teller?.printed(attemptId, offsets)
          return printed && { attemptId, printed }
        }
        const found = await (attemptId === '' ? teller?.printedBy(operation, offsets) : byAttempt())
        if (found !== undefined) return printedMessage(found)
      }
      return {}
    },
  },
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

const printedMessage = ({ attemptId, printed }: PrintedByOperation): ReadPrintedResponseInput => ({
  attemptId,
  ...(printed && {
    isTold: true,
    ...{ stdout: printed.stdout.bytes, stdoutSize: printed.stdout.sizeBytes },
    ...{ stderr: printed.stderr.bytes, stderrSize: printed.stderr.sizeBytes },
  }),
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
