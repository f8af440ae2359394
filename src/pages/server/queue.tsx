import { counted, countText, timeText } from '../../base/quantities.js'
import type { ActionFacts, FailedAction } from '../../scheduler/scheduler.js'
import type { Page, Visit } from '../page.js'
import type { InQueue } from '../parts/in-queue.js'
import { Said } from '../parts/said.js'
import { Numbers, Tabs } from '../parts/small.js'
import { type Column, Pager, paged, pagedData, sorted, sortedRows, Table } from '../parts/table.js'
import { operationData } from './data.js'
import { Elsewhere, elsewhereOf } from './elsewhere.js'
import {
  type Active,
  type ActiveAction,
  explained,
  failedIn,
  runningIn,
  type Waiting,
  type WaitingAction,
  waitingIn,
} from './operations.js'
import { type ColumnsFor, columnsFor, failedColumns, runningColumns, waitingColumns } from './queue-columns.js'
import type { ServerSources } from './sources.js'
import { QueueCharts, SpanTabs, spanOf } from './trend-charts.js'

/** Whether actions are queued in this process, which then has counted them. */
export const isQueueHere = ({ metrics }: ServerSources): boolean => metrics.executions.activities().length > 0

/** Whether actions are queued here or elsewhere; without that there is nothing to show. */
export const hasQueue = (sources: ServerSources): boolean =>
  isQueueHere(sources) || [...sources.overviews().values()].some(({ elsewhere }) => elsewhere !== undefined)

/** Who may see an action that waits, runs or failed, and what was learned of its kind: readers of its instance's results, and operators. */
export const isFor = (visit: Visit) => {
  // Asked for each action of a long queue.
  const known = new Map<string, boolean>()
  return ({ instance }: Partial<ActionFacts>): boolean => {
    if (instance === undefined || visit.isOperator) return visit.isOperator
    const may = known.get(instance) ?? (visit.may('read_ac', instance) || visit.may('administer', instance))
    known.set(instance, may)
    return may
  }
}

/** The queue: what waits, what runs and what failed, of all schedulers of this process. */
export const queuePage = (sources: ServerSources): Page => ({
  address: /^queue$/,
  access: 'caller',
  show: async (visit) => {
    const show = visit.query.get('show') ?? 'running'
    const isLive = visit.query.get('live') !== 'off'
    const { running, waiting, failed } = await listsFor(visit, sources)
    const counts = { running: running.length, waiting: waiting.count, failed: failed.length }
    if (visit.isForProgram) {
      const page = paged<ActiveAction | FailedAction | WaitingAction>(
        show === 'failed' ? failed : show === 'waiting' ? waiting.listed : running,
        visit,
      )
      const rows = show === 'waiting' ? await explained(page.rows as readonly WaitingAction[]) : page.rows
      const actions = (rows as readonly (ActiveAction | FailedAction)[]).map(operationData(visit))
      return { title: 'Queue', body: null, data: { counts, show, ...pagedData(page), actions } }
    }
    const shown = show === 'waiting' ? await shownOf(waiting, columnsFor(visit, sources)) : undefined
    const body = (
      <>
        <h1>Queue</h1>
        <Elsewhere of={sources} />
        <QueueNumbers of={sources} nowMs={visit.nowMs} />
        {visit.isOperator && isQueueHere(sources) && (
          <>
            <SpanTabs visit={visit} />
            <QueueCharts trends={sources.trends} span={spanOf(visit)} />
          </>
        )}
        <Filtered visit={visit} />
        <Tabs
          label="Actions"
          of={(['running', 'waiting', 'failed'] as const).map((name) => ({
            title: `${TITLES[name]} (${countText(counts[name])})`,
            link: visit.here({ show: name === 'running' ? undefined : name, page: undefined, sort: undefined }),
            isCurrent: name === show,
          }))}
        />
        {show === 'failed' ? (
          <Rows
            of={failed}
            columns={failedColumns(columnsFor(visit, sources))}
            usual="-ended"
            none="Nothing failed lately."
            visit={visit}
          />
        ) : shown !== undefined ? (
          <WaitingRows of={shown} count={waiting.count} columns={columnsFor(visit, sources)} />
        ) : (
          <Rows
            of={running}
            columns={runningColumns(columnsFor(visit, sources))}
            usual="since"
            none="Nothing runs."
            visit={visit}
          />
        )}
      </>
    )
    return { title: 'Queue', body, isLive }
  },
})

const TITLES = { running: 'Running', waiting: 'Waiting', failed: 'Failed lately' } as const

/** What the address can ask for: `?worker=ID`. */
const FILTERS = ['invocation', 'worker', 'action'] as const
const FILTER_WORDS = { invocation: 'of build', worker: 'on worker', action: 'of action' } as const

