import { counted, countText, shareText, sizeText } from '../../../base/quantities.js'
import { Digest } from '../../../reapi/digest.js'
import type { RequestRecord } from '../../../rpc/request-records.js'
import { addressOf } from '../../actions/address.js'
import { requestData } from '../../actions/requests.js'
import { Said, saidText } from '../../parts/said.js'
import { Ago, Mark, Numbers, Size, type Tone } from '../../parts/small.js'
import { type Column, Pager, paged, pagedData, sortedRows, Table } from '../../parts/table.js'
import type { SavedBytes } from '../cache-use.js'
import { type FoldedRequests, folded, rankOf } from '../folded-requests.js'
import type { InvocationTab, Seen } from '../invocation.js'

type Outcome = RequestRecord['outcome']

const TONES: Readonly<Partial<Record<Outcome, Tone>>> = { hit: 'good', miss: 'warn', failed: 'bad' }

/** Without a column in which no row says anything. */
const columnsOf = ({ visit }: Seen, rows: readonly FoldedRequests[]): readonly Column<FoldedRequests>[] => [
  {
    head: 'Outcome',
    cell: ({ outcomes, action, invocation, instance, target }) =>
      outcomes.map((outcome, at) => (
        <>
          {at > 0 && ', '}
          {outcome === 'miss' ? (
            <a
              href={visit.to('miss', { instance, invocation, action })}
              aria-label={saidText(`why ${target || 'it'} was a miss`)}
            >
              <Mark tone="warn">miss</Mark>
            </a>
          ) : (
            <Mark tone={TONES[outcome] ?? 'dim'}>{outcome}</Mark>
          )}
        </>
      )),
    sort: 'outcome',
    by: rankOf,
  },
  {
    head: 'Target',
    kind: 'name',
    cell: ({ target }) => <Said text={target || '–'} />,
    sort: 'target',
    by: ({ target }) => target || undefined,
  },
  {
    head: 'Kind',
    cell: ({ mnemonic }) => <Said text={mnemonic} max={60} />,
    sort: 'kind',
    by: ({ mnemonic }) => mnemonic || undefined,
  },
  ...(rows.some(({ reason }) => reason !== '')
    ? [{ head: 'Why', kind: 'text' as const, cell: ({ reason }: FoldedRequests) => <Said text={reason} /> }]
    : []),
  { head: 'Action', cell: ({ action, instance }) => <ActionLink {...{ action, visit, instance }} /> },
  ...(rows.some(({ sizeBytes }) => sizeBytes !== undefined) ? [RESULT] : []),
  {
    head: 'When',
    cell: ({ timeMs }) => <Ago ms={timeMs} nowMs={visit.nowMs} />,
    sort: 'when',
    by: ({ timeMs }) => timeMs,
  },
]

const RESULT: Column<FoldedRequests> = {
  head: 'Result',
  kind: 'number',
  cell: ({ sizeBytes }) => <Size bytes={sizeBytes} />,
  sort: 'size',
  by: ({ sizeBytes }) => sizeBytes,
}

const SHOWN_DIGITS = 12

const ActionLink = ({ action, visit, instance }: Pick<Seen, 'visit' | 'instance'> & { readonly action: string }) => {
  const digest = Digest.ofKey(action)
  if (digest === undefined) return <Said text={action} max={SHOWN_DIGITS} />
  return (
    <a href={visit.to(addressOf(instance, 'action', digest))}>
      <code>{digest.hash.slice(0, SHOWN_DIGITS)}</code>
    </a>
  )
}

interface Kind {
  readonly mnemonic: string
  readonly hits: number
  readonly misses: number
}

const KIND_COLUMNS: readonly Column<Kind>[] = [
  { head: 'Kind', kind: 'name', cell: ({ mnemonic }) => <Said text={mnemonic || 'not said'} max={80} /> },
  { head: 'Hits', kind: 'number', cell: ({ hits }) => countText(hits) },
  { head: 'Misses', kind: 'number', cell: ({ misses }) => countText(misses) },
  { head: 'From cache', kind: 'number', cell: ({ hits, misses }) => shareText(hits, hits + misses) },
]

