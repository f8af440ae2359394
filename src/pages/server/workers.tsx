import { counted, countText, sizeText } from '../../base/quantities.js'
import type { SchedulerOverview, WorkerOverview } from '../../scheduler/scheduler.js'
import type { Page, Visit } from '../page.js'
import { Share } from '../parts/chart.js'
import { timeData } from '../parts/data.js'
import { Said } from '../parts/said.js'
import { Ago, Mark, Numbers } from '../parts/small.js'
import { type Column, Pager, paged, sorted, Table } from '../parts/table.js'
import { Elsewhere } from './elsewhere.js'
import type { ServerSources } from './sources.js'

/** A worker of a scheduler. */
interface Row extends WorkerOverview {
  readonly scheduler: string
  /** Whether it belongs to another process. */
  readonly isElsewhere: boolean
}

const rowsOf = (overviews: ReadonlyMap<string, SchedulerOverview>): readonly Row[] =>
  [...overviews].flatMap(([scheduler, { workers, elsewhere }]) =>
    workers.map((worker) => ({ ...worker, scheduler, isElsewhere: elsewhere !== undefined })),
  )

/** The workers, each with a button that drains it. */
export const workersPage = (sources: ServerSources): Page => ({
  address: /^workers$/,
  access: 'operator',
  show: async (visit) => {
    const all = rowsOf(sources.overviews())
    const slots = all.flatMap(({ places }) => places ?? []).reduce((sum, places) => sum + places, 0)
    const running = all.reduce((sum, one) => sum + one.running, 0)
    if (visit.isForProgram) {
      const workers = all.map(({ attempts, heardMs, isElsewhere: _, ...worker }) => ({
        ...worker,
        heardAt: timeData(heardMs),
        attemptCount: attempts.length,
      }))
      return { title: 'Workers', body: null, data: { workers } }
    }
    const body = (
      <>
        <h1>Workers</h1>
        <Elsewhere of={sources} />
        <Numbers
          of={[
            ['workers', countText(all.length)],
            ['connected', countText(all.filter(({ state }) => state === 'connected').length)],
            ['actions running', countText(running)],
            ['places', slots === 0 ? '–' : countText(slots)],
          ]}
        />
        <WorkersTable of={sources} visit={visit} hasPages />
        {sources.forms === undefined && (
          <p class="dim small">With the service admin on this server, each worker has a button that drains it.</p>
        )}
      </>
    )
    return { title: 'Workers', body, isLive: visit.query.get('live') !== 'off' }
  },
})

interface WorkersParts {
  readonly of: ServerSources
  readonly visit: Visit
  readonly hasPages: boolean
}

export const WorkersTable = ({ of: sources, visit, hasPages }: WorkersParts) => {
  const columns = columnsOf(sources, visit, hasPages)
  const { rows, sorting } = sorted(rowsOf(sources.overviews()), columns, visit, 'worker')
  const page = paged(rows, visit)
  return (
    <>
      <Table
        caption={counted(rows.length, 'worker')}
        {...{ columns, rows: page.rows, none: 'No worker is connected.', visit, sorting }}
      />
      <Pager of={page} visit={visit} />
    </>
  )
}

const columnsOf = ({ forms }: ServerSources, visit: Visit, hasPages: boolean): readonly Column<Row>[] => [
  {
    head: 'Worker',
    kind: 'name',
    cell: ({ id, name, scheduler }) => (
      <span id={id}>
        <code>{id}</code>
        <span class="under">
          <Said text={[id.startsWith(name) ? '' : name, `scheduler ${scheduler}`].filter(Boolean).join(' · ')} />
        </span>
      </span>
    ),
    sort: 'worker',
    by: ({ id }) => id,
  },
  {
    head: 'State',
    cell: ({ state, trouble }) => (
      <>
        <Mark tone={state === 'connected' ? 'good' : 'warn'}>{state}</Mark>
        {trouble !== undefined && (
          <span class="under">
            <Said text={trouble} />
          </span>
        )}
      </>
    ),
    sort: 'state',
    by: ({ state }) => state,
  },
  {
    head: 'Running',
    cell: ({ id, running, places }) => {
      const text = places === null ? `${countText(running)}, no limit` : `${countText(running)} of ${countText(places)}`
      const shown = <Share part={running} whole={places ?? 0} text={text} />
      return hasPages && running > 0 ? <a href={visit.to('queue', { worker: id })}>{shown}</a> : shown
    },
    sort: 'running',
    by: ({ running }) => running,
  },
  {
    head: 'Waiting there',
    kind: 'number',
    cell: ({ waiting }) => countText(waiting),
    sort: 'waiting',
    by: ({ waiting }) => waiting,
  },
  {
    head: 'Tools kept',
    cell: ({ persistent: { idle, busy, residentBytes } = NONE_KEPT }) =>
      idle + busy === 0 ? (
        '–'
      ) : (
        <>
          {countText(idle + busy)}
          <span class="under">
            {countText(busy)} busy · {sizeText(residentBytes)}
          </span>
        </>
      ),
    sort: 'tools',
    by: ({ persistent: { idle, busy } = NONE_KEPT }) => idle + busy,
  },
  {
    head: 'Roots kept',
    cell: ({ roots: { kept, fileBytes } = NO_ROOTS }) =>
      kept === 0 ? (
        '–'
      ) : (
        <>
          {countText(kept)}
          <span class="under">{sizeText(fileBytes)} linked</span>
        </>
      ),
    sort: 'roots',
    by: ({ roots: { kept } = NO_ROOTS }) => kept,
  },
  {
    head: 'Properties',
    kind: 'text',
    cell: ({ properties, left }) => {
      const all = Object.entries(properties).map(([name, values]) => {
        const free = left[name]
        return `${name}=${values.join(',')}${free === undefined ? '' : ` (${countText(free)} free)`}`
      })
      return <Said text={all.join(' · ')} max={400} />
    },
  },
  {
    head: 'Heard',
    cell: ({ heardMs }) => <Ago ms={heardMs} nowMs={visit.nowMs} />,
    sort: 'heard',
    by: ({ heardMs }) => heardMs,
  },
  ...(forms === undefined ? [] : [{ head: 'Change', cell: (row: Row) => <DrainButton {...{ row, visit, forms }} /> }]),
]

/** A worker that has told nothing of persistent workers. */
const NONE_KEPT = { idle: 0, busy: 0, residentBytes: 0 }
/** A worker that has told nothing of kept input roots. */
const NO_ROOTS = { kept: 0, fileBytes: 0 }

interface ButtonParts {
  readonly row: Row
  readonly visit: Visit
  readonly forms: NonNullable<ServerSources['forms']>
}

/** Nothing for a worker of another process, for a drain that the worker itself began, and for a worker that is away. */
const DrainButton = ({ row, visit, forms }: ButtonParts) => {
  const { id, scheduler, state, isDrainedByOperator, isElsewhere } = row
  if (isElsewhere) return null
  if (state === (isDrainedByOperator ? 'away' : 'draining')) return null
  const change = isDrainedByOperator ? 'undrain' : 'drain'
  const { target, token } = forms.form(change, { scheduler, worker: id }, visit.request.visitor?.identity)
  return (
    <form method="post" action={target}>
      <input type="hidden" name="token" value={token} />
      <button type="submit" aria-label={`${change} ${id}`}>
        {change}
      </button>
    </form>
  )
}
