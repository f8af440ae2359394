import type {
  ChunkUsage,
  MeteredStore,
  OperationMeter,
  StoreMeter,
  StoreOperation,
  StoreResult,
  StoreUsage,
  UploadQueueUsage,
} from '../blobs/meter.js'
import type { BoundedValues } from './bounded-values.js'
import {
  Count,
  type Description,
  Distribution,
  type Instrument,
  LATENCY_SECONDS,
  type Labels,
  observed,
  type Reading,
} from './instrument.js'

const RESULTS = {
  read: ['hit', 'miss', 'error', 'cancelled'],
  lookup: ['hit', 'miss', 'error', 'cancelled'],
  find_missing: ['hit', 'miss', 'error', 'cancelled'],
  write: ['success', 'error', 'cancelled'],
  delete: ['success', 'error', 'cancelled'],
} as const

/** Evictions are counted by the stores and only read here. */
type Counted = keyof typeof RESULTS
type Result = (typeof RESULTS)[Counted][number]

type UsageReader = (usage: StoreUsage) => number | undefined

/** What the stores of one `cache_type` did, for one instance or for all. Each possible series exists from the start. */
class Counters implements StoreMeter {
  readonly operations = new Map<Counted, Map<Result, Count>>()
  readonly bytes: { readonly in: Count; readonly out: Count }
  readonly #durations: ReadonlyMap<Counted, Distribution>

  constructor(labels: Labels, durations: ReadonlyMap<Counted, Distribution>) {
    this.#durations = durations
    for (const [name, results] of Object.entries(RESULTS) as [Counted, readonly Result[]][]) {
      const counts = results.map(
        (result) =>
          [result, new Count({ ...labels, cache_operation_name: name, cache_operation_result: result })] as const,
      )
      this.operations.set(name, new Map(counts))
    }
    this.bytes = {
      in: new Count({ ...labels, cache_io_direction: 'in' }),
      out: new Count({ ...labels, cache_io_direction: 'out' }),
    }
  }

  /** The series of an operation. Results that are impossible for it are not exported. */
  of(operation: Counted): OperationMeter {
    const counts = this.operations.get(operation)
    const duration = this.#durations.get(operation)
    const count = (result: Result): Count => counts?.get(result) ?? new Count({})
    return {
      hit: count('hit'),
      miss: count('miss'),
      success: count('success'),
      error: count('error'),
      cancelled: count('cancelled'),
      took: (ms) => duration?.record(ms / 1000),
    }
  }
}

/** The series of all stores with one `cache_type`. */
export class CacheSeries implements StoreMeter {
  readonly cacheType: string
  readonly stores: MeteredStore[] = []
  /** Of all instances together: a histogram for each would be too many series. */
  readonly durations = new Map<Counted, Distribution>()
  /** Undefined if instances share their counters. */
  readonly ofInstance: ((name: string) => StoreMeter) | undefined
  /** By the label `instance_name`. Work that is for no instance has an empty one. */
  readonly #byInstance = new Map<string, Counters>()
  readonly #ownCounters: Counters

