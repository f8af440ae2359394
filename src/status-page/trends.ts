import type { Clock } from '../base/clock.js'
import { countText, sizeText } from '../base/quantities.js'
import type { Metrics } from '../metrics/metrics.js'
import type { CacheSeries } from '../metrics/store-metrics.js'
import { escaped } from './html.js'

const PERIOD_MS = 30_000
/** An hour. */
const MAX_SAMPLES = 120

interface Totals {
  readonly hits: number
  readonly reads: number
  readonly bytes: number
  readonly cpuMs: number
}

/** What happened in one period. */
interface Sample {
  /** 0 to 100; undefined if nothing was read. */
  readonly hitPercent: number | undefined
  readonly bytesPerSecond: number
  /** Of one core. */
  readonly cpuPercent: number
  readonly queued: number
}

/** The last hour in samples of half a minute, in memory. A restart forgets it. */
export class Trends {
  readonly #metrics: Metrics
  readonly #stop: () => void
  #samples: readonly Sample[] = []
  #before: Totals

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics
    this.#before = totalsOf(metrics)
    this.#stop = clock.every(PERIOD_MS, () => this.#take())
  }

  close(): void {
    this.#stop()
  }

  /** Pictures of the last hour; empty before the second sample. */
  pictures(hasScheduler: boolean): string {
    const samples = this.#samples
    if (samples.length < 2) return ''
    const pictures = [
      picture(
        'Hit rate',
        samples.map(({ hitPercent }) => hitPercent),
        percent,
      ),
      picture(
        'Bytes in and out',
        samples.map(({ bytesPerSecond }) => bytesPerSecond),
        (value) => `${sizeText(value)}/s`,
      ),
      picture(
        'CPU',
        samples.map(({ cpuPercent }) => cpuPercent),
        percent,
      ),
      hasScheduler
        ? picture(
            'Queued actions',
            samples.map(({ queued }) => queued),
            countText,
          )
        : '',
    ]
    return `<ul class="numbers">${pictures.join('')}</ul>`
  }

  #take(): void {
    const now = totalsOf(this.#metrics)
    const { hits, reads, bytes, cpuMs } = this.#before
    const readCount = now.reads - reads
    const sample: Sample = {
      hitPercent: readCount === 0 ? undefined : (100 * (now.hits - hits)) / readCount,
      bytesPerSecond: ((now.bytes - bytes) * 1000) / PERIOD_MS,
      cpuPercent: (100 * (now.cpuMs - cpuMs)) / PERIOD_MS,
      queued: queuedIn(this.#metrics),
    }
    this.#before = now
    this.#samples = [...this.#samples.slice(1 - MAX_SAMPLES), sample]
  }
}

const percent = (value: number): string => `${Math.round(value)} %`

/** Whether clients use the store itself: a store inside another one would be counted twice. */
export const isOuter = ({ cacheType }: CacheSeries): boolean => !cacheType.includes('/')

const totalsOf = (metrics: Metrics): Totals => {
  const stores = metrics.stores.all.filter(isOuter)
  const sum = (of: (series: CacheSeries) => number): number => stores.reduce((total, one) => total + of(one), 0)
  const hits = sum((series) => series.valueOf('read', 'hit'))
  const { user, system } = process.cpuUsage()
  return {
    hits,
    reads: hits + sum((series) => series.valueOf('read', 'miss')),
    bytes: sum((series) => series.bytesOf('in') + series.bytesOf('out')),
    cpuMs: (user + system) / 1000,
  }
}

const queuedIn = ({ executions }: Metrics): number =>
  executions.activities().reduce((sum, activity) => {
    return sum + [...activity.executions].filter(({ stage }) => stage === 'queued').length
  }, 0)

const WIDTH = 240
const HEIGHT = 40

/** A line from the oldest value to the newest, from zero to the largest value. Gaps where there is no value. */
const picture = (title: string, values: readonly (number | undefined)[], text: (value: number) => string): string => {
  const known = values.filter((value) => value !== undefined)
  const most = Math.max(0, ...known)
  const last = known.at(-1)
  let isDrawing = false
  const path = values.map((value, at) => {
    if (value === undefined) {
      isDrawing = false
      return ''
    }
    const x = (WIDTH * (MAX_SAMPLES - values.length + at)) / (MAX_SAMPLES - 1)
    const y = HEIGHT - 2 - (most === 0 ? 0 : ((HEIGHT - 4) * value) / most)
    const step = `${isDrawing ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`
    isDrawing = true
    return step
  })
  const label = `${title}, peak ${known.length === 0 ? '–' : text(most)}`
  return `<li class="trend" title="the last hour"><b>${last === undefined ? '–' : escaped(text(last))}</b>${escaped(label)}
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${escaped(label)}"><path d="${path.join('')}"/></svg></li>`
}
