import { counted, countText, timeText } from '../../base/quantities.js'
import type { Config, ServerConfig } from '../../config/config.js'
import type { Answer } from '../../health/registry.js'
import { isBroken, stateOf } from '../../health/report.js'
import type { Page, Shown, Visit } from '../page.js'
import { textData, timeData } from '../parts/data.js'
import { Said } from '../parts/said.js'
import { Ago, Mark, Time } from '../parts/small.js'
import { type Column, Table } from '../parts/table.js'
import { connectFor } from './connect.js'
import { Elsewhere } from './elsewhere.js'
import { explained, failedIn, runningIn, waitingIn } from './operations.js'
import { hasQueue, isQueueHere, QueueNumbers } from './queue.js'
import { columnsFor, failedColumns, runningColumns, waitingColumns } from './queue-columns.js'
import type { RecentLine } from './recent-lines.js'
import type { ServerSources } from './sources.js'
import { HttpCaches, StoreTables } from './stores.js'
import { QueueCharts, SpanTabs, spanOf, TrendCharts } from './trend-charts.js'
import { byUrgency, verdictOf } from './verdict.js'
import { WorkersTable } from './workers.js'

const MAX_REASONS = 8
const MAX_ROWS = 100

/** The state of the server, one of several pages about it. */
export const serverPage = (sources: ServerSources): Page => ({
  address: /^server$/,
  access: 'operator',
  show: async (visit) => ({
    title: 'Server',
    isLive: visit.query.get('live') !== 'off',
    data: serverData(sources, visit),
    body: (
      <>
        <Head of={sources} visit={visit} />
        <details>
          <summary>Connect a client: lines to copy</summary>
          {connectFor(sources)(visit)}
        </details>
        <SpanTabs visit={visit} />
        <TrendCharts trends={sources.trends} span={spanOf(visit)} />
        <HttpCaches of={sources} />
        <State of={sources} visit={visit} />
      </>
    ),
  }),
})

const serverData = ({ health, overviews, metrics, version }: ServerSources, { nowMs }: Visit): object => {
  const { word, reasons } = verdictOf(health.latest(), overviews)
  const started = timeData(metrics.startedMs)
  return {
    version,
    startedAt: started,
    at: timeData(nowMs),
    health: word,
    reasons: reasons.map((text) => textData(text)),
  }
}

/** All about the server on one page, for a server that has no others. */
export const wholeServer = async (sources: ServerSources, visit: Visit): Promise<Shown> => ({
  title: 'Server',
  isLive: true,
  body: (
    <>
      <Head of={sources} visit={visit} />
      <details>
        <summary>Connect a client: lines to copy</summary>
        {connectFor(sources)(visit)}
      </details>
      <TrendCharts trends={sources.trends} span="hour" />
      {hasQueue(sources) && <QueueAndWorkers of={sources} visit={visit} waiting={await shownWaiting(sources)} />}
      <StoreTables of={sources} />
      <HttpCaches of={sources} />
      <State of={sources} visit={visit} />
    </>
  ),
})

interface Parts {
  readonly of: ServerSources
  readonly visit: Visit
}

const Head = ({ of: { health, overviews, metrics, version, healthPath }, visit }: Parts) => {
  const { word, sign, tone, reasons } = verdictOf(health.latest(), overviews)
  const shown = reasons.slice(0, MAX_REASONS)
  const more = reasons.length - shown.length
  return (
    <>
      <h1>
        {'Server '}
        <span class={`badge ${tone}`}>
          <span aria-hidden="true">{sign}</span> {word}
        </span>
      </h1>
      <p class="dim">
        {`Version ${version}, running for ${timeText(visit.nowMs - metrics.startedMs)}, `}
        <Time ms={visit.nowMs} />
        {healthPath !== undefined && (
          <>
            {'; for probes: '}
            <a href={healthPath}>{healthPath}</a>
          </>
        )}
      </p>
      {shown.length > 0 && (
        <ul class={`note reasons ${tone}`}>
          {shown.map((reason) => (
            <li>
              <Said text={reason} max={500} />
            </li>
          ))}
          {more > 0 && <li>{`and ${more} more below`}</li>}
        </ul>
      )}
    </>
  )
}

const State = ({ of: sources, visit }: Parts) => {
  const { health, recent, config } = sources
  return (
    <>
      <h2>Components</h2>
      <Table
        caption="What is checked in the background"
        columns={COMPONENTS}
        rows={byUrgency(health.latest())}
        none="None."
      />
      <h2>Warnings and errors</h2>
      <Table
        caption="The latest of the log"
        columns={linesOf(visit)}
        rows={recent.lines}
        none="None since the start."
      />
      <h2>Services</h2>
      <Table
        caption="What each server of the process offers"
        columns={SERVICES}
        rows={servedBy(config)}
        none="Nothing."
      />
    </>
  )
}

/** Of the oldest that wait, the reasons. Yields the event loop. */
const shownWaiting = async (sources: ServerSources) => {
  const { listed, count } = await waitingIn(sources.overviews(), () => true)
  return { rows: await explained(listed.slice(0, MAX_ROWS)), count }
}

