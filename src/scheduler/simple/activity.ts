import type { ActiveExecutions, SchedulerActivity } from './meter.js'
import type { Queue } from './queue/queue.js'
import type { Execution } from './state/state.js'
import { activeWorker } from './workers/active.js'
import { waitingThere } from './workers/pool.js'
import type { Workers } from './workers/workers.js'

export interface Active {
  readonly runs: Iterable<Execution>
  readonly queue: Queue
  readonly workers: Workers
}

/** What the queue and the workers are busy with at `nowMs`. Each part is counted when it is read: a gauge reads one of them. */
export const activityOf = ({ runs, queue, workers }: Active, nowMs: number): SchedulerActivity => ({
  get executions() {
    return executionsOf(runs, workers)
  },
  get oldestQueuedMs() {
    return queue.oldestMs(nowMs)
  },
  get workers() {
    return [...workers.all].map(activeWorker)
  },
  get demand() {
    return queue.demand.platforms()
  },
})

const executionsOf = (runs: Iterable<Execution>, workers: Workers): readonly ActiveExecutions[] => {
  const waiting = new Set([...workers.all].flatMap(waitingThere))
  const queued = new Map<number, number>()
  const executing: ActiveExecutions[] = []
  for (const { state, priority, attempt } of runs) {
    if (state === 'queued' || (attempt !== undefined && waiting.has(attempt)))
      queued.set(priority, (queued.get(priority) ?? 0) + 1)
    else if (attempt !== undefined)
      executing.push({ stage: 'executing', priority, workerId: attempt.worker.id, count: 1 })
  }
  const ofPriority = ([priority, count]: [number, number]) =>
    ({ stage: 'queued', priority, workerId: '', count }) as const
  return [...Array.from(queued, ofPriority), ...executing]
}
