import type { ExecuteResponse } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../proto/time.js'
import type { SchedulerActivity } from '../scheduler/simple/meter.js'
import { BoundedValues } from './bounded-values.js'
import {
  ACTION_SECONDS,
  Count,
  type Description,
  Distribution,
  type Instrument,
  type Labels,
  observed,
  type Reading,
} from './instrument.js'
import { LingeringSeries } from './lingering-series.js'
import { PersistentMetrics } from './persistent-metrics.js'
import { RootMetrics } from './root-metrics.js'

const RESULTS = ['success', 'failure', 'timeout', 'cache_hit', 'cancelled'] as const
const EVENTS = ['connected', 'disconnected', 'timeout', 'sick', 'set_aside'] as const
const WORKER_STATES = ['connected', 'draining', 'away', 'sick', 'set_aside'] as const
const STAGES = ['queued', 'input_fetch', 'executing', 'output_upload'] as const

type Result = (typeof RESULTS)[number]

/** Bounds on the values of labels that clients or workers choose; all further values share one series. */
const MAX_WORKER_IDS = 200
const MAX_PRIORITIES = 20
const MAX_ACTION_DIGESTS = 1000
const MAX_PLATFORMS = 100

/** Labels of completed executions besides the result. */
export interface ExecutionLabels {
  readonly labelsActionDigests: boolean
  readonly instanceNames?: BoundedValues | undefined
}

/** The metrics of all schedulers together, in one set of series. */
export class ExecutionMetrics {
  readonly instruments: readonly Instrument[]
  readonly #completed = countsOf('execution_result', RESULTS)
  readonly #labelled = new Map<string, Count>()
  readonly #events = countsOf('worker_event', EVENTS)
  readonly #retries = new Count({})
  readonly #stages: ReadonlyMap<string, Distribution>
  readonly #activities: (() => SchedulerActivity)[] = []
  readonly #active = new LingeringSeries()
  readonly #demanded = new LingeringSeries()
  readonly #persistent = new PersistentMetrics(() => this.activities())
  readonly #roots = new RootMetrics(() => this.activities())
  readonly #digests: BoundedValues | undefined
  readonly #instanceNames: BoundedValues | undefined

