import type { Clock } from '../../base/clock.js'
import { memoryUsage } from '../../base/memory-usage.js'
import type { Metrics } from '../../metrics/metrics.js'
import type { CacheSeries } from '../../metrics/store-metrics.js'

const PERIOD_MS = 30_000
const MAX_SAMPLES = 120
/** Of the shorter periods; a day in 120 samples. */
const LONG_PERIODS = 24

/** What happened in one period. */
export interface Sample {
  readonly atMs: number
  readonly bytesPerSecond: number
  /** Of one core. */
  readonly cpuPercent: number
  /** Undefined if no descriptor was free to read it. */
  readonly residentBytes: number | undefined
  readonly queued: number
  readonly executing: number
  /** Of all stores that clients use themselves; undefined if nothing was read. */
  readonly hitPercent: number | undefined
  /** Of each of these stores, by its `cache_type`. */
  readonly stores: ReadonlyMap<string, StoreSample>
}

export interface StoreSample {
  /** 0 to 100; undefined if nothing was read. */
  readonly hitPercent: number | undefined
  readonly sizeBytes: number | undefined
}

interface StoreTotals {
  readonly hits: number
  readonly reads: number
  readonly bytes: number
  readonly sizeBytes: number | undefined
}

interface Totals {
  readonly stores: ReadonlyMap<string, StoreTotals>
  readonly cpuMs: number
}

export type Span = 'hour' | 'day'

/** The last hour and the last day in 120 samples each, in memory. A restart forgets them. */
export class Trends {
  readonly #metrics: Metrics
  readonly #clock: Clock
  readonly #stop: () => void
  readonly #windows: Readonly<Record<Span, Window>>
  #ticks = 0

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics
    this.#clock = clock
    const now = totalsOf(metrics)
    this.#windows = { hour: new Window(PERIOD_MS, now), day: new Window(PERIOD_MS * LONG_PERIODS, now) }
    this.#stop = clock.every(PERIOD_MS, () => this.#take())
  }

  close(): void {
    this.#stop()
  }

  /** The oldest first. */
  samples(span: Span): readonly Sample[] {
    return this.#windows[span].samples
  }

  #take(): void {
    this.#ticks += 1
    const now = totalsOf(this.#metrics)
    const state = { atMs: this.#clock.now(), residentBytes: memoryUsage().residentBytes, ...activeIn(this.#metrics) }
    this.#windows.hour.take(now, state)
    if (this.#ticks % LONG_PERIODS === 0) this.#windows.day.take(now, state)
  }
}

type State = Pick<Sample, 'atMs' | 'residentBytes' | 'queued' | 'executing'>

class Window {
  readonly #periodMs: number
  #before: Totals
  samples: readonly Sample[] = []

  constructor(periodMs: number, now: Totals) {
    this.#periodMs = periodMs
    this.#before = now
  }

  take(now: Totals, state: State): void {
    const { stores: before, cpuMs } = this.#before
    const deltas = [...now.stores].map(([name, { hits, reads, bytes, sizeBytes }]) => {
      const was = before.get(name) ?? { hits: 0, reads: 0, bytes: 0 }
      return { name, hits: hits - was.hits, reads: reads - was.reads, bytes: bytes - was.bytes, sizeBytes }
    })
    const sum = (of: (delta: (typeof deltas)[number]) => number): number =>
      deltas.reduce((total, delta) => total + of(delta), 0)
    const sample: Sample = {
      ...state,
      hitPercent: percentOf(
        sum(({ hits }) => hits),
        sum(({ reads }) => reads),
      ),
      bytesPerSecond: (sum(({ bytes }) => bytes) * 1000) / this.#periodMs,
      cpuPercent: (100 * (now.cpuMs - cpuMs)) / this.#periodMs,
      stores: new Map(
        deltas.map(({ name, hits, reads, sizeBytes }) => [name, { hitPercent: percentOf(hits, reads), sizeBytes }]),
      ),
    }
    this.#before = now
    this.samples = [...this.samples.slice(1 - MAX_SAMPLES), sample]
  }
}

const percentOf = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : (100 * part) / whole)

/** Whether clients use the store itself: a store inside another one would be counted twice. */
export const isOuter = ({ cacheType }: Pick<CacheSeries, 'cacheType'>): boolean => !cacheType.includes('/')

const totalsOf = (metrics: Metrics): Totals => {
  const stores = metrics.stores.all.filter(isOuter).map((series): [string, StoreTotals] => {
    const hits = series.valueOf('read', 'hit')
    const reads = hits + series.valueOf('read', 'miss')
    const bytes = series.bytesOf('in') + series.bytesOf('out')
    return [series.cacheType, { hits, reads, bytes, sizeBytes: sizeOf(series, metrics) }]
  })
  const { user, system } = process.cpuUsage()
  return { stores: new Map(stores), cpuMs: (user + system) / 1000 }
}

/** What the store keeps; of one that only joins others, what these keep. */
const sizeOf = (series: CacheSeries, metrics: Metrics): number | undefined => {
  const own = series.sum(({ sizeBytes }) => sizeBytes)
  if (own !== undefined) return own
  const inner = metrics.stores.all.filter(({ cacheType }) => cacheType.startsWith(`${series.cacheType}/`))
  const sizes = inner.map((one) => one.sum(({ sizeBytes }) => sizeBytes)).filter((size) => size !== undefined)
  return sizes.length === 0 ? undefined : Math.max(...sizes)
}

const activeIn = ({ executions }: Metrics): Pick<Sample, 'queued' | 'executing'> => ({
  queued: executions.countIn('queued'),
  executing: executions.countIn('executing'),
})