  /** With `instanceNames` each instance has counters of its own. */
  constructor(cacheType: string, instanceNames?: BoundedValues) {
    this.cacheType = cacheType
    for (const name of Object.keys(RESULTS) as Counted[])
      this.durations.set(name, new Distribution({ cache_type: cacheType, cache_operation_name: name }, LATENCY_SECONDS))
    this.ofInstance = instanceNames && ((name) => this.#countersOf(instanceNames.of(name)))
    this.#ownCounters = this.#countersOf(instanceNames?.of(''))
  }

  get counters(): readonly Counters[] {
    return [...this.#byInstance.values()]
  }

  get bytes(): StoreMeter['bytes'] {
    return this.#ownCounters.bytes
  }

  of(operation: Counted): OperationMeter {
    return this.#ownCounters.of(operation)
  }

  /** Of all instances. */
  valueOf(operation: Counted, result: Result): number {
    const values = this.counters.map(({ operations }) => operations.get(operation)?.get(result)?.value ?? 0)
    return values.reduce((sum, value) => sum + value, 0)
  }

  /** Like `valueOf`, and 0 for a result that the operation cannot have. */
  countOf(operation: StoreOperation, result: StoreResult): number {
    return this.valueOf(operation, result as Result)
  }

  /** Bytes of all instances. */
  bytesOf(direction: 'in' | 'out'): number {
    return this.counters.reduce((sum, { bytes }) => sum + bytes[direction].value, 0)
  }

  /** Undefined if no store of this type stores blobs itself or has a value yet. */
  sum(read: UsageReader): number | undefined {
    return sumOf(this.#values(read))
  }

  /** Like `sum`, but the minimum. */
  least(read: UsageReader): number | undefined {
    const values = this.#values(read)
    return values.length === 0 ? undefined : Math.min(...values)
  }

  /** The values of the upload queues of these stores. */
  queued(read: (usage: UploadQueueUsage) => number): readonly number[] {
    return this.stores.flatMap((store) => {
      const usage = store.uploadQueue?.()
      return usage === undefined ? [] : [read(usage)]
    })
  }

  /** Of the stores of chunks; undefined if there is none. */
  get chunks(): ChunkUsage | undefined {
    const usages = this.stores.flatMap((store) => store.chunks?.() ?? [])
    if (usages.length === 0) return undefined
    const sum = (read: (usage: ChunkUsage) => number): number => sumOf(usages.map(read)) ?? 0
    return {
      newBytes: sum(({ newBytes }) => newBytes),
      knownBytes: sum(({ knownBytes }) => knownBytes),
      sentBytes: sum(({ sentBytes }) => sentBytes),
      unsentBytes: sum(({ unsentBytes }) => unsentBytes),
    }
  }

  #countersOf(instance_name: string | undefined): Counters {
    const known = this.#byInstance.get(instance_name ?? '')
    if (known !== undefined) return known
    const labels = { cache_type: this.cacheType, ...(instance_name !== undefined && { instance_name }) }
    const counters = new Counters(labels, this.durations)
    this.#byInstance.set(instance_name ?? '', counters)
    return counters
  }

  #values(read: UsageReader): readonly number[] {
    const values = this.stores.map((store) => store.usage()).map((usage) => usage && read(usage))
    return values.filter((value) => value !== undefined)
  }
}

/** Metrics of all stores by `cache_type`. */
export class StoreMetrics {
  readonly instruments: readonly Instrument[]
  readonly #types = new Map<string, CacheSeries>()
  readonly #instanceNames: BoundedValues | undefined

