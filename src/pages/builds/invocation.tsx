import type { About } from '../../builds/about.js'
import type { Kept } from '../../builds/entry.js'
import { outcomeOf } from '../../builds/summary.js'
import type { Page, Shown, Visit } from '../page.js'
import { InQueueLinks } from '../parts/in-queue.js'
import { Said } from '../parts/said.js'
import { Ago, durationText, Note, Tabs, Time } from '../parts/small.js'
import { invocationData } from './data.js'
import type { DetailsOfBuilds } from './details.js'
import { Elsewhere, linkBy } from './link-patterns.js'
import { OutcomeMark, toneOfOutcome } from './outcome.js'
import { nameOfGroup } from './request-groups.js'
import { READ_BUILDS, tookMsOf } from './row.js'
import type { BuildPagesParts, InvocationTab, Seen } from './seen.js'
import { shownOutcomeOf } from './shown-outcome.js'

export type { BuildPagesParts, InvocationTab, Seen } from './seen.js'

/** A page for each tab. */
export const invocationPages = (
  parts: BuildPagesParts,
  all: DetailsOfBuilds | undefined,
  tabs: readonly InvocationTab[],
): readonly Page[] =>
  tabs.map((tab) => ({
    address: new RegExp(`^invocation/(?<id>[^/]+)${tab.address === '' ? '' : `/${tab.address}`}/?$`, 's'),
    show: async (visit) => {
      const { kept, id, instance, scope } = await foundFor(visit, parts)
      const details = kept && (await all?.of(kept, visit.request.signal))
      const groups = (await parts.requests.of(id)).filter(
        (group) => group.scope === scope && (group.instance === instance || visit.may('read_ac', group.instance)),
      )
      const requests = groups.flatMap((group) => parts.requests.recordsOf(group))
      const group = groups.find((one) => one.instance === instance) ?? groups[0]
      return shown({ visit, id, instance, scope, kept, details, parts, requests, group }, tab, tabs)
    },
  }))

interface Found {
  readonly id: string
  readonly instance: string
  readonly scope: string | undefined
  readonly kept: Kept | undefined
}

/**
 * The invocation of the address. `?instance=` and `?scope=` pick one, if several have one with the same id: a branch may name its
 * build as it likes. Without them it is that of a trusted caller, if there is one.
 */
export const foundFor = async (visit: Visit, { builds, requests }: BuildPagesParts): Promise<Found> => {
  const id = visit.named['id'] ?? ''
  const asked = visit.query.get('instance')
  const askedScope = visit.query.get('scope')
  const isFor = ({ instance, scope }: Pick<Found, 'instance' | 'scope'>): boolean =>
    (asked === null || asked === instance) &&
    (askedScope === null || askedScope === (scope ?? '')) &&
    visit.may(READ_BUILDS, instance)
  const kept = (builds?.withId(id) ?? []).map((one) => ({ ...placeOf(one.summary.about), kept: one }))
  const asking = (await requests.of(id)).map(({ instance, scope }) => ({ instance, scope, kept: undefined }))
  // Those with events first, but none of a branch before that of a trusted caller.
  const all = [...kept, ...asking].filter(isFor)
  const first = all.find(({ scope }) => scope === undefined) ?? all[0]
  if (first !== undefined) {
    const { instance, scope } = first
    visit.demand(READ_BUILDS, instance)
    return { id, instance, scope, kept: first.kept && ((await builds?.find(first.kept.key)) ?? first.kept) }
  }
  throw visit.absent(`invocation ${id.slice(0, 128)}`)
}

const placeOf = ({ instance, scope }: About): Pick<Found, 'instance' | 'scope'> => ({ instance, scope })

/** The address of an invocation and its tabs. */
export const linkToTab = (
  { visit, id, instance, scope }: Pick<Seen, 'visit' | 'id' | 'instance' | 'scope'>,
  tab: string,
  query: Readonly<Record<string, string>> = {},
): string =>
  visit.to(`invocation/${id}${tab === '' ? '' : `/${tab}`}`, {
    instance,
    ...(scope !== undefined && { scope }),
    ...query,
  })

