import { counted, countText, shareText } from '../../base/quantities.js'
import type { Kept } from '../../builds/entry.js'
import { outcomeOf } from '../../builds/summary.js'
import type { Page } from '../page.js'
import { Chart } from '../parts/chart.js'
import { msData, textData } from '../parts/data.js'
import { mappedInTurns } from '../parts/in-turns.js'
import { Said } from '../parts/said.js'
import { durationText, Tabs } from '../parts/small.js'
import { type Column, Table } from '../parts/table.js'
import { History, lastBuilds } from './history.js'
import { READ_BUILDS, rowOf, tookMsOf } from './row.js'
import type { BuildPagesParts } from './seen.js'

const DAY_MS = 86_400_000
const DAYS = 30
const MAX_GROUPS = 50
/** Times of builds of which the median is taken. */
const MAX_TIMES = 2000

/** What builds have in common. */
const FIELDS = ['user', 'branch', 'host'] as const

/** Builds of one day, or of one user, branch or host. */
class Sum {
  builds = 0
  ended = 0
  passed = 0
  hits = 0
  misses = 0
  executions = 0
  runMs = 0
  readonly #times: number[] = []

  take({ summary, isOpen }: Kept): void {
    const outcome = outcomeOf(summary, isOpen)
    this.builds += 1
    if (outcome !== 'running') this.ended += 1
    if (outcome === 'succeeded') this.passed += 1
    this.hits += summary.own?.hits ?? 0
    this.misses += summary.own?.misses ?? 0
    this.executions += summary.ownExecutions
    this.runMs += summary.ownRunMs
    const tookMs = tookMsOf(summary)
    if (tookMs !== undefined && this.#times.length < MAX_TIMES) this.#times.push(tookMs)
  }

  get medianMs(): number | undefined {
    return [...this.#times].sort((a, b) => a - b)[Math.floor(this.#times.length / 2)]
  }

  /** What hits would have run, if they are like the executions of the same builds; undefined if none ran. */
  get savedMs(): number | undefined {
    return this.executions === 0 ? undefined : (this.hits * this.runMs) / this.executions
  }
}

/** Builds by day, and by `?by=` user, branch or host: how many, how they went, what the caches saved. */
export const trendPage = ({ builds, live }: BuildPagesParts): Page => ({
  address: /^trends$/,
  show: async (visit) => {
    const by = FIELDS.find((field) => field === visit.query.get('by')) ?? 'user'
    const days = new Map<string, Sum>()
    const groups = new Map<string, Sum>()
    const fromMs = visit.nowMs - DAYS * DAY_MS
    await mappedInTurns(builds?.list() ?? [], (kept) => {
      const { about, startedMs = about.startedMs, [by]: name = '' } = kept.summary
      if (startedMs < fromMs || startedMs > visit.nowMs + DAY_MS || !visit.may(READ_BUILDS, about.instance))
        return undefined
      sumIn(days, dayOf(startedMs)).take(kept)
      sumIn(groups, groups.size < 10_000 || groups.has(name) ? name : '').take(kept)
      return undefined
    })
    const byDay = [...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, sum]) => ({ day, sum }))
    const largest = [...groups].map(([name, sum]) => ({ name, sum })).sort((a, b) => b.sum.builds - a.sum.builds)
    if (visit.isForProgram) {
      const data = {
        days: byDay.map(({ day, sum }) => ({
          day,
          failed: sum.ended - sum.passed,
          ...sumData(sum),
          savedMs: msData(sum.savedMs),
        })),
        by,
        groups: largest.slice(0, MAX_GROUPS).map(({ name, sum }) => ({ name: textData(name) ?? '', ...sumData(sum) })),
      }
      return { title: 'Trends', body: null, data }
    }
    const rows = (builds?.list() ?? []).filter(({ summary }) => visit.may(READ_BUILDS, summary.about.instance))
    const last = await lastBuilds(await mappedInTurns(rows, (kept) => rowOf(kept, live)))
    const points = (value: (sum: Sum) => number | undefined) =>
      everyDay(visit.nowMs).map((atMs) => {
        const sum = days.get(dayOf(atMs))
        return { atMs, value: sum && value(sum) }
      })
    const rate = ({ hits, misses }: Sum) => (hits + misses === 0 ? undefined : (100 * hits) / (hits + misses))
    const body = (
      <>
        <h1>Trends</h1>
        <p class="dim">{`Builds of the last ${DAYS} days, by day in UTC. Hits are those that this server counted.`}</p>
        <ul class="charts">
          <Chart title="builds a day" points={points(({ builds: count }) => count)} text={countText} />
          <Chart title="from cache" points={points(rate)} text={(value) => `${value.toFixed(1)} %`} top={100} />
          <Chart title="median time of a build" points={points(({ medianMs }) => medianMs)} text={durationText} />
          <Chart title="time that hits saved, about" points={points(({ savedMs }) => savedMs)} text={durationText} />
        </ul>
        <History of={last} visit={visit} />
        <Table
          caption={counted(byDay.length, 'day')}
          columns={DAY_COLUMNS}
          rows={[...byDay].reverse()}
          none="No builds yet."
        />
        <Tabs
          label="Group by"
          of={FIELDS.map((field) => ({
            title: `By ${field}`,
            link: visit.here({ by: field === 'user' ? undefined : field }),
            isCurrent: field === by,
          }))}
        />
        <Table
          caption={
            largest.length > MAX_GROUPS
              ? `The ${MAX_GROUPS} with most builds of ${countText(largest.length)}`
              : `Builds by ${by}`
          }
          columns={GROUP_COLUMNS}
          rows={largest.slice(0, MAX_GROUPS)}
          none="No builds yet."
        />
      </>
    )
    return { title: 'Trends', body }
  },
})

const sumIn = (sums: Map<string, Sum>, key: string): Sum => {
  const known = sums.get(key) ?? new Sum()
  sums.set(key, known)
  return known
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const everyDay = (nowMs: number): readonly number[] =>
  Array.from({ length: DAYS }, (_, at) => nowMs - (DAYS - 1 - at) * DAY_MS)

const sumData = (sum: Sum): object => ({
  ...{ builds: sum.builds, passed: sum.passed, hits: sum.hits, misses: sum.misses },
  medianMs: msData(sum.medianMs),
})

interface Row {
  readonly sum: Sum
}

const COUNTS: readonly Column<Row>[] = [
  { head: 'Builds', kind: 'number', cell: ({ sum }) => countText(sum.builds) },
  { head: 'Succeeded', kind: 'number', cell: ({ sum }) => shareText(sum.passed, sum.ended) },
  {
    head: 'Median time',
    kind: 'number',
    cell: ({ sum: { medianMs: ms } }) => (ms === undefined ? '–' : durationText(ms)),
  },
  { head: 'Hits', kind: 'number', cell: ({ sum }) => countText(sum.hits) },
  { head: 'From cache', kind: 'number', cell: ({ sum }) => shareText(sum.hits, sum.hits + sum.misses) },
  {
    head: 'Saved, about',
    kind: 'number',
    cell: ({ sum: { savedMs: ms } }) => (ms === undefined ? '–' : durationText(ms)),
  },
]

const DAY_COLUMNS: readonly Column<Row & { readonly day: string }>[] = [
  { head: 'Day', kind: 'name', cell: ({ day }) => day },
  ...COUNTS,
]

const GROUP_COLUMNS: readonly Column<Row & { readonly name: string }>[] = [
  { head: 'Name', kind: 'name', cell: ({ name }) => <Said text={name || 'not said'} max={120} /> },
  ...COUNTS,
]
