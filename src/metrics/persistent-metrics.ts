import { unpack } from '../proto/any.js'
import { codec } from '../proto/codec.js'
import type { ExecuteResponse } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../proto/time.js'
import type { SchedulerActivity, SchedulerMeter } from '../scheduler/simple/meter.js'
import { BoundedValues } from './bounded-values.js'
import {
  ACTION_SECONDS,
  Count,
  type Description,
  Distribution,
  type Instrument,
  observed,
  type Reading,
} from './instrument.js'

type Events = Parameters<SchedulerMeter['persistent']>[0]

const processCodec = codec('remexec.worker.v1.PersistentWorker')
const PACKED = `type.googleapis.com/${processCodec.typeName}`

/** Reasons are words of workers, which may be of another release. */
const MAX_REASONS = 40
const REQUESTS = ['reused', 'started', 'retried'] as const
const TURNS = ['first', 'later'] as const

/** What the workers of all schedulers tell of their persistent workers. */
export class PersistentMetrics {
  readonly instruments: readonly Instrument[]
  readonly #requests = new Map(REQUESTS.map((kind) => [kind, new Count({ persistent_request: kind })]))
  readonly #fallbacks = new Reasons()
  readonly #ends = new Reasons()
  readonly #durations = new Map(
    TURNS.map((turn) => [turn, new Distribution({ persistent_turn: turn }, ACTION_SECONDS)]),
  )

  /** `here`: whether this process has a queue, and its workers. */
  constructor(here: () => readonly SchedulerActivity[]) {
    const workers = () => here().flatMap((activity) => activity.workers)
    const sum = (of: 'idle' | 'busy' | 'residentBytes'): number =>
      workers().reduce((total, { persistent }) => total + (persistent?.[of] ?? 0), 0)
    const present = (readings: () => readonly Reading[]): readonly Reading[] => (here().length === 0 ? [] : readings())
    this.instruments = [
      observed('counter', REQUEST_COUNT, () => this.#requests.values()),
      observed('counter', FALLBACKS, () => this.#fallbacks.counts),
      observed('counter', ENDS, () => this.#ends.counts),
      observed('gauge', PROCESSES, () =>
        present(() =>
          (['idle', 'busy'] as const).map((state) => ({ labels: { persistent_state: state }, value: sum(state) })),
        ),
      ),
      observed('gauge', RESIDENT, () => present(() => [{ labels: {}, value: sum('residentBytes') }])),
      { ...DURATION, kind: 'histogram', series: () => this.#durations.values() },
    ]
  }

  add(events: Events): void {
    for (const { kind, reason, count } of events) {
      if (kind === 'fell_back') this.#fallbacks.add(reason, count)
      else if (kind === 'ended') this.#ends.add(reason, count)
      else this.#requests.get(kind)?.add(count)
    }
  }

  /** The time of a request, if the action was one. */
  reported({ result }: ExecuteResponse): void {
    const times = result?.executionMetadata
    const packed = times?.auxiliaryMetadata.find(({ typeUrl }) => typeUrl === PACKED)
    if (packed === undefined || !times?.executionStartTimestamp || !times.executionCompletedTimestamp) return
    const { request } = unpack(processCodec, packed)
    const ms = toMs(times.executionCompletedTimestamp) - toMs(times.executionStartTimestamp)
    this.#durations.get(request > 1 ? 'later' : 'first')?.record(Math.max(0, ms) / 1000)
  }
}

class Reasons {
  readonly #known = new BoundedValues(MAX_REASONS)
  readonly #counts = new Map<string, Count>()

  get counts(): Iterable<Count> {
    return this.#counts.values()
  }

  add(word: string, by: number): void {
    const reason = this.#known.of(word)
    const count = this.#counts.get(reason) ?? new Count({ reason })
    this.#counts.set(reason, count)
    count.add(by)
  }
}

const REQUEST_COUNT: Description = {
  name: 'svc_persistent_worker_requests_total',
  description:
    'Processes that workers started for tools that stay up, requests to such that had others before, and requests made again after a fault.',
  unit: '{request}',
}

const FALLBACKS: Description = {
  name: 'svc_persistent_worker_fallbacks_total',
  description: 'Actions that asked for a persistent worker and ran as they stand, by reason.',
  unit: '{action}',
}

const ENDS: Description = {
  name: 'svc_persistent_worker_ends_total',
  description: 'Persistent worker processes that ended, by reason.',
  unit: '{process}',
}

const PROCESSES: Description = {
  name: 'svc_persistent_worker_count',
  description: 'Persistent worker processes of the connected workers, with and without a request.',
  unit: '{process}',
}

const RESIDENT: Description = {
  name: 'svc_persistent_worker_resident_memory',
  description: 'Resident memory of all persistent worker processes of the connected workers.',
  unit: 'By',
}

const DURATION: Description = {
  name: 'svc_persistent_worker_request_duration',
  description: 'Time of requests to persistent workers: the first of a process, with its start, and later ones.',
  unit: 's',
}