interface QueueParts extends Parts {
  readonly waiting: Awaited<ReturnType<typeof shownWaiting>>
}

const QueueAndWorkers = ({ of: sources, visit, waiting }: QueueParts) => {
  const columns = columnsFor(visit, sources, false)
  const all = sources.overviews()
  const [running, failed] = [runningIn(all), failedIn(all)]
  const lists = [
    ['Waiting', waiting.rows, waiting.count, waitingColumns(columns)],
    ['Running', running, running.length, runningColumns(columns)],
    ['Failed lately', failed, failed.length, failedColumns(columns)],
  ] as const
  return (
    <>
      <h2>Queue and workers</h2>
      <Elsewhere of={sources} />
      <QueueNumbers of={sources} nowMs={visit.nowMs} />
      {isQueueHere(sources) && <QueueCharts trends={sources.trends} span="hour" />}
      <WorkersTable of={sources} visit={visit} hasPages={false} />
      {lists.map(([title, rows, count, columns]) =>
        rows.length === 0 ? null : (
          <>
            <h3>{title}</h3>
            <Table
              caption={count > MAX_ROWS ? `The first ${MAX_ROWS} of ${countText(count)}` : counted(count, 'action')}
              columns={columns as readonly Column<unknown>[]}
              rows={rows.slice(0, MAX_ROWS)}
              none=""
            />
          </>
        ),
      )}
    </>
  )
}

const COMPONENTS: readonly Column<Answer>[] = [
  { head: 'Component', kind: 'name', cell: ({ report }) => <code>{report.component}</code> },
  {
    head: 'State',
    cell: ({ report }) => {
      const state = stateOf(report)
      return <Mark tone={isBroken(state) ? 'bad' : state === 'Ok' ? 'good' : 'warn'}>{state}</Mark>
    },
  },
  { head: 'Checked', cell: ({ ageMs }) => `${timeText(Math.floor(ageMs / 1000) * 1000)} ago` },
  {
    head: 'What it says',
    kind: 'text',
    cell: ({ report }) => {
      const { message = '', error = '' } = Object.values(report.status)[0] ?? {}
      return <Said text={[message, error].filter((part) => part !== '').join(': ')} max={500} />
    },
  },
]

const linesOf = ({ nowMs }: Visit): readonly Column<RecentLine>[] => [
  { head: 'When', cell: ({ atMs }) => <Ago ms={atMs} nowMs={nowMs} /> },
  { head: 'Level', cell: ({ level }) => <Mark tone={level === 'error' ? 'bad' : 'warn'}>{level}</Mark> },
  { head: 'What happened', kind: 'name', cell: ({ message }) => <Said text={message} max={500} /> },
  { head: 'About', kind: 'text', cell: ({ about }) => <Said text={about} max={500} /> },
]

interface Served {
  readonly server: string
  readonly service: string
  readonly instances: string
}

const SERVICES: readonly Column<Served>[] = [
  { head: 'Server', kind: 'name', cell: ({ server }) => server },
  { head: 'Service', cell: ({ service }) => service },
  { head: 'Instances', kind: 'text', cell: ({ instances }) => instances },
]

const servedBy = ({ servers }: Config): readonly Served[] =>
  servers.flatMap(({ name: server, services }) =>
    Object.entries(SHOWN).flatMap(([service, shown]): Served[] => {
      const instances = shown(services)
      return instances === undefined ? [] : [{ server, service, instances }]
    }),
  )

type Services = ServerConfig['services']

const named = (instances: ReadonlyMap<string, unknown>): string | undefined =>
  instances.size === 0 ? undefined : [...instances.keys()].map(instanceText).join(', ')

/** For each service its instances, or where it is; undefined if the server does not have it. A new service cannot be left out. */
const SHOWN: { readonly [Service in keyof Required<Services>]: (services: Services) => string | undefined } = {
  cas: ({ cas }) => named(cas),
  ac: ({ ac }) => named(ac),
  bytestream: ({ bytestream }) => named(bytestream),
  execution: ({ execution }) => named(execution),
  capabilities: () => undefined, // of all instances
  fetch: ({ fetch }) => named(fetch),
  push: ({ push }) => named(push),
  http_cache: ({ http_cache: caches }) =>
    caches.size === 0 ? undefined : [...caches].map(([path, { kind }]) => `${kind} at ${path}`).join(', '),
  worker_api: ({ worker_api: api }) => api?.scheduler,
  build_events: ({ build_events: events }) => events && 'any',
  pages: ({ pages }) => pages && `at ${pages.path}`,
  health: ({ health }) => health && `at ${health.path}`,
  admin: ({ admin }) => admin && `at ${admin.path}`,
  metrics: ({ metrics }) => metrics && `at ${metrics.path}`,
}

const instanceText = (name: string): string => (name === '' ? '(empty)' : name === '*' ? 'any' : name)