const shown = async (
  known: Omit<Seen, 'goesOn' | 'isRunning'>,
  tab: InvocationTab,
  tabs: readonly InvocationTab[],
): Promise<Shown> => {
  let isUnfinished = false
  const goesOn = (): void => {
    isUnfinished = true
  }
  const isRunning = known.kept !== undefined && outcomeOf(known.kept.summary, known.kept.isOpen) === 'running'
  const seen: Seen = { ...known, goesOn, isRunning }
  const { visit, kept, details } = seen
  const offered = tabs.filter(
    ({ needsEvents, isOffered }) => (!needsEvents || details !== undefined) && isOffered?.(seen) !== false,
  )
  const title = titleOf(seen)
  const all = await seen.parts.inQueueOf(visit, seen.id)
  // What failed is on the page of a build with events.
  const queued = kept === undefined ? all : { ...all, failed: 0 }
  if (visit.isForProgram) {
    if (details === undefined && tab.needsEvents) throw visit.absent(`build events of invocation ${seen.id}`)
    return { title, body: null, data: { ...invocationData(seen), ...(await tab.data(seen)) } }
  }
  const content = await (details === undefined && tab.needsEvents ? NO_EVENTS : tab.body(seen))
  const isLive = isRunning || isUnfinished ? visit.query.get('live') !== 'off' : undefined
  const outcome = shownOutcomeOf(seen)
  const body = (
    <>
      <p class="crumb">
        <a href={visit.to('')}>Builds</a>
      </p>
      <div class={`lead ${toneOfOutcome(outcome)}`}>
        <h1>
          <OutcomeMark of={outcome} isBadge /> <Said text={title} />
        </h1>
        <Lead seen={seen} />
        <InQueueLinks of={queued} visit={visit} only={{ invocation: seen.id }} />
      </div>
      {details !== undefined && <Gaps seen={seen} />}
      <Tabs
        label="Parts of the build"
        of={offered.map(({ title: text, address }) => ({
          title: text,
          link: linkToTab(seen, address),
          isCurrent: address === tab.address,
        }))}
      />
      {content}
    </>
  )
  return { title: `${title.slice(0, 100)}`, body, isLive, ...(tab.opensOthers === true && { headers: OPENS_OTHERS }) }
}

const OPENS_OTHERS = { 'cross-origin-opener-policy': 'same-origin-allow-popups' }

const NO_EVENTS = (
  <p class="none">
    The client sent no build events, so only its requests are known. With --bes_backend Bazel tells the rest.
  </p>
)

const titleOf = ({ id, kept, group }: Seen): string => {
  const { command, patterns = [] } = kept?.summary ?? {}
  return [command, ...patterns].filter(Boolean).join(' ') || (group && nameOfGroup(group)) || id
}

const Lead = ({ seen: { kept, visit, id, instance, scope, parts } }: { readonly seen: Seen }) => {
  if (kept === undefined)
    return (
      <p class="dim small">
        <Said text={`Invocation ${id}${inInstance(instance)}${scope === undefined ? '' : ` of scope ${scope}`}`} />
      </p>
    )
  const { summary } = kept
  const { user, host, branch, commit, startedMs = summary.about.startedMs } = summary
  const tookMs = tookMsOf(summary)
  const who = [user, host].filter(Boolean).join(' @ ')
  return (
    <ul class="said">
      {who !== '' && (
        <li>
          <b>
            <Said text={who} />
          </b>
        </li>
      )}
      {branch !== undefined && (
        <li>
          {'branch '}
          <b>
            <Said text={branch} />
          </b>
        </li>
      )}
      {scope !== undefined && (
        <li>
          {'scope '}
          <b>
            <Said text={scope} />
          </b>
        </li>
      )}
      {commit !== undefined && (
        <li>
          {'commit '}
          <code>
            <Elsewhere text={commit.slice(0, 12)} link={linkBy(parts.links.commit, summary)} />
          </code>
        </li>
      )}
      {summary.pullRequest !== undefined && (
        <li>
          {'pull request '}
          <Elsewhere text={summary.pullRequest} link={linkBy(parts.links.pullRequest, summary)} />
        </li>
      )}
      <li>
        {'started '}
        <Time ms={startedMs} />
        {', '}
        <Ago ms={startedMs} nowMs={visit.nowMs} />
      </li>
      {tookMs !== undefined && (
        <li>
          {'took '}
          <b>{durationText(tookMs)}</b>
        </li>
      )}
    </ul>
  )
}

const inInstance = (instance: string): string => (instance === '' ? '' : ` in instance ${instance}`)

/** What is missing in what the page shows. */
const Gaps = ({ seen: { kept, details } }: { readonly seen: Seen }) => {
  if (kept === undefined || details === undefined) return null
  const { leftOutCount, isFinished } = kept.summary
  const words = [
    ...(isFinished || kept.isOpen
      ? []
      : ['The stream of events broke before its end: what is below may be incomplete.']),
    ...(leftOutCount > 0 ? [`${leftOutCount} events were beyond the bound of an invocation, and are not kept.`] : []),
    ...(details.isWhole ? [] : ['The events are too many for a page: those after the first 256 MiB are not shown.']),
    ...(details.unknownEvents > 0
      ? [`${details.unknownEvents} events are of kinds that this version does not know.`]
      : []),
    ...(details.shortenedEvents > 0
      ? [`${details.shortenedEvents} events are so large that only their begin is shown.`]
      : []),
  ]
  if (words.length === 0) return null
  return (
    <Note tone="warn">
      {words.map((word) => (
        <p>{word}</p>
      ))}
    </Note>
  )
}
