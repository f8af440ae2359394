import { counted, countText, sizeText } from '../../base/quantities.js'
import type { Page, Visit } from '../page.js'
import { Said } from '../parts/said.js'
import { Ago } from '../parts/small.js'
import { type Column, Pager, paged, sorted, Table } from '../parts/table.js'
import type { KeptScope, ServerSources } from './sources.js'

/** What branches and pull requests keep of their own, each with a button that drops it. */
export const scopesPage = (sources: ServerSources): Page => ({
  address: /^scopes$/,
  access: 'operator',
  show: async (visit) => {
    const columns = columnsOf(sources, visit)
    const all = sources.scopes()
    const { rows, sorting } = sorted([...all], columns, visit, '-used')
    const page = paged(rows, visit)
    const body = (
      <>
        <h1>Scopes</h1>
        <p class="dim">
          What builds of branches and pull requests wrote, and only they read, as far as it was used since the start of
          this server. Hits are results of actions that its builds asked for since then, and found: their own, those
          that all share, those of a parent instance.
        </p>
        <Table
          caption={counted(rows.length, 'scope')}
          {...{ columns, rows: page.rows, none: 'No scope was used yet.', visit, sorting }}
        />
        <Pager of={page} visit={visit} />
      </>
    )
    return { title: 'Scopes', body, data: { scopes: all.map(dataOf) } }
  },
})

const hitsOf = ({ own, shared, parent }: KeptScope['reads']): number => own + shared + parent

const dataOf = ({ scope, instanceName: instance, sizeBytes, entryCount, usedMs, reads }: KeptScope) => ({
  ...{ scope, instance, sizeBytes, entryCount, reads: { ...reads } },
  usedAt: new Date(usedMs).toISOString(),
})

const columnsOf = ({ forms }: ServerSources, visit: Visit): readonly Column<KeptScope>[] => [
  { head: 'Scope', kind: 'name', cell: ({ scope }) => <Said text={scope} />, sort: 'scope', by: ({ scope }) => scope },
  {
    head: 'Instance',
    kind: 'text',
    cell: ({ instanceName }) => <Said text={instanceName || '(empty name)'} />,
    sort: 'instance',
    by: ({ instanceName }) => instanceName,
  },
  {
    head: 'Entries',
    kind: 'number',
    cell: ({ entryCount }) => countText(entryCount),
    sort: 'entries',
    by: ({ entryCount }) => entryCount,
  },
  {
    head: 'Size',
    kind: 'number',
    cell: ({ sizeBytes }) => sizeText(sizeBytes),
    sort: 'size',
    by: ({ sizeBytes }) => sizeBytes,
  },
  {
    head: 'Hits',
    kind: 'number',
    cell: ({ reads }) => `${countText(hitsOf(reads))} of ${countText(hitsOf(reads) + reads.none)}`,
    sort: 'hits',
    by: ({ reads }) => hitsOf(reads) / (hitsOf(reads) + reads.none || 1),
  },
  {
    head: 'Own, shared, parent',
    kind: 'number',
    cell: ({ reads: { own, shared, parent } }) => [own, shared, parent].map(countText).join(', '),
  },
  {
    head: 'Used',
    cell: ({ usedMs }) => <Ago ms={usedMs} nowMs={visit.nowMs} />,
    sort: 'used',
    by: ({ usedMs }) => usedMs,
  },
  ...(forms === undefined
    ? []
    : [{ head: 'Change', cell: (row: KeptScope) => <DropButton {...{ row, visit, forms }} /> }]),
]

interface ButtonParts {
  readonly row: KeptScope
  readonly visit: Visit
  readonly forms: NonNullable<ServerSources['forms']>
}

const DropButton = ({ row: { scope, instanceName: instance }, visit, forms }: ButtonParts) => {
  const { target, token } = forms.form('drop-scope', { scope, instance }, visit.request.visitor?.identity)
  return (
    <form method="post" action={target}>
      <input type="hidden" name="token" value={token} />
      <button type="submit" aria-label={`drop what scope ${scope} keeps`}>
        drop
      </button>
    </form>
  )
}
