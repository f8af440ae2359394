import type {
  FailedAction,
  QueuedAction,
  QueuedOverview,
  SchedulerOverview,
  StuckActions,
  WorkerOverview,
} from '../scheduler.js'
import { actionFacts } from './action-facts.js'
import type { SimpleScheduler } from './machine.js'
import type { Queue } from './queue/queue.js'
import { whyItWaits } from './queue/why.js'
import type { Execution, Worker } from './state/state.js'
import { waitingThere } from './workers/pool.js'

/** The operator's view of the workers and the queue. */
export const overview = (machine: SimpleScheduler, failed: readonly FailedAction[]): SchedulerOverview => {
  const { dispatch, workers, sizes } = machine.inspect()
  const { queue } = dispatch
  return {
    workers: [...workers.all].map(workerOverview),
    queued: queue.size,
    stuck: () => stuckIn(queue, workers.all),
    queue: { [Symbol.iterator]: () => queuedIn(queue, workers.all) },
    failed,
    demand: queue.demand.platforms(),
    learned: sizes.overview(),
  }
}

function* queuedIn(queue: Queue, workers: Iterable<Worker>): Generator<QueuedAction> {
  for (const execution of queue.inTurn()) {
    const { first, request, priority, attempts, queuedMs } = execution
    const { instanceName: instance, actionDigest, invocation } = request
    const overview = (): QueuedOverview => ({
      ...actionFacts(request),
      ...{ operation: first.name, priority, attempts, queuedMs },
      waitsFor: () => whyItWaits(execution, queue, workers),
    })
    yield { instance, action: actionDigest.key, ...(invocation && { invocation }), overview }
  }
}

const stuckIn = (queue: Queue, workers: Iterable<Worker>): StuckActions | undefined => {
  let count = 0
  let example: Execution | undefined
  for (const { arrivals, capable } of queue.buckets) {
    if (capable.size > 0) continue
    count += arrivals.size
    if (example === undefined) [example] = arrivals
  }
  return example && { count, reason: whyItWaits(example, queue, workers) }
}

const stateInWords = ({ standing, isPaused }: Worker): string | undefined =>
  standing.state?.replace('_', ' ') ?? (isPaused ? 'paused' : undefined)

const keptOf = ({ persistent, roots }: Worker['keeps']): Pick<WorkerOverview, 'persistent' | 'roots'> => ({
  ...(persistent && {
    persistent: { idle: persistent.idle, busy: persistent.busy, residentBytes: persistent.residentBytes },
  }),
  ...(roots && { roots: { kept: roots.kept, fileBytes: roots.fileBytes } }),
})

const workerOverview = (worker: Worker): WorkerOverview => {
  const waiting = waitingThere(worker)
  return {
    id: worker.id,
    name: worker.offer.name,
    state: worker.isConnected ? (stateInWords(worker) ?? worker.state) : worker.state,
    ...(worker.standing.trouble !== '' && { trouble: worker.standing.trouble }),
    isDrainedByOperator: worker.isKeptFree,
    running: worker.inflight - waiting.length,
    waiting: waiting.length,
    places: Number.isFinite(worker.offer.maxInflightAttempts) ? worker.offer.maxInflightAttempts : null,
    properties: Object.fromEntries(worker.offer.properties),
    left: Object.fromEntries(worker.left),
    heardMs: worker.heardMs,
    ...keptOf(worker.keeps),
    attempts: [...worker.attempts].map((attempt) => {
      const { id, startedMs, execution } = attempt
      const state = waiting.includes(attempt) ? 'waiting' : attempt.state
      const facts = execution && actionFacts(execution.request)
      return { id, state, startedMs, operation: execution?.first.name ?? null, ...facts }
    }),
  }
}
