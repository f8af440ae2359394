import type { FailedCase } from '../../builds/detail/test-report.js'
import { STEPS } from '../../builds/own/facts.js'
import type { OwnExecution } from '../../builds/own/record.js'
import { outcomeOf } from '../../builds/summary.js'
import type { Visit } from '../page.js'
import { msData, textData, timeData } from '../parts/data.js'
import type { ShownText } from './blob-text.js'
import { pageOf, runAgain } from './failure-view.js'
import type { ShownFailure } from './failures.js'
import { linkOfFile } from './file-view.js'
import { linkBy } from './link-patterns.js'
import { type BuildRow, cacheUseOf, tookMsOf } from './row.js'
import type { Seen } from './seen.js'
import { shownOutcomeOf } from './shown-outcome.js'

/** The pages of builds as JSON. */

export const buildData = (row: BuildRow): object => ({
  id: row.id,
  instance: row.instance,
  scope: textData(row.scope),
  outcome: row.outcome,
  startedAt: timeData(row.startedMs),
  tookMs: msData(row.tookMs),
  command: textData(row.command),
  patterns: row.patterns.map((pattern) => textData(pattern) ?? ''),
  user: textData(row.user),
  host: textData(row.host),
  branch: textData(row.branch),
  commit: textData(row.commit),
  targets: { count: row.targetCount, failed: row.failedTargetCount },
  tests: { count: row.testCount, failed: row.failedTestCount, flaky: row.flakyTestCount },
  cache: cacheData(row.hits, row.misses, row.countedBy),
  name: textData(row.name),
  executions: row.executions,
})

const cacheData = (hits: number | undefined, misses: number | undefined, countedBy: BuildRow['countedBy']) =>
  countedBy === undefined ? undefined : { hits, misses, countedBy }

/** What all parts of an invocation say. */
export const invocationData = (seen: Seen): object => {
  const { id, instance, scope, kept, details, parts } = seen
  if (kept === undefined) return { id, instance, scope: textData(scope), outcome: shownOutcomeOf(seen) }
  const { summary, isOpen } = kept
  const hidden = (text: string | undefined) => text && textData(details?.hidden(text) ?? text)
  const { hits, misses, by } = cacheUseOf(summary, isOpen ? parts.live : undefined)
  const { about, startedMs = about.startedMs, targetCount, failedTargetCount, testCount } = summary
  return {
    ...{ id, instance, scope: textData(scope) },
    outcome: outcomeOf(summary, isOpen),
    startedAt: timeData(startedMs),
    endedAt: timeData(summary.endedMs),
    tookMs: msData(tookMsOf(summary)),
    tool: hidden(summary.tool),
    command: hidden(summary.command),
    patterns: summary.patterns.map((pattern) => hidden(pattern) ?? ''),
    user: hidden(summary.user),
    host: hidden(summary.host),
    branch: hidden(summary.branch),
    commit: hidden(summary.commit),
    repository: hidden(summary.repository),
    pullRequest: hidden(summary.pullRequest),
    commitUrl: linkBy(parts.links.commit, summary),
    pullRequestUrl: linkBy(parts.links.pullRequest, summary),
    ciUrl: hidden(summary.ciUrl),
    exit: summary.exitCode === undefined ? undefined : { code: summary.exitCode, name: hidden(summary.exitName) },
    failure: hidden(summary.failure),
    targets: { count: targetCount, failed: failedTargetCount },
    tests: { count: testCount, failed: summary.failedTestCount, flaky: summary.flakyTestCount },
    cache: cacheData(hits, misses, by),
    isWhole: details?.isWhole,
  }
}

export const failureData = (of: ShownFailure, visit: Visit, invocation: string): object => {
  const { kind, label, mnemonic, attempt, exit, execution, log, logFile, report, cases, command, message } = of
  const page = execution && pageOf(execution, visit)
  const link = (path: string | undefined) => path && `${visit.origin}${path}`
  const run = execution && runAgain(execution, visit, invocation)
  return {
    kind,
    label: textData(label),
    mnemonic: textData(mnemonic),
    attempt,
    exitCode: exit.code,
    exitSaidBy: exit.by,
    reason: textData(exit.reason),
    execution: execution && executionData(execution),
    cases: report && cases.map(caseData),
    caseCounts: report && { count: report.caseCount, failed: report.failedCount, skipped: report.skippedCount },
    log: log && logData(log),
    logUrl: link(linkOfFile(logFile, visit)),
    actionUrl: link(page),
    reproduce: [command, run].filter((line) => line !== undefined),
    message: textData(message),
  }
}

export const executionData = (one: OwnExecution): object => ({
  action: one.action,
  instance: one.instance,
  target: textData(one.target),
  mnemonic: textData(one.mnemonic),
  outcome: one.outcome,
  exitCode: one.exitCode,
  worker: textData(one.worker),
  queuedAt: timeData(one.queuedMs),
  endedAt: timeData(one.endedMs || one.atMs),
  ...Object.fromEntries(STEPS.map((step) => [step, msData(one[step])])),
})

const caseData = ({ name, suite, tookMs, message, file, line }: FailedCase): object => ({
  name: textData(name) ?? '',
  suite: textData(suite),
  tookMs: msData(tookMs),
  message: textData(message),
  file: textData(file),
  line,
})

/** Why there are no lines, or the last lines. */
export const logData = ({ plain, linesAbove, cutBytes, why }: ShownText): object =>
  why === undefined ? { lines: plain, linesAbove, bytesAbove: cutBytes } : { missing: why }
