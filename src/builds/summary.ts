import {
  type BuildFinished,
  type BuildMetrics,
  type BuildStarted,
  TestStatus,
} from '../proto/generated/build_event_stream.js'
import type { About } from './about.js'
import { decodeAbout } from './about.js'
import { type HistoryRecord, MAX_LABEL, MAX_TESTS, type TestRun } from './history/record.js'
import { type EventRecord, Stream } from './log/record.js'
import { hasFailed, OwnCounter } from './own/facts.js'
import { decodeOwn, type OwnCounts } from './own/record.js'
import { type BazelEvent, bazelEventIn, decodePayload, payloadIn, statusIn } from './stored-event.js'

/** Raise it when a summary gets another meaning: older ones are derived again from their logs. */
export const SUMMARY_VERSION = 4

/** What lists of invocations show. Derived from the log, and derived again if it is missing or of another version. */
export interface Summary {
  readonly version: number
  /** The part of the log that it covers. */
  readonly logBytes: number
  readonly about: About
  readonly eventCount: number
  /** Events beyond the bound of a log, of which only the number was kept. */
  readonly leftOutCount: number
  /** The tool sent the last event of its stream. */
  readonly isFinished: boolean
  readonly lastEventMs: number
  readonly tool?: string
  readonly command?: string
  readonly patterns: readonly string[]
  readonly workspace?: string
  readonly user?: string
  readonly host?: string
  readonly branch?: string
  readonly commit?: string
  readonly repository?: string
  readonly pullRequest?: string
  readonly ciUrl?: string
  readonly role?: string
  readonly startedMs?: number
  readonly endedMs?: number
  readonly exitName?: string
  readonly exitCode?: number
  readonly failure?: string
  readonly targetCount: number
  readonly failedTargetCount: number
  readonly testCount: number
  readonly failedTestCount: number
  readonly flakyTestCount: number
  readonly executedActions?: number
  /** How many actions ran where, by Bazel's names. */
  readonly runners: Readonly<Record<string, number>>
  readonly wallMs?: number
  /** What this server counted; absent if it did not. */
  readonly own?: OwnCounts
  /** Executions that ended here, and those of them that failed. */
  readonly ownExecutions: number
  readonly ownFailures: number
  /** How long the commands of these executions ran, added up. */
  readonly ownRunMs: number
}

/** `incomplete`: the stream broke before the build ended, or the client has not come back. */
export type Outcome = 'running' | 'succeeded' | 'failed' | 'tests failed' | 'interrupted' | 'incomplete'

const TESTS_FAILED = 3
const INTERRUPTED = 8

export const outcomeOf = ({ exitCode }: Summary, isOpen: boolean): Outcome => {
  if (exitCode === undefined) return isOpen ? 'running' : 'incomplete'
  if (exitCode === 0) return 'succeeded'
  if (exitCode === TESTS_FAILED) return 'tests failed'
  return exitCode === INTERRUPTED ? 'interrupted' : 'failed'
}

const MAX_TEXT = 300
const MAX_PATTERNS = 8
const MAX_RUNNERS = 16
const MAX_RUNNER_NAME = 60

const clipped = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

/** Names under which scripts of workspace status, and `--build_metadata`, tell these facts; the first found is taken. */
const NAMES: Readonly<
  Record<'user' | 'host' | 'branch' | 'commit' | 'repository' | 'pullRequest' | 'ciUrl' | 'role', readonly string[]>
> = {
  user: ['USER', 'BUILD_USER', 'STABLE_USER'],
  host: ['HOST', 'BUILD_HOST'],
  branch: ['BRANCH_NAME', 'GIT_BRANCH', 'STABLE_GIT_BRANCH', 'BRANCH'],
  commit: ['COMMIT_SHA', 'GIT_COMMIT', 'STABLE_GIT_COMMIT', 'BUILD_SCM_REVISION'],
  repository: ['REPO_URL', 'GIT_URL', 'STABLE_REPO_URL'],
  pullRequest: ['PULL_REQUEST', 'PR_NUMBER', 'CHANGE_ID', 'CI_MERGE_REQUEST_IID'],
  ciUrl: ['BUILD_URL', 'CI_URL', 'CI_JOB_URL'],
  role: ['ROLE'],
}