  constructor({ labelsActionDigests, instanceNames }: ExecutionLabels) {
    this.#instanceNames = instanceNames
    this.#digests = labelsActionDigests ? new BoundedValues(MAX_ACTION_DIGESTS) : undefined
    this.#stages = new Map(STAGES.map((stage) => [stage, new Distribution({ execution_stage: stage }, ACTION_SECONDS)]))
    this.instruments = [
      observed('counter', COMPLETED, () => this.#completions()),
      observed('gauge', ACTIVE, () => this.#here(() => this.#active.settle(this.#counted()))),
      observed('counter', RETRIES, () => [this.#retries]),
      { ...STAGE_DURATION, kind: 'histogram', series: () => this.#stages.values() },
      observed('gauge', DEMAND, () => this.#here(() => this.#demanded.settle(this.#demand()))),
      observed('gauge', OLDEST_QUEUED, () => this.#here(() => this.#oldest())),
      observed('counter', WORKER_EVENTS, () => this.#events.values()),
      observed('gauge', WORKERS, () => this.#here(() => this.#workersByState())),
      observed('gauge', SLOTS, () => this.#here(() => this.#slots())),
      ...this.#persistent.instruments,
      ...this.#roots.instruments,
    ]
  }

  watch(activity: () => SchedulerActivity): void {
    this.#activities.push(activity)
  }

  completed(result: Result, { key }: { readonly key: string }, instanceName = ''): void {
    this.#completed.get(result)?.add()
    if (!this.#isLabelled) return
    const execution_action_digest = this.#digests?.of(key)
    const instance_name = this.#instanceNames?.of(instanceName)
    const id = JSON.stringify([result, execution_action_digest, instance_name])
    const known = this.#labelled.get(id)
    const labels = {
      execution_result: result,
      ...(execution_action_digest !== undefined && { execution_action_digest }),
      ...(instance_name !== undefined && { instance_name }),
    }
    const count = known ?? new Count(labels)
    if (known === undefined) this.#labelled.set(id, count)
    count.add()
  }

  dequeued(waitedMs: number): void {
    this.#took('queued', waitedMs)
  }

  retried(): void {
    this.#retries.add()
  }

  reported(response: ExecuteResponse): void {
    this.#persistent.reported(response)
    const { result } = response
    const times = result?.executionMetadata
    if (times === null || times === undefined) return
    this.#lasted('input_fetch', times.inputFetchStartTimestamp, times.inputFetchCompletedTimestamp)
    this.#lasted('executing', times.executionStartTimestamp, times.executionCompletedTimestamp)
    this.#lasted('output_upload', times.outputUploadStartTimestamp, times.outputUploadCompletedTimestamp)
  }

  worker(event: (typeof EVENTS)[number]): void {
    this.#events.get(event)?.add()
  }

  persistent(events: Parameters<PersistentMetrics['add']>[0]): void {
    this.#persistent.add(events)
  }

  roots(told: Parameters<RootMetrics['add']>[0]): void {
    this.#roots.add(told)
  }

  results(): ReadonlyMap<string, number> {
    return new Map([...this.#completed].map(([result, { value }]) => [result, value]))
  }

  activities(): readonly SchedulerActivity[] {
    return this.#activities.map((activity) => activity())
  }

  countIn(stage: 'queued' | 'executing'): number {
    const active = this.activities().flatMap(({ executions }) => executions)
    return active.reduce((sum, one) => sum + (one.stage === stage ? one.count : 0), 0)
  }

  /** A process without a queue exports none, because the 0 of a forwarding server would hide the queue of its scheduler. */
  #here(readings: () => Iterable<Reading>): Iterable<Reading> {
    return this.#activities.length === 0 ? [] : readings()
  }

  #lasted(stage: string, start: Timestamp | null, end: Timestamp | null): void {
    if (start !== null && end !== null) this.#took(stage, toMs(end) - toMs(start))
  }

  #took(stage: string, ms: number): void {
    this.#stages.get(stage)?.record(Math.max(0, ms) / 1000)
  }

  /**
   * With labels for actions or instances, only the labelled series are exported. Exporting both would count each
   * operation twice.
   */
  #completions(): Iterable<Reading> {
    return this.#isLabelled ? this.#labelled.values() : this.#completed.values()
  }

  get #isLabelled(): boolean {
    return this.#digests !== undefined || this.#instanceNames !== undefined
  }

  #counted(): readonly Reading[] {
    const priorities = new BoundedValues(MAX_PRIORITIES)
    const workers = new BoundedValues(MAX_WORKER_IDS)
    const counts = new Map(NONE_ACTIVE.map((labels) => [JSON.stringify(labels), { labels, value: 0 }]))
    for (const { executions } of this.activities()) {
      for (const { stage, priority, workerId, count } of executions) {
        const labels = {
          execution_stage: stage,
          execution_priority: priorities.of(String(priority)),
          execution_worker_id: workers.of(workerId),
        }
        const key = JSON.stringify(labels)
        const known = counts.get(key) ?? { labels, value: 0 }
        known.value += count
        counts.set(key, known)
      }
    }
    return [...counts.values()]
  }

  #demand(): readonly Reading[] {
    const known = new BoundedValues(MAX_PLATFORMS)
    const counts = new Map<string, Demanded>()
    for (const { properties, queued, running } of this.activities().flatMap(({ demand }) => demand)) {
      const platform = known.of(properties.map(([name, value]) => `${name}=${value}`).join(','))
      const sums = counts.get(platform) ?? { queued: 0, running: 0 }
      counts.set(platform, { queued: sums.queued + queued, running: sums.running + running })
    }
    return [...counts].flatMap(([platform, { queued, running }]) => [
      { labels: { execution_platform: platform, execution_stage: 'queued' }, value: queued },
      { labels: { execution_platform: platform, execution_stage: 'executing' }, value: running },
    ])
  }

  #oldest(): readonly Reading[] {
    const ages = this.activities().map(({ oldestQueuedMs }) => oldestQueuedMs)
    return [{ labels: {}, value: Math.max(0, ...ages) / 1000 }]
  }

  #workersByState(): readonly Reading[] {
    const workers = this.activities().flatMap((activity) => activity.workers)
    return WORKER_STATES.map((worker_state) => ({
      labels: { worker_state },
      value: workers.filter(({ state }) => state === worker_state).length,
    }))
  }

  #slots(): readonly Reading[] {
    const workers = this.activities().flatMap((activity) => activity.workers)
    const limits = workers.filter(({ state }) => state === 'connected').map((worker) => worker.maxInflightAttempts)
    return [{ labels: {}, value: limits.filter(Number.isFinite).reduce((sum, limit) => sum + limit, 0) }]
  }
}

type Demanded = Pick<SchedulerActivity['demand'][number], 'queued' | 'running'>
type Timestamp = Parameters<typeof toMs>[0]

const countsOf = <Value extends string>(label: string, values: readonly Value[]): ReadonlyMap<Value, Count> =>
  new Map(values.map((value) => [value, new Count({ [label]: value })]))

/** Series that are always present, so that an idle queue is reported as 0 instead of missing. */
const NONE_ACTIVE: readonly Labels[] = ['queued', 'executing'].map((execution_stage) => ({
  execution_stage,
  execution_priority: '0',
  execution_worker_id: '',
}))

const COMPLETED: Description = {
  name: 'svc_execution_completed_count_total',
  description: 'Finished operations of clients.',
  unit: '1',
}

const ACTIVE: Description = {
  name: 'svc_execution_active_count',
  description: 'Actions in the queue or at a worker; identical actions that share a run count once.',
  unit: '{action}',
}

const DEMAND: Description = {
  name: 'svc_execution_demand_count',
  description: 'Actions in the queue, and given to workers, by what they ask of a worker; there may be none.',
  unit: '{action}',
}

const RETRIES: Description = {
  name: 'svc_execution_retry_count_total',
  description: 'Attempts that failed and were retried.',
  unit: '1',
}

const STAGE_DURATION: Description = {
  name: 'svc_execution_stage_duration',
  description: 'Time of an action in the queue and in each stage on a worker.',
  unit: 's',
}

const OLDEST_QUEUED: Description = {
  name: 'svc_execution_oldest_queued_age',
  description: 'Age of the oldest action in the queue.',
  unit: 's',
}

const WORKER_EVENTS: Description = {
  name: 'svc_worker_events_total',
  description: 'Workers that connected, disconnected, timed out, said that they are sick, or were set aside.',
  unit: '1',
}

const WORKERS: Description = {
  name: 'svc_worker_count',
  description: 'Workers by state.',
  unit: '{worker}',
}

const SLOTS: Description = {
  name: 'svc_worker_slots',
  description: 'Actions that the connected workers can run at a time; workers without a limit do not count.',
  unit: '{action}',
}
