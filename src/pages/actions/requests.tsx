import type { Digest } from '../../reapi/digest.js'
import type { RequestRecord } from '../../rpc/request-records.js'
import type { Visit } from '../page.js'
import { textData, timeData } from '../parts/data.js'
import { Said } from '../parts/said.js'
import { Ago, Mark, type Tone } from '../parts/small.js'
import { type Column, Table } from '../parts/table.js'

export interface RequestsParts {
  /** The requests about an action that the server remembers, the newest first. */
  readonly requestsOf: (instance: string, action: Digest) => Promise<readonly RequestRecord[]>
}

const TONES: Readonly<Record<RequestRecord['outcome'], Tone>> = {
  hit: 'good',
  written: 'good',
  miss: 'warn',
  ran: 'warn',
  failed: 'bad',
}

const columnsOf = (visit: Visit, instance: string): readonly Column<RequestRecord>[] => [
  { head: 'When', cell: ({ timeMs }) => <Ago ms={timeMs} nowMs={visit.nowMs} /> },
  {
    head: 'Outcome',
    cell: ({ outcome, reason }) => (
      <>
        <Mark tone={TONES[outcome]}>{outcome}</Mark> {reason}
      </>
    ),
  },
  {
    head: 'Target',
    kind: 'name',
    cell: ({ target, mnemonic }) => <Said text={[target, mnemonic].filter(Boolean).join(', ') || '–'} />,
  },
  {
    head: 'By',
    kind: 'text',
    cell: ({ tool, via }) => <Said text={via === undefined ? tool || '–' : `HTTP ${via}`} max={80} />,
  },
  {
    head: 'Build',
    kind: 'text',
    cell: ({ invocation, scope }) => (
      <>
        {invocation === '' ? (
          '–'
        ) : (
          <a href={visit.to(`invocation/${invocation}`, { instance, ...(scope !== undefined && { scope }) })}>
            <Said text={invocation} max={80} />
          </a>
        )}
        {scope !== undefined && (
          <span class="under">
            <Said text={`scope ${scope}`} max={80} />
          </span>
        )}
      </>
    ),
  },
]

/** A request about an action. */
export const requestData = (record: RequestRecord): object => ({
  at: timeData(record.timeMs),
  ...{ instance: record.instance, action: record.action, outcome: record.outcome },
  reason: textData([record.reason, record.output].filter(Boolean).join(': ')),
  target: textData(record.target),
  mnemonic: textData(record.mnemonic),
  tool: textData(record.tool),
  invocation: textData(record.invocation),
  sizeBytes: record.sizeBytes,
})

const MAX_ROWS = 50

/** Who asked for an action, and what became of it. */
export const RequestsTable = ({
  of,
  visit,
  instance,
  action,
}: {
  readonly of: readonly RequestRecord[]
  readonly visit: Visit
  readonly instance: string
  readonly action: Digest
}) => (
  <>
    <h2>Requests</h2>
    {of.some(({ outcome }) => outcome === 'miss') && (
      <p>
        <a href={visit.to('miss', { instance, action: action.key })}>Why was it a miss?</a>
      </p>
    )}
    <Table
      caption={of.length > MAX_ROWS ? `The last ${MAX_ROWS} of ${of.length} requests` : `${of.length} requests`}
      columns={columnsOf(visit, instance)}
      rows={of.slice(0, MAX_ROWS)}
      none="The server remembers no request about it: it keeps the last ones only."
    />
  </>
)
