import { countText, shareText } from '../../base/quantities.js'
import { type CauseGroup, type FoldedMiss, groupByCause } from '../../misses/grouped.js'
import type { RequestRecord } from '../../rpc/request-records.js'
import type { InvocationTab } from '../builds/invocation.js'
import type { Visit } from '../page.js'
import { textData, timeData } from '../parts/data.js'
import { Said } from '../parts/said.js'
import { Ago, Note, Numbers, Time } from '../parts/small.js'
import { type Column, Pager, paged, pagedData, sorted, Table } from '../parts/table.js'
import { BuildLink } from './cause.js'
import type { MissSources } from './parts.js'

interface Context {
  readonly visit: Visit
  readonly instance: string
  readonly invocation: string
}

/** The misses of a build by cause. `?cause=` shows those of one. */
export const missesTab = (sources: MissSources): InvocationTab => ({
  address: 'misses',
  title: 'Why misses',
  needsEvents: false,
  data: async ({ visit, id: invocation, instance: ofEvents, requests: all }) => {
    const instance = mostUsed(all, ofEvents)
    const history = await sources.history(visit, instance)
    const { misses, folded, isDone } = await sources.explanations(
      visit,
      sources.stores(visit, instance),
      history,
      invocation,
    )
    const page = paged(folded, visit)
    return {
      ...pagedData(page),
      missCount: misses.length,
      isDone,
      causes: groupByCause(folded).map(({ text, misses: of, isConsequence, earlierInvocation }) => ({
        ...{ cause: textData(text), misses: of.length, isConsequence },
        comparedWith: textData(earlierInvocation),
      })),
      missList: page.rows.map(missData),
    }
  },
  body: async ({ visit, id: invocation, instance: ofEvents, requests: all, goesOn }) => {
    const instance = mostUsed(all, ofEvents)
    const stores = sources.stores(visit, instance)
    const history = await sources.history(visit, instance)
    const requests = history.ofInvocation(invocation)
    const { misses, folded, isDone } = await sources.explanations(visit, stores, history, invocation)
    const groups = groupByCause(folded)
    if (!isDone) goesOn()
    const hits = new Set(requests.filter(({ outcome }) => outcome === 'hit').map(({ action }) => action)).size
    const context = { visit, instance, invocation }
    if (requests.length === 0) return <NothingKnown sinceMs={history.sinceMs} />
    return (
      <>
        <Numbers
          of={[
            ['actions asked for', countText(hits + misses.length)],
            ['misses', countText(misses.length)],
            ['hits', shareText(hits, hits + misses.length)],
          ]}
        />
        {!isDone && (
          <Note>{`${countText(folded.length)} of ${countText(misses.length)} misses are explained by now. The page shows more as they come.`}</Note>
        )}
        <Groups of={groups} total={folded.length} {...context} />
        <Misses of={groups} {...context} />
      </>
    )
  },
})

const missData = ({ miss, outputs, text }: FoldedMiss): object => ({
  ...{ action: miss.action, instance: miss.instance, at: timeData(miss.timeMs) },
  target: textData(miss.target),
  mnemonic: textData(miss.mnemonic),
  output: textData(outputs[0]),
  cause: textData(text),
})

/** A build may send its events without the name of the instance whose caches it uses. */
const mostUsed = (requests: readonly RequestRecord[], ofEvents: string): string => {
  const counts = new Map<string, number>()
  for (const { instance } of requests) counts.set(instance, (counts.get(instance) ?? 0) + 1)
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return counts.has(ofEvents) ? ofEvents : (most?.[0] ?? ofEvents)
}

const NothingKnown = ({ sinceMs }: { readonly sinceMs: number | undefined }) => (
  <Note>
    The server remembers no request of this build: it keeps the last ones only
    {sinceMs !== undefined && (
      <>
        , which begin at <Time ms={sinceMs} />
      </>
    )}
    .
  </Note>
)

