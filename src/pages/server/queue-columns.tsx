import { countText } from '../../base/quantities.js'
import { Digest } from '../../reapi/digest.js'
import type { ActionFacts, FailedAction } from '../../scheduler/scheduler.js'
import { addressOf } from '../actions/address.js'
import type { Visit } from '../page.js'
import { Said } from '../parts/said.js'
import { Ago, Duration, Mark } from '../parts/small.js'
import type { Column } from '../parts/table.js'
import type { ActiveAction } from './operations.js'
import type { NamedBuild, ServerSources } from './sources.js'

/** The columns of the lists of the queue. */

const SHOWN_DIGITS = 12
const MAX_BUILD = 80

export interface ColumnsFor {
  readonly visit: Visit
  /** Whether there are pages to link to. */
  readonly hasPages: boolean
  /** What is known of a build; asked once for each build of a page. */
  readonly buildOf: (invocation: string, instance: string) => NamedBuild | undefined
}

export const columnsFor = (visit: Visit, { buildOf }: Pick<ServerSources, 'buildOf'>, hasPages = true): ColumnsFor => {
  const known = new Map<string, NamedBuild | undefined>()
  return {
    ...{ visit, hasPages },
    buildOf: (invocation, instance) => {
      if (!visit.may('read_ac', instance)) return undefined
      const key = `${instance}\0${invocation}`
      if (!known.has(key)) known.set(key, buildOf(invocation, instance))
      return known.get(key)
    },
  }
}

/** An id that ends with a UUID, by its first digits: `fast-3f2a9c1e`. */
const Worker = ({ id }: { readonly id: string }) => (
  <code title={id}>{id.replace(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, '$1')}</code>
)

const factColumns = ({ visit, hasPages, buildOf }: ColumnsFor): readonly Column<Partial<ActionFacts>>[] => [
  {
    head: 'Target',
    kind: 'name',
    cell: ({ target, mnemonic, action = '', instance = '' }) => {
      const digest = hasPages ? Digest.ofKey(action) : undefined
      const text = target || `action ${action.slice(0, SHOWN_DIGITS)}`
      return (
        <>
          {digest === undefined ? (
            <span title={action}>
              <Said text={text} />
            </span>
          ) : (
            <a href={visit.to(addressOf(instance, 'action', digest))} title={action}>
              <Said text={text} />
            </a>
          )}
          <span class="under">
            <Said text={[mnemonic, target ? action.slice(0, SHOWN_DIGITS) : ''].filter(Boolean).join(' · ')} max={80} />
          </span>
        </>
      )
    },
    sort: 'target',
    by: ({ target }) => target,
  },
  {
    head: 'Build',
    kind: 'text',
    cell: ({ invocation = '', instance = '', tool, identity }) => {
      const build = invocation === '' ? undefined : buildOf(invocation, instance)
      const text = build?.what || tool || invocation.slice(0, SHOWN_DIGITS)
      const seesWho = visit.request.visitor?.maySeeOrigins(instance) ?? true
      const who = build?.user ?? (seesWho ? identity : undefined)
      const under = [who, instance]
      return (
        <>
          {invocation === '' || !hasPages ? (
            <Said text={text || '–'} max={MAX_BUILD} />
          ) : (
            <a href={visit.to(`invocation/${invocation}`, { instance })} title={invocation}>
              <Said text={text} max={MAX_BUILD} />
            </a>
          )}
          <span class="under">
            <Said text={under.filter(Boolean).join(' · ')} max={120} />
          </span>
        </>
      )
    },
    sort: 'build',
    by: ({ invocation }) => invocation,
  },
]

interface ResponseParts {
  readonly visit: Visit
  readonly instance: string
  readonly response: string
  readonly hasPages: boolean
}

const ResponseLink = ({ visit, instance, response, hasPages }: ResponseParts) => {
  const digest = hasPages ? Digest.ofKey(response) : undefined
  if (digest === undefined) return null
  return (
    <>
      <a href={visit.to(addressOf(instance, 'historical_execute_response', digest))}>what it did</a>{' '}
    </>
  )
}

const since = <Row extends { readonly sinceMs: number }>(visit: Visit, head: string): Column<Row> => ({
  head,
  cell: ({ sinceMs }) => <Ago ms={sinceMs} nowMs={visit.nowMs} />,
  sort: 'since',
  by: ({ sinceMs }) => sinceMs,
})

export const runningColumns = (of: ColumnsFor): readonly Column<ActiveAction>[] => [
  ...factColumns(of),
  { head: 'State', cell: ({ state }) => <Mark tone="run">{state}</Mark>, sort: 'state', by: ({ state }) => state },
  since(of.visit, 'Since'),
  {
    head: 'Worker',
    kind: 'text',
    cell: ({ worker = '' }) =>
      of.hasPages && of.visit.isOperator ? (
        <a href={`${of.visit.to('workers')}#${encodeURIComponent(worker)}`}>
          <Worker id={worker} />
        </a>
      ) : (
        <Worker id={worker} />
      ),
    sort: 'worker',
    by: ({ worker }) => worker,
  },
]

/** `waitsFor` is of rows that are `explained`. */
export const waitingColumns = (of: ColumnsFor): readonly Column<ActiveAction>[] => [
  ...factColumns(of),
  { head: 'Waits for', kind: 'text', cell: ({ waitsFor = '' }) => <Said text={waitsFor} /> },
  since(of.visit, 'Since'),
  {
    head: 'Attempts',
    kind: 'number',
    cell: ({ attempts = 0 }) => countText(attempts),
    sort: 'attempts',
    by: ({ attempts }) => attempts,
  },
  {
    head: 'Priority',
    kind: 'number',
    cell: ({ priority = 0 }) => countText(priority),
    sort: 'priority',
    by: ({ priority }) => priority,
  },
]

export const failedColumns = (of: ColumnsFor): readonly Column<FailedAction>[] => [
  ...factColumns(of),
  {
    head: 'Result',
    kind: 'text',
    cell: ({ result, exitCode, code, reason }) => (
      <>
        <Mark tone={result === 'failure' ? 'warn' : 'bad'}>{result}</Mark>{' '}
        <Said text={[exitCode === undefined ? code : `exit code ${exitCode}`, reason].filter(Boolean).join(': ')} />
      </>
    ),
    sort: 'result',
    by: ({ result }) => result,
  },
  {
    head: 'Ended',
    cell: ({ endedMs }) => <Ago ms={endedMs} nowMs={of.visit.nowMs} />,
    sort: 'ended',
    by: ({ endedMs }) => endedMs,
  },
  {
    head: 'Took',
    kind: 'number',
    cell: ({ tookMs }) => <Duration ms={tookMs} />,
    sort: 'took',
    by: ({ tookMs }) => tookMs,
  },
  { head: 'Worker', kind: 'text', cell: ({ worker = '–' }) => <Worker id={worker} /> },
  {
    head: 'Output',
    cell: ({ instance, stdout, stderr, response = '' }) => (
      <>
        <ResponseLink {...{ instance, response }} visit={of.visit} hasPages={of.hasPages} />
        {(
          [
            ['stdout', stdout],
            ['stderr', stderr],
          ] as const
        ).map(([name, key]) => {
          const digest = key === undefined || !of.hasPages ? undefined : Digest.ofKey(key)
          if (digest === undefined) return key === undefined ? null : `${name} ${key.slice(0, SHOWN_DIGITS)} `
          return (
            <>
              <a href={of.visit.to(addressOf(instance, 'file', digest, name), { show: 'text' })}>{name}</a>{' '}
            </>
          )
        })}
      </>
    ),
  },
]