  /** With `instanceNames` each instance has counters of its own. */
  constructor(instanceNames?: BoundedValues) {
    this.#instanceNames = instanceNames
    this.instruments = [
      observed('counter', OPERATIONS, () => this.all.flatMap(operationsOf)),
      { ...DURATION, kind: 'histogram', series: () => this.all.flatMap(({ durations }) => [...durations.values()]) },
      observed('counter', IO, () => this.#counters.flatMap(({ bytes }) => [bytes.in, bytes.out])),
      ...USAGE.map(({ of, ...description }) => observed('gauge', description, () => this.#usage(of))),
      observed('counter', UPLOADS, () => this.all.flatMap(uploadsOf)),
      observed('counter', CHUNKS, () => this.all.flatMap(chunksOf)),
      observed('counter', BROKEN, () => this.#usage((series) => series.sum(({ promised }) => promised?.brokenCount))),
    ]
  }

  get all(): readonly CacheSeries[] {
    return [...this.#types.values()]
  }

  /** The series of a store. */
  of(store: MeteredStore): CacheSeries {
    const { cacheType } = store
    const series = this.#types.get(cacheType) ?? new CacheSeries(cacheType, this.#instanceNames)
    series.stores.push(store)
    this.#types.set(cacheType, series)
    return series
  }

  get #counters(): readonly Counters[] {
    return this.all.flatMap(({ counters }) => counters)
  }

  #usage(of: (series: CacheSeries) => number | undefined): Reading[] {
    return this.all.flatMap((series) => {
      const value = of(series)
      return value === undefined ? [] : [{ labels: { cache_type: series.cacheType }, value }]
    })
  }
}

const operationsOf = (series: CacheSeries): readonly Reading[] => {
  const counted = series.counters
    .flatMap(({ operations }) => [...operations.values()])
    .flatMap((results) => [...results.values()])
  const labels = { cache_type: series.cacheType, cache_operation_name: 'evict' }
  const evictions = [
    { result: 'success', value: series.sum(({ evictedCount }) => evictedCount) },
    { result: 'error', value: series.sum(({ evictFailureCount }) => evictFailureCount) },
  ].flatMap(({ result, value }) =>
    value === undefined ? [] : [{ labels: { ...labels, cache_operation_result: result }, value }],
  )
  return [...counted, ...evictions]
}

const uploadsOf = (series: CacheSeries): readonly Reading[] => {
  const results = {
    done: series.queued(({ doneCount }) => doneCount),
    retried: series.queued(({ retriedCount }) => retriedCount),
    lost: series.queued(({ lostCount }) => lostCount),
  }
  return Object.entries(results).flatMap(([upload_result, values]) => {
    const labels = { cache_type: series.cacheType, upload_result }
    return values.length === 0 ? [] : [{ labels, value: sumOf(values) ?? 0 }]
  })
}

const chunksOf = ({ cacheType, chunks }: CacheSeries): readonly Reading[] => {
  if (chunks === undefined) return []
  const of = (chunk_source: string, chunk_state: string, value: number): Reading => ({
    labels: { cache_type: cacheType, chunk_source, chunk_state },
    value,
  })
  return [
    of('cut', 'new', chunks.newBytes),
    of('cut', 'known', chunks.knownBytes),
    of('spliced', 'new', chunks.sentBytes),
    of('spliced', 'known', chunks.unsentBytes),
  ]
}

const sumOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value)

const BROKEN: Description = {
  name: 'svc_promises_broken_total',
  description: 'Blobs evicted before their retention had passed, because there was no room.',
  unit: '{blob}',
}

const CHUNKS: Description = {
  name: 'svc_chunk_bytes_total',
  description: 'Bytes of larger blobs by the state of their chunks when a store cut them or a client spliced them.',
  unit: 'By',
}

const UPLOADS: Description = {
  name: 'svc_uploads_behind_total',
  description: 'Uploads to a slow store after they were acknowledged.',
  unit: '{upload}',
}

const OPERATIONS: Description = {
  name: 'svc_cache_operations_total',
  description: 'Blobs that a store read, looked up, wrote, deleted or evicted.',
  unit: '1',
}

const DURATION: Description = {
  name: 'svc_cache_operation_duration',
  description: 'Duration of store operations; for a read, the time until the blob is open.',
  unit: 's',
}

const IO: Description = {
  name: 'svc_cache_io_total',
  description: 'Bytes of blobs written to and read from a store.',
  unit: 'By',
}

const USAGE: readonly (Description & { readonly of: (series: CacheSeries) => number | undefined })[] = [
  {
    ...{ name: 'svc_cache_size', description: 'Used size of a cache.', unit: 'By' },
    of: (series) => series.sum(({ sizeBytes }) => sizeBytes),
  },
  {
    ...{ name: 'svc_cache_max_size', description: 'Size above which a cache evicts.', unit: 'By' },
    of: (series) => series.sum(({ maxBytes }) => maxBytes),
  },
  {
    ...{ name: 'svc_cache_entries', description: 'Blobs in a cache.', unit: '{entry}' },
    of: (series) => series.sum(({ entryCount }) => entryCount),
  },
  {
    ...{ name: 'svc_disk_free', description: 'Free space of the file system of a store.', unit: 'By' },
    of: (series) => series.least(({ diskFreeBytes }) => diskFreeBytes),
  },
  {
    name: 'svc_cache_evicted_age',
    description: 'Idle time of the last evicted blob, which is the effective retention; the minimum of several stores.',
    unit: 's',
    of: (series) => series.least(({ lastEvictedIdleMs: ms }) => (ms === undefined ? undefined : ms / 1000)),
  },
  {
    name: 'svc_retention',
    description: 'How long a store promises to keep a blob after its last use; compare svc_cache_evicted_age.',
    unit: 's',
    of: (series) => series.least(({ promised }) => promised && promised.retentionMs / 1000),
  },
  {
    ...{ name: 'svc_promised_size', description: 'Bytes used within the retention of a store.', unit: 'By' },
    of: (series) => series.sum(({ promised }) => promised?.promisedBytes),
  },
  {
    ...{ name: 'svc_leased_size', description: 'Bytes that live builds hold, whenever they used them.', unit: 'By' },
    of: (series) => series.sum(({ promised }) => promised?.heldBytes),
  },
  {
    name: 'svc_upload_queue_entries',
    description: 'Acknowledged blobs that wait for a slow store.',
    unit: '{entry}',
    of: (series) => sumOf(series.queued(({ entryCount }) => entryCount)),
  },
  {
    ...{ name: 'svc_upload_queue_size', description: 'Bytes that wait for a slow store.', unit: 'By' },
    of: (series) => sumOf(series.queued(({ sizeBytes }) => sizeBytes)),
  },
  {
    ...{ name: 'svc_upload_queue_age', description: 'How long the oldest upload has been waiting.', unit: 's' },
    of: (series) => {
      const ages = series.queued(({ oldestAgeMs }) => oldestAgeMs)
      return ages.length === 0 ? undefined : Math.max(...ages) / 1000
    },
  },
]