const Groups = ({
  of,
  total,
  ...context
}: Context & { readonly of: readonly CauseGroup[]; readonly total: number }) => {
  const { visit } = context
  const columns: readonly Column<CauseGroup>[] = [
    {
      head: 'Misses',
      kind: 'number',
      cell: ({ misses }) => `${countText(misses.length)} of ${countText(total)}`,
    },
    {
      head: 'First cause',
      kind: 'name',
      cell: ({ text, isConsequence }) => (
        <>
          <a href={visit.here({ cause: text, page: undefined })}>
            <Said text={text} />
          </a>
          {isConsequence && <span class="dim"> (a consequence of other misses)</span>}
        </>
      ),
    },
    {
      head: 'Compared with',
      kind: 'text',
      cell: ({ earlierInvocation }) =>
        earlierInvocation === '' ? (
          '–'
        ) : (
          <>
            <BuildLink {...context} of={earlierInvocation} />
            {', '}
            <a href={visit.to(`compare/${earlierInvocation}..${context.invocation}`, { instance: context.instance })}>
              side by side
            </a>
          </>
        ),
    },
  ]
  return <Table caption="Misses by cause" columns={columns} rows={of} none="This build had no misses." />
}

const Misses = ({ of: groups, visit, instance, invocation }: Context & { readonly of: readonly CauseGroup[] }) => {
  const asked = visit.query.get('cause')
  const shown = groups.filter(({ text }) => asked === null || text === asked)
  const rows = shown.flatMap(({ misses }) => misses)
  const causes = new Map(shown.flatMap(({ text, misses }) => misses.map((one) => [one, text] as const)))
  const nameOf = ({ miss, outputs }: FoldedMiss): string => miss.target || outputs[0] || miss.action.slice(0, 12)
  const columns: readonly Column<FoldedMiss>[] = [
    {
      head: 'Target',
      kind: 'name',
      cell: (row) => (
        <a href={visit.to('miss', { instance, invocation, action: row.miss.action })}>
          <Said text={nameOf(row)} />
        </a>
      ),
      sort: 'target',
      by: ({ miss }) => miss.target,
    },
    {
      head: 'Mnemonic',
      cell: ({ miss }) => <Said text={miss.mnemonic} max={60} />,
      sort: 'mnemonic',
      by: ({ miss }) => miss.mnemonic,
    },
    { head: 'First output', kind: 'text', cell: ({ outputs }) => <Said text={outputs[0] ?? '–'} /> },
    // A group says the cause, but not what in it differs from row to row.
    ...(rows.some((row) => row.text !== causes.get(row))
      ? [
          {
            head: 'First cause',
            kind: 'text' as const,
            cell: ({ text }: FoldedMiss) => <Said text={text} />,
            sort: 'cause',
            by: ({ text }: FoldedMiss) => text,
          },
        ]
      : []),
    {
      head: 'Asked',
      cell: ({ miss }) => <Ago ms={miss.timeMs} nowMs={visit.nowMs} />,
      sort: 'asked',
      by: ({ miss }) => miss.timeMs,
    },
  ]
  // Those of one cause are together, unless the reader asks for another order.
  const isSorted = visit.query.has('sort')
  const { rows: sortedBy, sorting: by } = sorted(rows, columns, visit, 'asked')
  const page = paged(isSorted ? sortedBy : rows, visit)
  const sorting = isSorted ? by : { ...by, column: '' }
  const groupOf = isSorted || shown.length < 2 ? undefined : (row: FoldedMiss) => titleOf(causes.get(row), shown)
  return rows.length === 0 ? null : (
    <>
      <h2>
        <Said text={asked === null ? 'All misses' : `Misses: ${asked}`} />
      </h2>
      {asked !== null && (
        <p>
          <a href={visit.here({ cause: undefined, page: undefined })}>All misses</a>
        </p>
      )}
      <Table
        caption={rows.length === 1 ? 'One miss' : `${countText(rows.length)} misses`}
        none=""
        {...{ columns, rows: page.rows, visit, sorting, groupOf }}
      />
      <Pager of={page} visit={visit} />
    </>
  )
}

const titleOf = (text = '', groups: readonly CauseGroup[]): string => {
  const count = groups.find((group) => group.text === text)?.misses.length ?? 0
  return `${text}: ${countText(count)} ${count === 1 ? 'miss' : 'misses'}`
}
