import { countText, shareText, sizeText } from '../../../base/quantities.js'
import type { Failure } from '../../../builds/detail/details.js'
import { Said } from '../../parts/said.js'
import { durationText, Facts, Note, Numbers, Time } from '../../parts/small.js'
import { type ShownText, textOf } from '../blob-text.js'
import type { SavedBytes } from '../cache-use.js'
import { FileLink, FileText } from '../file-view.js'
import { type InvocationTab, linkToTab, type Seen } from '../invocation.js'
import { cacheUseOf, tookMsOf } from '../row.js'
import { savedWords } from './cache.js'

/** Further failures are in the list of targets and in the log. */
const MAX_SHOWN_FAILURES = 10

/** What a reader wants first: what failed and why, then what was built and by whom. */
export const overviewTab: InvocationTab = {
  address: '',
  title: 'Overview',
  needsEvents: false,
  body: async (seen) => {
    const { details, visit, parts } = seen
    const failures = details?.failures.slice(0, MAX_SHOWN_FAILURES) ?? []
    const texts = await Promise.all(
      failures.map((failure) => {
        const file = failure.stderr ?? failure.stdout
        return file && textOf(file, visit, parts.casOf, details?.hidden ?? String)
      }),
    )
    const saved = await parts.saved.sum(seen.requests, parts.sourcesOf, visit.request)
    if (saved.countedHits < saved.hits) seen.goesOn()
    return (
      <>
        <Why seen={seen} />
        <Counts seen={seen} saved={saved} />
        <Runners seen={seen} />
        {failures.length > 0 && <h2>{failures.length === 1 ? 'What failed' : 'What failed first'}</h2>}
        {failures.map((failure, at) => (
          <FailureView failure={failure} text={texts[at]} seen={seen} />
        ))}
        <LeftOut seen={seen} shown={failures.length} />
        <FailedTests seen={seen} />
        <About seen={seen} />
      </>
    )
  },
}

const Why = ({ seen: { kept, details } }: { readonly seen: Seen }) => {
  const failure = kept?.summary.failure
  return (
    <>
      {failure !== undefined && failure !== '' && (
        <Note tone="bad">
          <Said text={details?.hidden(failure) ?? failure} max={1000} />
        </Note>
      )}
      {details?.aborted !== undefined && (
        <Note tone="warn">
          <Said text={details.hidden(details.aborted)} max={1000} />
        </Note>
      )}
    </>
  )
}

const CountsOfRequests = ({ requests, saved }: { requests: Seen['requests']; saved: SavedBytes }) => {
  const count = (outcome: string) => requests.filter((record) => record.outcome === outcome).length
  const [hits, misses] = [count('hit'), count('miss')]
  return (
    <Numbers
      of={[
        ['cache hits', countText(hits)],
        ['cache misses', countText(misses)],
        ['from cache', shareText(hits, hits + misses)],
        [savedWords(saved), sizeText(saved.bytes)],
      ]}
    />
  )
}

const Counts = ({ seen: { kept, requests }, saved }: { readonly seen: Seen; readonly saved: SavedBytes }) => {
  if (kept === undefined) return <CountsOfRequests requests={requests} saved={saved} />
  const { summary } = kept
  const { targetCount, failedTargetCount, testCount, failedTestCount, flakyTestCount, executedActions } = summary
  const { hits, misses } = cacheUseOf(summary)
  const tookMs = tookMsOf(summary)
  const numbers = [
    ...(tookMs === undefined ? [] : [['took', durationText(tookMs)] as const]),
    ['targets', countText(targetCount)] as const,
    ...(failedTargetCount > 0 ? [['targets failed', countText(failedTargetCount)] as const] : []),
    ...(testCount > 0 ? [['tests', countText(testCount)] as const] : []),
    ...(failedTestCount > 0 ? [['tests failed', countText(failedTestCount)] as const] : []),
    ...(flakyTestCount > 0 ? [['tests flaky', countText(flakyTestCount)] as const] : []),
    ...(executedActions === undefined ? [] : [['actions executed', countText(executedActions)] as const]),
    ...(hits === undefined
      ? []
      : [
          ['cache hits', countText(hits)] as const,
          ['cache misses', countText(misses ?? 0)] as const,
          ['from cache', shareText(hits, hits + (misses ?? 0))] as const,
        ]),
    ...(saved.hits > 0 ? [[savedWords(saved), sizeText(saved.bytes)] as const] : []),
  ]
  return <Numbers of={numbers} />
}

/** Colours of pictures in the order of their parts; the legend says the same. */
const MAX_PARTS = 5

