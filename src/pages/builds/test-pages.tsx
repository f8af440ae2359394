import { counted, countText, shareText } from '../../base/quantities.js'
import { lastRuns, type PastRun, type PastTest } from '../../builds/history/test-history.js'
import type { Page, Visit } from '../page.js'
import { msData, textData, timeData } from '../parts/data.js'
import { mappedInTurns, sortedInTurns } from '../parts/in-turns.js'
import { Said, saidText } from '../parts/said.js'
import { Ago, durationText, Mark } from '../parts/small.js'
import { type Column, Pager, paged, pagedData, sortedRows, Table } from '../parts/table.js'
import { READ_BUILDS } from './row.js'
import type { BuildPagesParts } from './seen.js'

const DAYS = 30
const FLAKIEST = 10

/** How often a test did not pass at once. */
const flakyShare = ({ runs, flaky }: PastTest): number => (runs === 0 ? 0 : flaky / runs)

/** Tests over builds: how often each failed or was flaky, and its last runs. `?label=` finds some. */
export const testHistoryPage = ({ builds }: BuildPagesParts): Page => ({
  address: /^tests$/,
  show: async (visit) => {
    const all = await mappedInTurns((await builds?.tests.all()) ?? [], (test) =>
      visit.may(READ_BUILDS, test.instance) ? test : undefined,
    )
    const wanted = (visit.query.get('label') ?? '').trim().toLowerCase()
    const found = wanted === '' ? all : all.filter(({ label }) => label.toLowerCase().includes(wanted))
    const columns = columnsOf(visit)
    const { rows, sorting } = await sortedRows(found, columns, visit, '-failed')
    const page = paged(rows, visit)
    const byShare = await sortedInTurns(
      all.filter(({ flaky }) => flaky > 0),
      (a, b) => flakyShare(b) - flakyShare(a) || b.flaky - a.flaky,
    )
    const flakiest = byShare.slice(0, FLAKIEST)
    if (visit.isForProgram) {
      const data = { ...pagedData(page), days: DAYS, flakiest: flakiest.map(testData), tests: page.rows.map(testData) }
      return { title: 'Tests', body: null, data }
    }
    const body = (
      <>
        <h1>Tests</h1>
        <p class="dim">{`Runs of the last ${DAYS} days.`}</p>
        {flakiest.length > 0 && wanted === '' && (
          <>
            <h2>The flakiest</h2>
            <Table caption={counted(flakiest.length, 'test')} columns={columns} rows={flakiest} none="" />
          </>
        )}
        {flakiest.length > 0 && wanted === '' && <h2>All</h2>}
        <form class="search" method="get" action={visit.to('tests')}>
          <label>
            Test
            <input name="label" value={visit.query.get('label') ?? ''} size={30} />
          </label>
          <button type="submit">Filter</button>
        </form>
        <Table
          caption={counted(found.length, 'test')}
          {...{ columns, rows: page.rows, none: 'No finished build had tests.', visit, sorting }}
        />
        <Pager of={page} visit={visit} />
      </>
    )
    return { title: 'Tests', body }
  },
})

const columnsOf = (visit: Visit): readonly Column<PastTest>[] => [
  {
    head: 'Test',
    kind: 'name',
    cell: ({ label, scope }) => (
      <>
        <Said text={label} />
        {scope !== undefined && (
          <span class="under">
            <Said text={`scope ${scope}`} />
          </span>
        )}
      </>
    ),
    sort: 'label',
    by: ({ label }) => label,
  },
  { head: 'Runs', kind: 'number', cell: ({ runs }) => countText(runs), sort: 'runs', by: ({ runs }) => runs },
  {
    head: 'Failed',
    kind: 'number',
    cell: ({ failed, runs }) =>
      failed === 0 ? '–' : <Mark tone="bad">{`${countText(failed)} (${shareText(failed, runs)})`}</Mark>,
    sort: 'failed',
    by: ({ failed }) => failed,
  },
  {
    head: 'Flaky',
    kind: 'number',
    cell: (test) =>
      test.flaky === 0 ? (
        '–'
      ) : (
        <Mark tone="warn">{`${countText(test.flaky)} (${shareText(test.flaky, test.runs)})`}</Mark>
      ),
    sort: 'flaky',
    by: flakyShare,
  },
  {
    head: 'Median',
    kind: 'number',
    cell: (test) => durationText(medianOf(lastRuns(test))),
    sort: 'median',
    by: (test) => medianOf(lastRuns(test)),
  },
  { head: 'Last runs', kind: 'text', cell: (test) => <Runs of={test} visit={visit} /> },
  {
    head: 'Last',
    cell: ({ last }) => <Ago ms={last.at(-1)?.atMs ?? 0} nowMs={visit.nowMs} />,
    sort: 'last',
    by: ({ last }) => last.at(-1)?.atMs,
  },
]

const medianOf = (runs: readonly PastRun[]): number =>
  runs.map(({ tookMs }) => tookMs).sort((a, b) => a - b)[Math.floor(runs.length / 2)] ?? 0

const TONES: Readonly<Record<string, string>> = { passed: 'good', flaky: 'warn' }

/** A square for each run, the newest on the right. The columns beside it say the same in numbers. */
const Runs = ({ of, visit }: { readonly of: PastTest; readonly visit: Visit }) => {
  const runs = lastRuns(of)
  return (
    <svg class="runs" viewBox={`0 0 ${Math.max(1, runs.length) * 8} 12`} aria-hidden="true" width={runs.length * 8}>
      {runs.map(({ id, status, tookMs }, at) => (
        <a href={visit.to(`invocation/${id}`, { instance: of.instance, scope: of.scope })} tabIndex={-1}>
          <rect class={TONES[status] ?? 'bad'} x={at * 8} width="6" height="12">
            <title>{saidText(`${status}, ${durationText(tookMs)}`)}</title>
          </rect>
        </a>
      ))}
    </svg>
  )
}

const testData = (test: PastTest): object => {
  const runs = lastRuns(test)
  const last = runs.at(-1)
  return {
    scope: textData(test.scope),
    ...{ label: textData(test.label), runs: test.runs, failed: test.failed, flaky: test.flaky },
    flakyShare: flakyShare(test),
    lastStatus: last?.status,
    lastAt: timeData(last?.atMs),
    medianMs: msData(medianOf(runs)),
    history: runs.map(({ atMs, status, tookMs, id, branch }) => ({
      ...{ at: timeData(atMs), status, tookMs: msData(tookMs), invocation: id },
      branch: textData(branch),
    })),
  }
}
