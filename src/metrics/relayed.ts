import { Code } from '../base/status-error.js'
import type { StoreOperation, StoreResult } from '../blobs/meter.js'
import { CallMetrics } from './call-metrics.js'
import type { Distribution } from './instrument.js'
import type { Metrics } from './metrics.js'
import { StoreMetrics } from './store-metrics.js'

type Recorded = Pick<Distribution, 'counts' | 'count' | 'sum'>

/** What a thread has counted since it last told. */
export interface MetricChanges {
  readonly operations: readonly (readonly [cacheType: string, StoreOperation, StoreResult, amount: number])[]
  readonly durations: readonly (readonly [cacheType: string, StoreOperation, Recorded])[]
  readonly bytes: readonly (readonly [cacheType: string, 'in' | 'out', amount: number])[]
  readonly calls: readonly (readonly [path: string, code: number, Recorded])[]
}

const OPERATIONS: readonly StoreOperation[] = ['read', 'lookup', 'find_missing', 'write', 'delete']
const RESULTS: readonly StoreResult[] = ['hit', 'miss', 'success', 'error', 'cancelled']

/** Counts in a service thread, for the metrics of the owner. Without series for single instances. */
export class RelayedMetrics {
  readonly stores = new StoreMetrics()
  readonly calls = new CallMetrics()
  readonly #told = new Map<string, number>()
  readonly #toldDurations = new Map<string, Recorded>()

  /** What was counted since the last call; undefined if nothing was. */
  take(): MetricChanges | undefined {
    const types = this.stores.all
    const operations = types.flatMap((series) =>
      OPERATIONS.flatMap((operation) =>
        RESULTS.flatMap((result) => {
          const amount = this.#more(`${series.cacheType} ${operation} ${result}`, series.countOf(operation, result))
          return amount === 0 ? [] : [[series.cacheType, operation, result, amount] as const]
        }),
      ),
    )
    const bytes = types.flatMap((series) =>
      (['in', 'out'] as const).flatMap((direction) => {
        const amount = this.#more(`${series.cacheType} ${direction}`, series.bytesOf(direction))
        return amount === 0 ? [] : [[series.cacheType, direction, amount] as const]
      }),
    )
    const durations = types.flatMap((series) =>
      OPERATIONS.flatMap((operation) => {
        const recorded = this.#moreOf(`${series.cacheType} ${operation}`, series.durations.get(operation))
        return recorded === undefined ? [] : [[series.cacheType, operation, recorded] as const]
      }),
    )
    const calls = this.calls.all().flatMap((series) => {
      const { rpc_service = '', rpc_method = '', rpc_code = '' } = series.labels
      const path = `/${rpc_service}/${rpc_method}`
      const recorded = this.#moreOf(`${path} ${rpc_code}`, series)
      return recorded === undefined ? [] : [[path, Code[rpc_code as keyof typeof Code] ?? Code.OK, recorded] as const]
    })
    const isEmpty = operations.length + bytes.length + durations.length + calls.length === 0
    return isEmpty ? undefined : { operations, durations, bytes, calls }
  }

  #more(key: string, value: number): number {
    const more = value - (this.#told.get(key) ?? 0)
    this.#told.set(key, value)
    return more
  }

  #moreOf(key: string, series: Recorded | undefined): Recorded | undefined {
    const told = this.#toldDurations.get(key) ?? { counts: [], count: 0, sum: 0 }
    if (series === undefined || series.count === told.count) return undefined
    const { counts, count, sum } = series
    this.#toldDurations.set(key, { counts: [...counts], count, sum })
    return {
      counts: counts.map((value, bucket) => value - (told.counts[bucket] ?? 0)),
      count: count - told.count,
      sum: sum - told.sum,
    }
  }
}

/** Adds what a thread has counted. */
export const addChanges = ({ stores, calls }: Pick<Metrics, 'stores' | 'calls'>, changes: MetricChanges): void => {
  const types = new Map(stores.all.map((series) => [series.cacheType, series]))
  for (const [type, operation, result, amount] of changes.operations) types.get(type)?.of(operation)[result].add(amount)
  for (const [type, direction, amount] of changes.bytes) types.get(type)?.bytes[direction].add(amount)
  for (const [type, operation, recorded] of changes.durations) types.get(type)?.durations.get(operation)?.add(recorded)
  for (const [path, code, recorded] of changes.calls) calls.of(path).endedElsewhere(code, recorded)
}