const listsFor = async (visit: Visit, { overviews }: ServerSources) => {
  const all = overviews()
  const asked = FILTERS.map((name) => [name, visit.query.get(name) ?? ''] as const)
  const mayRead = isFor(visit)
  const fits = (one: Partial<ActionFacts> & { readonly worker?: string }): boolean =>
    asked.every(([name, value]) => value === '' || one[name] === value) && mayRead(one)
  return {
    running: runningIn(all).filter(fits),
    waiting: await waitingIn(all, fits),
    failed: failedIn(all).filter(fits),
  }
}

/** The rows of the page of `waiting` that the address asks for. */
const shownOf = async (waiting: Waiting, of: ColumnsFor) => {
  const { visit } = of
  const { rows, sorting } = await sortedRows(waiting.listed, waitingColumns(of), visit, 'since')
  const page = paged(rows, visit)
  return { page, sorting, rows: await explained(page.rows) }
}

interface WaitingParts {
  readonly of: Awaited<ReturnType<typeof shownOf>>
  readonly count: number
  readonly columns: ColumnsFor
}

const WaitingRows = ({ of: { page, sorting, rows }, count, columns: of }: WaitingParts) => {
  const { visit } = of
  const caption =
    count > page.count ? `${countText(page.count)} of ${counted(count, 'action')}` : counted(count, 'action')
  return (
    <>
      <Table {...{ caption, columns: waitingColumns(of), rows, none: 'Nothing waits.', visit, sorting }} />
      <Pager of={page} visit={visit} />
    </>
  )
}

/** How many actions of a build, or about one action, wait, run and failed lately: for its page. */
export const inQueueOf = async (
  visit: Visit,
  overviews: ServerSources['overviews'],
  asked: Partial<Pick<ActionFacts, 'invocation' | 'instance' | 'action'>>,
): Promise<InQueue> => {
  const all = overviews()
  const mayRead = isFor(visit)
  const wanted = Object.entries(asked) as [keyof typeof asked, string][]
  const fits = (one: Partial<ActionFacts>): boolean =>
    wanted.every(([name, value]) => one[name] === value) && mayRead(one)
  return {
    running: runningIn(all).filter(fits).length,
    waiting: (await waitingIn(all, fits)).count,
    failed: failedIn(all).filter(fits).length,
  }
}

/** What of a build runs, the oldest first, and how much of it waits. */
export const activeOf = async (
  visit: Visit,
  overviews: ServerSources['overviews'],
  invocation: string,
): Promise<Active> => {
  const all = overviews()
  const mayRead = isFor(visit)
  const fits = (one: Partial<ActionFacts>): boolean => one.invocation === invocation && mayRead(one)
  return { running: runningIn(all).filter(fits), waiting: (await waitingIn(all, fits)).count }
}

const Filtered = ({ visit }: { readonly visit: Visit }) => {
  const given = FILTERS.flatMap((name) => {
    const value = visit.query.get(name)
    return value ? [[name, value] as const] : []
  })
  if (given.length === 0) return null
  return (
    <p>
      {given.map(([name, value]) => (
        <>
          {`Only ${FILTER_WORDS[name]} `}
          <Said text={value} max={100} />{' '}
        </>
      ))}
      <a href={visit.here({ invocation: undefined, worker: undefined, action: undefined, page: undefined })}>
        Show all
      </a>
    </p>
  )
}

/** The numbers of all instances: how busy the server is, not with what. */
export const QueueNumbers = ({ of: sources, nowMs }: { readonly of: ServerSources; readonly nowMs: number }) => {
  const { config, metrics, overviews } = sources
  const { executions } = metrics
  const activities = executions.activities()
  const elsewhere = elsewhereOf(overviews(), nowMs)
  const oldestMs = Math.max(elsewhere.oldestMs, ...activities.map(({ oldestQueuedMs }) => oldestQueuedMs))
  const own = config.global.disable_metrics ? [] : [...executions.results()]
  const results = new Map(isQueueHere(sources) ? own : [])
  for (const [result, count] of elsewhere.results) results.set(result, (results.get(result) ?? 0) + count)
  return (
    <Numbers
      of={[
        ['queued', countText(executions.countIn('queued') + elsewhere.queued)],
        ['longest wait', timeText(oldestMs)],
        ['executing', countText(executions.countIn('executing') + elsewhere.running)],
        ['workers', countText(activities.flatMap(({ workers }) => workers).length + elsewhere.workers)],
        ...[...results].map(([result, count]) => [result.replace('_', ' '), countText(count)] as const),
      ]}
    />
  )
}

interface RowsParts<Row> {
  readonly of: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly usual: string
  readonly none: string
  readonly visit: Visit
}

const Rows = <Row,>({ of, columns, usual, none, visit }: RowsParts<Row>) => {
  const { rows, sorting } = sorted(of, columns, visit, usual)
  const page = paged(rows, visit)
  return (
    <>
      <Table caption={counted(of.length, 'action')} {...{ columns, rows: page.rows, none, visit, sorting }} />
      <Pager of={page} visit={visit} />
    </>
  )
}
