import type { StatePartInput, WorkerStateInput } from '../../proto/generated/remexec.scheduler.v1.js'
import type { ListedAction } from '../../scheduler/listed.js'
import type {
  FailedAction,
  PlatformDemand,
  SchedulerOverview,
  StuckActions,
  WorkerOverview,
} from '../../scheduler/scheduler.js'

export interface TellsState extends Pick<SchedulerOverview, 'workers' | 'queued' | 'failed' | 'demand'> {
  readonly nowMs: number
  readonly stuck: StuckActions | undefined
  readonly queue: readonly ListedAction[]
  /** Operations that ended, by result. */
  readonly results: ReadonlyMap<string, number>
}

/** Well below the 4 MiB that gRPC clients accept. */
const PART_CHARACTERS = 512 * 1024

/** Messages of limited size, at least one. */
export function* partsOf(state: TellsState): Generator<StatePartInput> {
  const { nowMs, queued, workers, stuck, queue, failed, demand, results } = state
  const { count = 0, reason = '' } = stuck ?? {}
  const first: StatePartInput = { nowMs, queued, results: countsOf(results), stuck: count, stuckReason: reason }
  const rows = [
    ...workers.map((worker) => ['workers', workerMessage(worker)] as const),
    ...queue.map(({ queuedMs, operation, priority, attempts, waitsFor, ...facts }) => {
      return ['queue', { facts, operation, priority, attempts, queuedMs, waitsFor }] as const
    }),
    ...failed.map((action) => ['failed', failedMessage(action)] as const),
    ...demand.map((platform) => ['demand', demandMessage(platform)] as const),
  ]
  let part = { ...first, workers: [], queue: [], failed: [], demand: [] } as Rows & StatePartInput
  let characters = 0
  for (const [kind, row] of rows) {
    characters += JSON.stringify(row).length
    if (characters > PART_CHARACTERS) {
      yield part
      part = { workers: [], queue: [], failed: [], demand: [] }
      characters = 0
    }
    part[kind].push(row)
  }
  yield part
}

interface Rows {
  readonly workers: object[]
  readonly queue: object[]
  readonly failed: object[]
  readonly demand: object[]
}

const countsOf = (counts: Iterable<readonly [string, number]>) => [...counts].map(([name, value]) => ({ name, value }))

const workerMessage = (worker: WorkerOverview): WorkerStateInput => {
  const { places, properties, left, attempts, ...same } = worker
  return {
    ...same,
    places: places ?? 0,
    properties: Object.entries(properties).map(([name, values]) => ({ name, values: [...values] })),
    left: countsOf(Object.entries(left)),
    attempts: attempts.map(({ id, operation, state, startedMs, ...facts }) => {
      return { id, operation: operation ?? '', state, startedMs, facts: facts.action === undefined ? null : facts }
    }),
  }
}

const demandMessage = ({ properties, queued, running, amounts }: PlatformDemand) => {
  const amountsOf = (stage: 'queued' | 'running') => [...amounts].map(([name, sums]) => ({ name, value: sums[stage] }))
  return {
    properties: properties.map(([name, value]) => ({ name, values: [value] })),
    ...{ queued, running, queuedAmounts: amountsOf('queued'), runningAmounts: amountsOf('running') },
  }
}

const failedMessage = (action: FailedAction) => {
  const { operation, result, exitCode, worker, code, reason, stdout, stderr, response, ...rest } = action
  const { attempts, endedMs, tookMs, ...facts } = rest
  const told = { operation, result, worker, code, reason, stdout, stderr, response, attempts, endedMs, tookMs }
  return { facts, ...told, hasExitCode: exitCode !== undefined, exitCode: exitCode ?? 0 }
}
