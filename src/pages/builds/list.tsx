import type { ComponentChild } from 'preact'
import { counted, countText, shareText } from '../../base/quantities.js'
import { ANONYMOUS, type Page, type Visit } from '../page.js'
import { Share } from '../parts/chart.js'
import { Said } from '../parts/said.js'
import { Ago, Duration, Mark } from '../parts/small.js'
import { type Column, Pager, paged, pagedData, sortedRows, Table } from '../parts/table.js'
import { buildData } from './data.js'
import { dayOf, daysOf } from './days.js'
import { Summary, sumsOf } from './history.js'
import { OutcomeMark } from './outcome.js'
import type { BuildRow } from './row.js'
import { found, SearchForm } from './search.js'

const MAX_SHOWN = 160
const ROWS = 'list'

const whatOf = ({ command, patterns, name = '' }: BuildRow): string =>
  [command, ...patterns].filter(Boolean).join(' ') || name

/** What tells the build of an id from that of another instance or scope. */
const addressOf = ({ instance, scope }: BuildRow): Record<string, string> => ({
  instance,
  ...(scope !== undefined && { scope }),
})

const columnsOf = (visit: Visit): readonly Column<BuildRow>[] => [
  {
    head: 'Outcome',
    cell: ({ outcome }) => <OutcomeMark of={outcome} isBadge />,
    sort: 'outcome',
    by: (row) => row.outcome,
  },
  {
    head: 'Build',
    kind: 'name',
    cell: (row) => (
      <>
        <a href={visit.to(`invocation/${row.id}`, addressOf(row))}>
          <Said text={whatOf(row) || row.id} max={MAX_SHOWN} />
        </a>
        {row.executions !== undefined && row.executions.count > 0 && (
          <span class="under">
            {counted(row.executions.count, 'action')} ran here
            {row.executions.failed > 0 && (
              <>
                {', '}
                <Mark tone="bad">{`${countText(row.executions.failed)} failed`}</Mark>
              </>
            )}
          </span>
        )}
        {row.scope !== undefined && (
          <span class="under">
            <Said text={`scope ${row.scope}`} max={MAX_SHOWN} />
          </span>
        )}
      </>
    ),
    sort: 'build',
    by: whatOf,
  },
  {
    head: 'Started',
    cell: ({ startedMs }) => <Ago ms={startedMs} nowMs={visit.nowMs} />,
    sort: 'started',
    by: (row) => row.startedMs,
  },
  {
    head: 'Took',
    kind: 'number',
    cell: ({ tookMs }) => <Duration ms={tookMs} />,
    sort: 'took',
    by: ({ tookMs }) => tookMs,
  },
  {
    head: 'User',
    kind: 'text',
    cell: ({ user = '', host = '' }) => (
      <>
        <Said text={user} max={MAX_SHOWN} />
        <span class="under">
          <Said text={host} max={MAX_SHOWN} />
        </span>
      </>
    ),
    sort: 'user',
    by: ({ user }) => user,
  },
  {
    head: 'Branch',
    kind: 'text',
    cell: ({ branch = '', commit = '' }) => (
      <>
        <Said text={branch} max={MAX_SHOWN} />
        <span class="under nowrap">
          <Said text={commit.slice(0, 12)} />
        </span>
      </>
    ),
    sort: 'branch',
    by: ({ branch }) => branch,
  },
  {
    head: 'Targets',
    kind: 'number',
    cell: ({ targetCount, failedTargetCount }) => <Counted of={targetCount} failed={failedTargetCount} />,
    sort: 'targets',
    by: ({ targetCount }) => targetCount,
  },
  {
    head: 'Tests',
    kind: 'number',
    cell: ({ testCount, failedTestCount, flakyTestCount }) => (
      <Counted of={testCount} failed={failedTestCount} flaky={flakyTestCount} />
    ),
    sort: 'tests',
    by: ({ testCount }) => testCount,
  },
  {
    head: 'From cache',
    cell: ({ hits = 0, misses = 0, countedBy }) =>
      hits + misses === 0 ? (
        '–'
      ) : (
        <>
          <Share part={hits} whole={hits + misses} text={shareText(hits, hits + misses)} />
          <span class="under nowrap">{`${countText(hits)} of ${countText(hits + misses)}${countedBy === 'client' ? ', the client says' : ''}`}</span>
        </>
      ),
    sort: 'cache',
    by: ({ hits, misses = 0 }) => (hits === undefined || hits + misses === 0 ? undefined : hits / (hits + misses)),
  },
]

interface CountedParts {
  readonly of: number
  readonly failed: number
  readonly flaky?: number
}

const Counted = ({ of, failed, flaky = 0 }: CountedParts) => (
  <>
    {of === 0 ? '–' : countText(of)}
    {failed > 0 && (
      <span class="under">
        <Mark tone="bad">{`${countText(failed)} failed`}</Mark>
      </span>
    )}
    {flaky > 0 && (
      <span class="under">
        <span class="badge warn">{`${countText(flaky)} flaky`}</span>
      </span>
    )}
  </>
)

/** In place of a list without builds. */
const Welcome = ({ isAnonymous, children }: { readonly isAnonymous: boolean; readonly children: ComponentChild }) => (
  <>
    <h1>Builds</h1>
    <p>
      {isAnonymous ? 'Log in to see builds.' : 'There are no builds yet.'} Put these lines where your build tool reads
      them, and build:
    </p>
    <h2>Connect a client</h2>
    {children}
  </>
)

/** The builds that a reader may see, the newest first. */
export const listPage = (
  rowsFor: (visit: Visit) => Promise<readonly BuildRow[]>,
  connect: ((visit: Visit) => ComponentChild) | undefined,
): Page => ({
  address: /^(?:builds)?$/,
  show: async (visit) => {
    const all = await rowsFor(visit)
    const columns = columnsOf(visit)
    const { rows, sorting } = await sortedRows(await found(all, visit), columns, visit, '-started')
    const page = paged(rows, visit)
    if (visit.isForProgram)
      return {
        title: 'Builds',
        body: null,
        data: { ...pagedData(page), builds: page.rows.map(buildData) },
      }
    const sums = await sumsOf(rows)
    const days = sorting.column === 'started' ? await daysOf(rows, visit.nowMs) : undefined
    const caption =
      rows.length === all.length
        ? counted(all.length, 'build')
        : `${countText(rows.length)} of ${counted(all.length, 'build')}`
    if (all.length === 0 && connect !== undefined)
      return {
        title: 'Builds',
        body: <Welcome isAnonymous={visit.request.visitor?.identity === ANONYMOUS}>{connect(visit)}</Welcome>,
      }
    const none =
      all.length === 0
        ? 'No builds yet. Bazel sends them with --bes_backend; the requests of other clients appear by themselves.'
        : 'No build fits. Remove a part of the search.'
    const body = (
      <>
        {page.rows.length > 0 && (
          <a class="skip" href={`#${ROWS}`}>
            Skip to the list
          </a>
        )}
        <h1>Builds</h1>
        <Summary of={sums} />
        <SearchForm visit={visit} />
        <Table
          {...{ caption, columns, rows: page.rows, none, visit, sorting }}
          groupOf={days && ((row: BuildRow) => days.get(dayOf(row)) ?? '')}
          rowsId={ROWS}
        />
        <Pager of={page} visit={visit} />
      </>
    )
    return { title: 'Builds', body, isLive: visit.query.get('live') !== 'off' }
  },
})
