import type { FailedAction, QueuedOverview, SchedulerOverview, WorkerOverview } from '../scheduler.js'
import { actionFacts } from './action-facts.js'
import type { SimpleScheduler } from './machine.js'
import { whyItWaits } from './queue/why.js'
import type { Worker } from './state/state.js'
import { waitingThere } from './workers/pool.js'

const MAX_OF_BUCKET = 1_000

/** The operator's view of the workers and the queue. */
export const overview = (machine: SimpleScheduler, failed: readonly FailedAction[]): SchedulerOverview => {
  const { dispatch, workers } = machine.inspect()
  const { queue: all } = dispatch
  const queue: QueuedOverview[] = []
  for (const { arrivals } of all.buckets) {
    let count = 0
    for (const execution of arrivals) {
      if (count++ === MAX_OF_BUCKET) break
      const { first, request, priority, attempts, queuedMs } = execution
      const waitsFor = whyItWaits(execution, all, workers.all)
      queue.push({ operation: first.name, ...actionFacts(request), priority, attempts, queuedMs, waitsFor })
    }
  }
  return { workers: [...workers.all].map(workerOverview), queued: all.size, queue, failed }
}

const stateInWords = ({ standing, isPaused }: Worker): string | undefined =>
  standing.state?.replace('_', ' ') ?? (isPaused ? 'paused' : undefined)

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
    attempts: [...worker.attempts].map((attempt) => {
      const { id, startedMs, execution } = attempt
      const state = waiting.includes(attempt) ? 'waiting' : attempt.state
      const facts = execution && actionFacts(execution.request)
      return { id, state, startedMs, operation: execution?.first.name ?? null, ...facts }
    }),
  }
}
