#!/usr/bin/env -S node --max-semi-space-size=4 --expose-gc
import { checks } from './checks/all.js'
import type { Need } from './exam/candidate.js'
import { isAlive, lacks, openCandidate, openHttpCandidate, servedServices } from './exam/candidate.js'
import { badgeReport } from './report/badge.js'
import { documentOf, jsonReport, type ReportDocument } from './report/document.js'
import { explanation } from './report/explain.js'
import { writeReports } from './report/folder.js'
import { htmlReport } from './report/html.js'
import { junitReport } from './report/junit.js'
import { markdownReport } from './report/markdown.js'
import { sarifReport } from './report/sarif.js'
import { progressLine, textReport } from './report/text.js'
import { settingsOf, USAGE } from './run/arguments.js'
import { comeBack } from './run/come-back.js'
import { withExpectations, writeExpectations } from './run/expectations.js'
import type { Crash } from './run/outages.js'
import { type Result, runChecks } from './run/runner.js'
import { checkOf } from './session/session-checks.js'
import { oneLine, TargetError } from './wire/target.js'

const WRITERS: Readonly<Record<string, (document: ReportDocument, file?: string) => string>> = {
  sarif: sarifReport,
  badge: badgeReport,
  text: textReport,
  json: jsonReport,
  html: htmlReport,
  junit: junitReport,
  markdown: markdownReport,
}

const main = async (): Promise<number> => {
  const settings = settingsOf(process.argv.slice(2))
  if (settings === 'help') {
    process.stdout.write(USAGE)
    return 0
  }
  const startMs = performance.now()
  const isOverHttp = settings.candidate.address === ''
  const chosen = checks.filter(({ id, needs = [] }) => settings.isSelected(id) && (!isOverHttp || isOfHttp(needs)))
  const sessions = isOverHttp ? [] : settings.sessions.filter(({ id }) => settings.isSelected(id)).map(checkOf)
  const candidate = isOverHttp ? openHttpCandidate(settings.candidate) : await openCandidate(settings.candidate)
  const total = chosen.length + sessions.length
  let done = 0
  const onResult = (result: Result): void => {
    const count = `${String(++done).padStart(3)}/${total}`
    if (!settings.isQuiet) process.stderr.write(progressLine(withExpectations(result, settings.expectations), count))
  }
  const { patience } = candidate
  const tooLong = `the run took more than ${settings.timeLimitMs / 1000} s (--time-limit)`
  const limit = setTimeout(() => patience.giveUp(tooLong), settings.timeLimitMs)
  const lacking = lacks(candidate, isOverHttp ? new Set() : await servedServices(candidate))
  const crashes: Crash[] = []
  const running = {
    missing: (need: Need): string | undefined => patience.reason ?? lacking(need),
    isAlive: () => isAlive(candidate),
    comeBack: () => comeBack(candidate, settings.restartCommand),
    onCrash: (crash: Crash) => void crashes.push(crash),
    onResult,
    asksLateAgain: true,
  }
  const [before, last] = [false, true].map((fills) => chosen.filter(({ fillsStore = false }) => fillsStore === fills))
  const checked = await runChecks(before ?? [], candidate, { ...running, concurrency: 8 })
  const replayed = await runChecks(sessions, candidate, { ...running, concurrency: 4 })
  const filled = await runChecks(last ?? [], candidate, { ...running, concurrency: 1 })
  clearTimeout(limit)
  candidate.client.close()
  for (const cache of candidate.http.values()) cache.close()
  const results = [...inOrder([...checked, ...filled]), ...replayed].map((result) =>
    withExpectations(result, settings.expectations),
  )
  const peakMemoryBytes = process.resourceUsage().maxRSS * 1024
  const document = documentOf(results, { ...settings, crashes }, performance.now() - startMs, peakMemoryBytes)
  if (settings.writeExpectationsTo !== undefined) {
    writeExpectations(settings.writeExpectationsTo, results, settings.expectations)
  }
  if (settings.reportsFolder !== undefined) writeReports(settings.reportsFolder, document, settings.expectationsFile)
  const write = WRITERS[settings.format] ?? textReport
  process.stdout.write(
    settings.isExplaining ? results.map(explanation).join('\n') : write(document, settings.expectationsFile),
  )
  if (patience.reason !== undefined) throw new TargetError(`${settings.candidate.address}: ${patience.reason}`)
  for (const method of patience.silentMethods) {
    process.stderr.write(`${settings.candidate.address}: ${method} does not answer: its last calls got no response\n`)
  }
  const { fail, crash, surprise, broken } = document.summary
  if (broken > 0) return 2
  const known = new Set(document.results.filter(({ verdict }) => verdict === 'known').map(({ id }) => id))
  const unknown = crashes.filter(({ row }) => row === undefined || !known.has(row))
  return fail + crash + surprise + unknown.length > 0 ? 1 : 0
}

const isOfHttp = (needs: readonly Need[]): boolean => needs.some((need) => need.startsWith('http'))

const rank = new Map(checks.map(({ id }, index) => [id, index]))
const inOrder = (results: readonly Result[]): Result[] =>
  [...results].sort((a, b) => (rank.get(a.requirement.id) ?? 0) - (rank.get(b.requirement.id) ?? 0))

// An error outside of a check is reported in one line, because a stack trace does not help the user.
const giveUp = (error: unknown): void => {
  const text = error instanceof Error ? error.message : String(error)
  process.stderr.write(error instanceof TargetError ? `${text}\n` : `the suite itself failed: ${oneLine(text)}\n`)
  process.exitCode = 2
}
process.on('uncaughtException', giveUp)

try {
  process.exitCode = await main()
} catch (error) {
  giveUp(error)
}
// A server may never read the rest of a cancelled call; that keeps the connection, and so the process, alive.
process.stdout.write('', () => process.stderr.write('', () => process.exit()))
