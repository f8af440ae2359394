import { counted, countText } from '../../../base/quantities.js'
import type { Target, TargetState } from '../../../builds/detail/details.js'
import { textData } from '../../parts/data.js'
import { Said } from '../../parts/said.js'
import { Mark, Note, type Tone } from '../../parts/small.js'
import { type Column, Pager, paged, pagedData, sortedRows, Table } from '../../parts/table.js'
import type { InvocationTab, Seen } from '../invocation.js'

const SHOWN: Readonly<Record<TargetState, { readonly tone: Tone; readonly sign: string; readonly rank: number }>> = {
  failed: { tone: 'bad', sign: '✗', rank: 0 },
  skipped: { tone: 'warn', sign: '■', rank: 1 },
  configured: { tone: 'dim', sign: '○', rank: 2 },
  built: { tone: 'good', sign: '✓', rank: 3 },
}

const COLUMNS: readonly Column<Target>[] = [
  {
    head: 'State',
    cell: ({ state }) => <Mark tone={SHOWN[state].tone}>{`${SHOWN[state].sign} ${state}`}</Mark>,
    sort: 'state',
    by: ({ state }) => SHOWN[state].rank,
  },
  {
    head: 'Target',
    kind: 'name',
    cell: ({ label, reason }) => (
      <>
        <Said text={label} />
        {reason !== undefined && (
          <span class="under">
            <Said text={reason} />
          </span>
        )}
      </>
    ),
    sort: 'label',
    by: ({ label }) => label,
  },
  { head: 'Kind', cell: ({ kind }) => <Said text={kind} max={60} />, sort: 'kind', by: ({ kind }) => kind },
]

export const targetsTab: InvocationTab = {
  address: 'targets',
  title: 'Targets',
  needsEvents: true,
  data: async (seen) => {
    const { page } = await foundTargets(seen)
    const targets = page.rows.map(({ label, kind, state, reason }) => ({
      ...{ label: textData(label), kind: textData(kind), state, reason: textData(reason) },
    }))
    return { ...pagedData(page), targetList: targets }
  },
  body: async (seen) => {
    const { details, visit } = seen
    const { found, page, sorting } = await foundTargets(seen)
    const beyond = details?.leftOut.targets ?? 0
    return (
      <>
        {beyond > 0 && <Note tone="warn">{`${countText(beyond)} more targets are not listed.`}</Note>}
        <FilterForm visit={visit} label="Target" />
        <Table
          caption={counted(found.length, 'target')}
          {...{ columns: COLUMNS, rows: page.rows, none: 'No target is known.', visit, sorting }}
        />
        <Pager of={page} visit={visit} />
      </>
    )
  },
}

/** The targets that the address asks for. */
const foundTargets = async ({ details, visit }: Seen) => {
  const all = details?.targets ?? []
  const wanted = (visit.query.get('label') ?? '').trim().toLowerCase()
  const found = wanted === '' ? all : all.filter(({ label }) => label.toLowerCase().includes(wanted))
  const { rows, sorting } = await sortedRows(found, COLUMNS, visit, 'state')
  return { found, sorting, page: paged(rows, visit) }
}

/** A form that keeps the rows whose label contains a text. */
export const FilterForm = ({
  visit,
  label,
}: {
  readonly visit: Parameters<typeof paged>[1]
  readonly label: string
}) => (
  <form class="search" method="get" action={visit.request.path}>
    <input type="hidden" name="instance" value={visit.query.get('instance') ?? ''} />
    <label>
      {label}
      <input name="label" value={visit.query.get('label') ?? ''} size={30} />
    </label>
    <button type="submit">Filter</button>
  </form>
)