const kindsOf = (records: readonly RequestRecord[]): Kind[] => {
  const kinds = new Map<string, { hits: number; misses: number }>()
  for (const { mnemonic, outcome } of records) {
    const counts = kinds.get(mnemonic) ?? { hits: 0, misses: 0 }
    kinds.set(mnemonic, counts)
    if (outcome === 'hit') counts.hits += 1
    if (outcome === 'miss') counts.misses += 1
  }
  return [...kinds]
    .map(([mnemonic, { hits, misses }]) => ({ mnemonic, hits, misses }))
    .sort((a, b) => b.misses - a.misses || b.hits - a.hits)
}

/** What the client asked the caches for. Also known of clients that send no build events. */
export const cacheTab: InvocationTab = {
  address: 'cache',
  title: 'Cache',
  needsEvents: false,
  data: async (seen) => {
    const { visit, requests: all } = seen
    const outcome = visit.query.get('outcome') ?? ''
    const wanted = outcome === '' ? all : all.filter((record) => record.outcome === outcome)
    const page = paged(wanted, visit)
    return { ...pagedData(page), requests: page.rows.map(requestData), kinds: kindsOf(all).slice(0, 50) }
  },
  body: async (seen) => {
    const { visit, kept, requests: all, parts } = seen
    const outcome = visit.query.get('outcome') ?? ''
    const ofAll = await folded(all)
    const wanted = outcome === '' ? ofAll : ofAll.filter(({ outcomes }) => outcomes.includes(outcome as Outcome))
    const columns = columnsOf(seen, wanted)
    const { rows, sorting } = await sortedRows(wanted, columns, visit, '-when')
    const page = paged(rows, visit)
    const count = (of: Outcome) => all.filter((record) => record.outcome === of).length
    const [hits, misses] = [count('hit'), count('miss')]
    const runners = Object.entries(kept?.summary.runners ?? {})
    const saved = await parts.saved.sum(all, parts.sourcesOf, visit.request)
    if (saved.countedHits < saved.hits) seen.goesOn()
    const filters = ['hit', 'miss', 'written', 'failed'] as const
    return (
      <>
        <Numbers
          of={[
            ['hits', countText(hits)],
            ['misses', countText(misses)],
            ['from cache', shareText(hits, hits + misses)],
            [savedWords(saved), sizeText(saved.bytes)],
            ['results written', countText(count('written'))],
          ]}
        />
        {runners.length > 0 && (
          <p>
            {'The tool counts: '}
            <Said text={runners.map(([name, number]) => `${countText(number)} ${name}`).join(', ')} max={600} />.
          </p>
        )}
        <h2>By kind of action</h2>
        <Table
          caption="Requests by kind of action"
          columns={KIND_COLUMNS}
          rows={kindsOf(all).slice(0, 50)}
          none={GONE}
        />
        <h2>Actions</h2>
        <nav class="tabs" aria-label="Outcome">
          {['', ...filters].map((name) => (
            <a
              href={visit.here({ outcome: name, page: undefined })}
              {...(name === outcome && { 'aria-current': 'true' as const })}
            >
              {name === '' ? 'All' : `${name[0]?.toUpperCase()}${name.slice(1)}`}
            </a>
          ))}
        </nav>
        <Table
          caption={`${counted(wanted.length, 'action')} in ${counted(requestCount(wanted), 'request')} that are still remembered`}
          {...{ columns, rows: page.rows, none: GONE, visit, sorting }}
        />
        <Pager of={page} visit={visit} />
      </>
    )
  },
}

const requestCount = (of: readonly FoldedRequests[]): number => of.reduce((sum, { count }) => sum + count, 0)

/** What the number of saved bytes is about. */
export const savedWords = ({ countedHits, hits }: SavedBytes): string =>
  countedHits < hits ? `saved by ${countText(countedHits)} of ${countText(hits)} hits` : 'saved by hits'

const GONE = 'No request is remembered: the server keeps the last ones of all builds, and forgets them when it stops.'
