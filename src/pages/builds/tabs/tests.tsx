import { counted, countText } from '../../../base/quantities.js'
import type { Test } from '../../../builds/detail/details.js'
import { msData, textData, timeData } from '../../parts/data.js'
import { Said } from '../../parts/said.js'
import { Duration, durationText, Mark, Note, type Tone } from '../../parts/small.js'
import { type Column, Pager, paged, pagedData, sortedRows, Table } from '../../parts/table.js'
import { LAST_LINES, textOf } from '../blob-text.js'
import { attemptText } from '../failures.js'
import { FileLink, FileText, linkOfFile } from '../file-view.js'
import type { InvocationTab, Seen } from '../invocation.js'
import { FilterForm } from './targets.js'

const toneOf = (status: string): Tone => {
  if (status === 'passed') return 'good'
  return status === 'flaky' || status === 'no status' ? 'warn' : 'bad'
}

const SIGNS: Readonly<Record<string, string>> = { good: '✓', warn: '◐', bad: '✗' }

const Status = ({ of }: { readonly of: string }) => <Mark tone={toneOf(of)}>{`${SIGNS[toneOf(of)] ?? ''} ${of}`}</Mark>

const MAX_LISTED = 20
/** Logs of failed attempts that are shown at once. */
const MAX_LOGS = 5

const columnsOf = (seen: Seen): readonly Column<Test>[] => [
  {
    head: 'Status',
    cell: ({ status }) => <Status of={status} />,
    sort: 'status',
    by: ({ status }) => `${status === 'passed' ? 1 : 0} ${status}`,
  },
  { head: 'Test', kind: 'name', cell: ({ label }) => <Said text={label} />, sort: 'label', by: ({ label }) => label },
  {
    head: 'Took',
    kind: 'number',
    cell: ({ tookMs }) => <Duration ms={tookMs} />,
    sort: 'took',
    by: ({ tookMs }) => tookMs,
  },
  { head: 'Attempts and shards', kind: 'text', cell: (test) => <Attempts test={test} seen={seen} /> },
]

const Attempts = ({ test, seen }: { readonly test: Test; readonly seen: Seen }) => {
  const { attempts } = test
  const shown = attempts.slice(0, MAX_LISTED)
  return (
    <>
      <ul class="words">
        {shown.map((attempt) => {
          const { status, tookMs, isCachedLocally, isCachedRemotely, strategy, details, files } = attempt
          const from = isCachedLocally ? 'from the local cache' : isCachedRemotely ? 'from the remote cache' : strategy
          return (
            <li>
              {attemptText(test, attempt).replace(/.$/, '$&: ')}
              <Status of={status} />
              {` in ${durationText(tookMs)}${from === '' ? '' : `, ${from}`} `}
              {details !== '' && <Said text={details} />}
              {files.map((file) => (
                <>
                  <FileLink file={file} visit={seen.visit} />{' '}
                </>
              ))}
            </li>
          )
        })}
      </ul>
      {attempts.length > MAX_LISTED && <span class="cut">{`and ${countText(attempts.length - MAX_LISTED)} more`}</span>}
    </>
  )
}

/** The tests that the address asks for. */
const foundTests = async (seen: Seen) => {
  const { details, visit } = seen
  const all = details?.tests ?? []
  const wanted = (visit.query.get('label') ?? '').trim().toLowerCase()
  const found = wanted === '' ? all : all.filter(({ label }) => label.toLowerCase().includes(wanted))
  const columns = columnsOf(seen)
  const { rows, sorting } = await sortedRows(found, columns, visit, 'status')
  return { found, columns, sorting, page: paged(rows, visit) }
}

const testData = ({ label, status, tookMs, attempts }: Test): object => ({
  label: textData(label),
  status,
  tookMs: msData(tookMs),
  attempts: attempts.map((attempt) => ({
    ...{ run: attempt.run, shard: attempt.shard, attempt: attempt.attempt, status: attempt.status },
    tookMs: msData(attempt.tookMs),
    startedAt: timeData(attempt.startedMs),
    isCached: attempt.isCachedLocally || attempt.isCachedRemotely,
    details: textData(attempt.details),
    files: attempt.files.map(({ name, uri }) => ({ name: textData(name), uri: textData(uri) })),
  })),
})

export const testsTab: InvocationTab = {
  address: 'tests',
  title: 'Tests',
  needsEvents: true,
  data: async (seen) => {
    const { page } = await foundTests(seen)
    return { ...pagedData(page), testList: page.rows.map(testData) }
  },
  body: async (seen) => {
    const { details, visit, parts } = seen
    const { found, columns, page, sorting } = await foundTests(seen)
    const failed = page.rows.flatMap((test) =>
      test.attempts.flatMap((attempt) => {
        const file = attempt.status === 'passed' ? undefined : attempt.files.find(({ name }) => name === 'test.log')
        return file === undefined
          ? []
          : [{ title: [test.label, attemptText(test, attempt)].filter(Boolean).join(', '), file }]
      }),
    )
    const logs = await Promise.all(
      failed.slice(0, MAX_LOGS).map(async ({ title, file }) => ({
        ...{ title, whole: linkOfFile(file, visit) },
        text: await textOf(file, visit, parts.casOf, details?.hidden ?? String, LAST_LINES),
      })),
    )
    const beyond = details?.leftOut.tests ?? 0
    return (
      <>
        {beyond > 0 && <Note tone="warn">{`${countText(beyond)} more results are not listed.`}</Note>}
        <FilterForm visit={visit} label="Test" />
        <Table
          caption={counted(found.length, 'test')}
          {...{ columns, rows: page.rows, none: 'The build ran no tests.', visit, sorting }}
        />
        <Pager of={page} visit={visit} />
        {logs.length > 0 && <h2>Logs of what did not pass</h2>}
        {logs.map(({ title, text, whole }) => (
          <article>
            <h3>
              <Said text={title} />
            </h3>
            <FileText label={`Log of ${title}`} of={text} whole={whole} />
          </article>
        ))}
        {failed.length > MAX_LOGS && (
          <p class="dim">{`The logs of ${countText(failed.length - MAX_LOGS)} more are linked above.`}</p>
        )}
      </>
    )
  },
}