/** Where the actions ran, by what the tool says. */
const Runners = ({ seen: { kept } }: { readonly seen: Seen }) => {
  const all = Object.entries(kept?.summary.runners ?? {}).filter(([name, count]) => name !== 'total' && count > 0)
  const total = all.reduce((sum, [, count]) => sum + count, 0)
  if (all.length < 2) return null
  const shown = all.sort(([, a], [, b]) => b - a).slice(0, MAX_PARTS)
  const ofRunner = (name: string): number => {
    if (/cache hit$/.test(name)) return 2
    return name === 'internal' ? 0 : /remote/.test(name) ? 1 : 3
  }
  let at = 0
  return (
    <section aria-label="Where actions ran">
      <svg class="parts" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {shown.map(([name, count]) => {
          const [x, width] = [at, (1000 * count) / total]
          at += width
          return <rect class={`k${ofRunner(name)}`} x={x.toFixed(1)} width={width.toFixed(1)} height="10" />
        })}
      </svg>
      <ul class="legend">
        {shown.map(([name, count]) => (
          <li>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect class={`k${ofRunner(name)}`} width="10" height="10" />
            </svg>
            {`${countText(count)} `}
            <Said text={name} max={60} />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface FailureParts {
  readonly failure: Failure
  readonly text: ShownText | undefined
  readonly seen: Seen
}

const FailureView = ({ failure, text, seen }: FailureParts) => {
  const { label, mnemonic, exitCode, message, stdout, stderr, command } = failure
  const files = [stderr, stdout].filter((file) => file !== undefined)
  return (
    <article class="bad">
      <h3>
        <Said text={label} /> <span class="dim">{mnemonic}</span>
      </h3>
      <p>
        {`Exit code ${exitCode}. `}
        {files.map((file) => (
          <>
            <FileLink file={file} visit={seen.visit} />{' '}
          </>
        ))}
      </p>
      {text !== undefined && <FileText label={`What ${label} wrote`} of={text} />}
      {message !== undefined && (
        <details open={text === undefined}>
          <summary>What the tool says</summary>
          <pre>
            <Said text={message} max={4000} />
          </pre>
        </details>
      )}
      {command.length > 0 && (
        <details>
          <summary>Command</summary>
          <pre>
            <Said text={command.join('\n')} max={8000} />
          </pre>
        </details>
      )}
    </article>
  )
}

const LeftOut = ({ seen, shown }: { readonly seen: Seen; readonly shown: number }) => {
  const { details } = seen
  const more = (details?.failures.length ?? 0) + (details?.leftOut.failures ?? 0) - shown
  if (more <= 0) return null
  return (
    <p>
      {`${countText(more)} more actions failed: see `}
      <a href={linkToTab(seen, 'targets')}>the targets</a>
      {' and '}
      <a href={linkToTab(seen, 'log')}>the log</a>.
    </p>
  )
}

const FailedTests = ({ seen }: { readonly seen: Seen }) => {
  const failed = (seen.details?.tests ?? []).filter(({ status }) => status !== 'passed')
  if (failed.length === 0) return null
  return (
    <>
      <h2>Tests that did not pass</h2>
      <ul>
        {failed.slice(0, MAX_SHOWN_FAILURES).map(({ label, status }) => (
          <li>
            <a href={linkToTab(seen, 'tests')}>
              <Said text={label} />
            </a>
            {`: ${status}`}
          </li>
        ))}
      </ul>
      {failed.length > MAX_SHOWN_FAILURES && <p>{`and ${countText(failed.length - MAX_SHOWN_FAILURES)} more`}</p>}
    </>
  )
}

const About = ({ seen }: { readonly seen: Seen }) => {
  const { id, instance, kept, details } = seen
  const { summary } = kept ?? {}
  const { about, tool, workspace, repository, ciUrl, role, branch, commit, exitName, exitCode, endedMs } = summary ?? {}
  const said = (text: string | undefined) => text && <Said text={details?.hidden(text) ?? text} />
  return (
    <>
      <h2>About this build</h2>
      <Facts
        of={[
          ['Invocation', <code>{id}</code>],
          ['Instance', said(instance)],
          ['Build', said(about?.buildId)],
          ['Sent by', said(about?.identity)],
          ['Tool', said(tool)],
          ['Exit', exitCode === undefined ? undefined : said(`${exitName ?? ''} (${exitCode})`)],
          ['Ended', endedMs === undefined ? undefined : <Time ms={endedMs} />],
          ['Branch', said(branch)],
          ['Commit', said(commit)],
          ['Repository', said(repository)],
          ['Workspace', said(workspace)],
          ['Role', said(role)],
          ['CI', ciUrl && <CiLink url={details?.hidden(ciUrl) ?? ciUrl} />],
        ]}
      />
    </>
  )
}

/** Any address may stand there, and only some are safe to follow. */
const CiLink = ({ url }: { readonly url: string }) =>
  /^https?:\/\//i.test(url) ? (
    <a href={url} rel="noopener noreferrer nofollow">
      <Said text={url} />
    </a>
  ) : (
    <Said text={url} />
  )