/** Field numbers of build_event_stream.BuildEvent. */
const PAYLOADS: ReadonlySet<number> = new Set([5, 6, 8, 9, 13, 14, 16, 24, 26])

type Changing = { -readonly [K in keyof Summary]: Summary[K] }

/** Builds the summary of a log from its records, in order. */
export class Summariser {
  #summary: Changing | undefined
  readonly #counter = new OwnCounter()
  readonly #tests: TestRun[] = []
  #moreTests = 0

  take({ stream, event, receivedMs }: EventRecord): void {
    if (stream === Stream.about) {
      this.#summary ??= newSummary(decodeAbout(event))
      return
    }
    const summary = this.#summary
    if (summary === undefined) return
    if (stream === Stream.own) {
      this.#own(summary, event)
      return
    }
    summary.lastEventMs = receivedMs
    if (event.length === 0) summary.leftOutCount += 1
    else if (stream === Stream.tool) this.#tool(summary, event)
    else takeStatus(summary, event)
  }

  /** The tests of a build that has ended; undefined if it has none. */
  history(key: string): HistoryRecord | undefined {
    const summary = this.#summary
    if (summary === undefined || this.#tests.length === 0) return undefined
    const { about, startedMs = about.startedMs, branch } = summary
    return {
      ...{ key, id: about.invocationId, instance: about.instance, atMs: startedMs },
      ...(about.scope !== undefined && { scope: about.scope }),
      ...(branch !== undefined && { branch }),
      tests: this.#tests,
      ...(this.#moreTests > 0 && { more: this.#moreTests }),
    }
  }

  /** Undefined for a log without its first record. */
  summary(logBytes: number, isFinished: boolean): Summary | undefined {
    return this.#summary && { ...this.#summary, logBytes, isFinished }
  }

  #own(summary: Changing, event: Buffer): void {
    const { counts, executions = [] } = decodeOwn(event)
    summary.ownExecutions += executions.length
    summary.ownFailures += executions.filter(hasFailed).length
    for (const { runMs = 0 } of executions) summary.ownRunMs += runMs
    if (counts !== undefined) this.#counter.take(counts)
    const { sum } = this.#counter
    if (sum !== undefined) summary.own = sum
  }

  #test({ id, testSummary }: BazelEvent): void {
    const label = id?.testSummary?.label ?? ''
    if (testSummary === null || label === '') return
    if (this.#tests.length >= MAX_TESTS) {
      this.#moreTests += 1
      return
    }
    const tookMs = millisOf(testSummary.totalRunDuration) ?? testSummary.totalRunDurationMillis
    this.#tests.push([label.slice(0, MAX_LABEL), statusName(testSummary.overallStatus), tookMs])
  }

  #tool(summary: Changing, event: Buffer): void {
    summary.eventCount += 1
    try {
      const bazelEvent = bazelEventIn(event)
      const encoded = bazelEvent && payloadIn(bazelEvent)
      if (encoded === undefined || !PAYLOADS.has(encoded.number)) return
      const { event: decoded } = decodePayload(encoded)
      takeBazelEvent(summary, decoded)
      this.#test(decoded)
    } catch {
      // A later Bazel may send what this version cannot decode. The log keeps it; the page of the invocation counts it.
    }
  }
}

const newSummary = (about: About): Changing => ({
  version: SUMMARY_VERSION,
  logBytes: 0,
  about,
  eventCount: 0,
  leftOutCount: 0,
  isFinished: false,
  lastEventMs: about.startedMs,
  patterns: [],
  targetCount: 0,
  failedTargetCount: 0,
  testCount: 0,
  failedTestCount: 0,
  flakyTestCount: 0,
  runners: {},
  ownExecutions: 0,
  ownFailures: 0,
  ownRunMs: 0,
})

