import { counted, countText, shareText, sizeText } from '../../../base/quantities.js'
import { STEPS } from '../../../builds/own/facts.js'
import { msData, textData } from '../../parts/data.js'
import { Said } from '../../parts/said.js'
import { durationText, Facts, Note, Numbers, Time } from '../../parts/small.js'
import { artifactData, artifactsOf, withoutSecrets } from '../artifacts.js'
import type { SavedBytes } from '../cache-use.js'
import { failureData } from '../data.js'
import { FailureView } from '../failure-view.js'
import { failedTestsIn, flakyTestsIn, shownActions, shownTests } from '../failures.js'
import { type InvocationTab, linkToTab, type Seen } from '../invocation.js'
import { cacheUseOf, tookMsOf } from '../row.js'
import { RunningBuild, runningBuildData, runningParts } from '../running.js'
import { savedWords } from './cache.js'

/** The address `.../artifacts` has all. */
const MAX_ARTIFACTS_IN_DATA = 50

/** All that failed, as JSON, with how many more there are. */
const failuresData = async ({ details, visit, parts, id, isRunning }: Seen): Promise<object> => {
  if (details === undefined) return {}
  const context = { details, visit, casOf: parts.casOf }
  const [tests, actions, artifacts] = await Promise.all([
    shownTests(context),
    shownActions(context),
    artifactsOf(details, '', MAX_ARTIFACTS_IN_DATA),
  ])
  return {
    failedTests: tests.map((one) => failureData(one, visit, id)),
    failedTestCount: failedTestsIn(details).length,
    failedActions: actions.map((one) => failureData(one, visit, id)),
    failedActionCount: details.failures.length + details.leftOut.failures,
    flakyTests: flakyTestsIn(details).map(({ label }) => textData(label)),
    artifacts: withoutSecrets(artifacts.rows, details).map((one) => artifactData(one, visit)),
    hasMoreArtifacts: !artifacts.isWhole || details.artifacts.leftOut > 0,
    ...(isRunning && runningBuildData(details, await parts.activeOf(visit, id))),
    executions: {
      count: details.own.executionCount,
      failed: details.own.failedCount,
      ...Object.fromEntries(STEPS.map((step) => [step, msData(details.own.sums[step])])),
    },
  }
}

/** What a reader wants first: what failed and why, then what was built and by whom. */
export const overviewTab: InvocationTab = {
  address: '',
  title: 'Overview',
  needsEvents: false,
  data: failuresData,
  body: async (seen) => {
    const { details, visit, parts } = seen
    const context = details && { details, visit, casOf: parts.casOf }
    const [tests, actions] =
      context === undefined ? NOTHING_FAILED : await Promise.all([shownTests(context), shownActions(context)])
    const saved = await parts.saved.sum(seen.requests, parts.sourcesOf, visit.request)
    const running = seen.isRunning ? await runningParts(details, await parts.activeOf(visit, seen.id)) : undefined
    if (saved.countedHits < saved.hits) seen.goesOn()
    return (
      <>
        <Why seen={seen} />
        {running !== undefined && <RunningBuild of={running} visit={visit} />}
        {tests.length > 0 && (
          <h2>{`Failed tests${ofAll(tests.length, details === undefined ? 0 : failedTestsIn(details).length)}`}</h2>
        )}
        {tests.map((test) => (
          <FailureView of={test} visit={visit} invocation={seen.id} />
        ))}
        {actions.length > 0 && <h2>{`Failed actions${ofAll(actions.length, failedActionsIn(seen))}`}</h2>}
        {actions.map((failure) => (
          <FailureView of={failure} visit={visit} invocation={seen.id} />
        ))}
        <LeftOut seen={seen} shown={actions.length} />
        <FlakyTests seen={seen} />
        <Counts seen={seen} saved={saved} />
        <Runners seen={seen} />
        <About seen={seen} />
      </>
    )
  },
}

const NOTHING_FAILED = [[], []] as const

const failedActionsIn = ({ details }: Seen): number =>
  (details?.failures.length ?? 0) + (details?.leftOut.failures ?? 0)

/** How many are shown, if not all. */
const ofAll = (shown: number, all: number): string =>
  shown === all ? '' : `: the first ${countText(shown)} of ${countText(all)}`

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

const CountsOfRequests = ({ requests, group, saved }: Pick<Seen, 'requests' | 'group'> & { saved: SavedBytes }) => {
  const count = (outcome: string) => requests.filter((record) => record.outcome === outcome).length
  const [hits, misses] = [count('hit'), count('miss')]
  return (
    <Numbers
      of={[
        ['cache hits', countText(hits)],
        ['cache misses', countText(misses)],
        ['from cache', shareText(hits, hits + misses)],
        [savedWords(saved), sizeText(saved.bytes)],
        ...(group === undefined || group.ran === 0
          ? []
          : [
              ['actions ran here', countText(group.ran)] as const,
              ['of them failed', countText(group.failed)] as const,
            ]),
      ]}
    />
  )
}

const Counts = ({
  seen: { kept, requests, group, parts },
  saved,
}: {
  readonly seen: Seen
  readonly saved: SavedBytes
}) => {
  if (kept === undefined) return <CountsOfRequests requests={requests} group={group} saved={saved} />
  const { summary } = kept
  const { targetCount, failedTargetCount, testCount, failedTestCount, flakyTestCount, executedActions } = summary
  const { hits, misses, by } = cacheUseOf(summary, kept.isOpen ? parts.live : undefined)
  const who = by === 'client' ? ', the client says' : ''
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
          [`cache hits${who}`, countText(hits)] as const,
          [`cache misses${who}`, countText(misses ?? 0)] as const,
          [`from cache${who}`, shareText(hits, hits + (misses ?? 0))] as const,
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

const LeftOut = ({ seen, shown }: { readonly seen: Seen; readonly shown: number }) => {
  const more = failedActionsIn(seen) - shown
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

/** They passed in the end, so they stand behind what failed. */
const FlakyTests = ({ seen }: { readonly seen: Seen }) => {
  const flaky = seen.details === undefined ? [] : flakyTestsIn(seen.details)
  if (flaky.length === 0) return null
  return (
    <>
      <h2>Flaky tests</h2>
      <p>They passed, but not at once.</p>
      <ul>
        {flaky.slice(0, MAX_FLAKY).map(({ label, attempts }) => (
          <li>
            <a href={linkToTab(seen, 'tests', { label })}>
              <Said text={label} />
            </a>
            {`: ${counted(attempts.length, 'attempt')}`}
          </li>
        ))}
      </ul>
      {flaky.length > MAX_FLAKY && <p>{`and ${countText(flaky.length - MAX_FLAKY)} more`}</p>}
    </>
  )
}

const MAX_FLAKY = 10

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