/** `google.devtools.build.v1.BuildStatus.Result` of a controller, if the tool's own stream broke before its end. */
const takeStatus = (summary: Changing, event: Buffer): void => {
  const status = statusIn(event)
  if (status === undefined || summary.exitCode !== undefined) return
  const code = status.buildToolExitCode?.value
  if (code !== undefined) summary.exitCode = code
}

const takeBazelEvent = (summary: Changing, event: BazelEvent): void => {
  const { id } = event
  if (id?.pattern && summary.patterns.length === 0) {
    const { pattern } = id.pattern
    const more = pattern.length > MAX_PATTERNS ? [`… ${pattern.length - MAX_PATTERNS} more`] : []
    summary.patterns = [...pattern.slice(0, MAX_PATTERNS).map(clipped), ...more]
  }
  const { started, finished, completed, testSummary: test, buildMetrics, workspaceStatus, buildMetadata } = event
  if (started !== null) takeStart(summary, started)
  if (finished !== null) takeEnd(summary, finished)
  if (buildMetrics !== null) takeMetrics(summary, buildMetrics)
  if (completed !== null && !id?.targetCompleted?.aspect) {
    summary.targetCount += 1
    if (!completed.success) summary.failedTargetCount += 1
  }
  if (test !== null) {
    summary.testCount += 1
    if (test.overallStatus === TestStatus.FLAKY) summary.flakyTestCount += 1
    else if (test.overallStatus !== TestStatus.PASSED) summary.failedTestCount += 1
  }
  if (workspaceStatus !== null)
    takeNamed(summary, new Map(workspaceStatus.item.map(({ key, value }) => [key, value])), false)
  if (buildMetadata !== null) takeNamed(summary, new Map(Object.entries(buildMetadata.metadata)), true)
}

const takeStart = (summary: Changing, started: BuildStarted): void => {
  summary.tool = clipped(started.buildToolVersion)
  summary.command = clipped(started.command)
  summary.workspace = clipped(started.workspaceDirectory)
  const startedMs = millisOf(started.startTime) ?? started.startTimeMillis
  if (startedMs > 0) summary.startedMs = startedMs
}

const takeEnd = (summary: Changing, finished: BuildFinished): void => {
  const endedMs = millisOf(finished.finishTime) ?? finished.finishTimeMillis
  if (endedMs > 0) summary.endedMs = endedMs
  summary.exitCode = finished.exitCode?.code ?? (finished.overallSuccess ? 0 : 1)
  summary.exitName = clipped(finished.exitCode?.name ?? '')
  if (finished.failureDetail !== null) summary.failure = clipped(finished.failureDetail.message)
}

const takeMetrics = (summary: Changing, { actionSummary, timingMetrics }: BuildMetrics): void => {
  if (timingMetrics !== null) summary.wallMs = timingMetrics.wallTimeInMs
  if (actionSummary === null) return
  summary.executedActions = actionSummary.actionsExecuted
  const counts = actionSummary.runnerCount.slice(0, MAX_RUNNERS)
  summary.runners = Object.fromEntries(counts.map(({ name, count }) => [name.slice(0, MAX_RUNNER_NAME), count]))
}

/** What the user says by `--build_metadata` goes before what a script found out. */
const takeNamed = (summary: Changing, found: ReadonlyMap<string, string>, isSaid: boolean): void => {
  for (const [fact, names] of Object.entries(NAMES) as [keyof typeof NAMES, readonly string[]][]) {
    const value = names.map((name) => found.get(name)).find((one) => one !== undefined && one !== '')
    if (value !== undefined && (isSaid || summary[fact] === undefined)) summary[fact] = clipped(value)
  }
}

const STATUSES: ReadonlyMap<number, string> = new Map(
  Object.entries(TestStatus).map(([name, number]) => [Number(number), name.toLowerCase().replaceAll('_', ' ')]),
)

/** The status of a test, in words. */
export const statusName = (status: number): string => STATUSES.get(status) ?? `status ${status}`

export const millisOf = (time: { readonly seconds: number; readonly nanos: number } | null): number | undefined =>
  time === null ? undefined : Math.round(time.seconds * 1000 + time.nanos / 1e6)
