import type { Kept } from '../../builds/entry.js'
import type { OwnCounts } from '../../builds/own/record.js'
import { outcomeOf, type Summary } from '../../builds/summary.js'
import type { ShownOutcome } from './outcome.js'

/** One line of the list of builds. */
export interface BuildRow {
  readonly id: string
  readonly instance: string
  /** Absent for trusted callers. */
  readonly scope: string | undefined
  readonly outcome: ShownOutcome
  readonly startedMs: number
  /** Undefined while it runs, and if nobody said when it ended. */
  readonly tookMs: number | undefined
  readonly command: string | undefined
  readonly patterns: readonly string[]
  readonly user: string | undefined
  readonly host: string | undefined
  readonly branch: string | undefined
  readonly commit: string | undefined
  readonly targetCount: number
  readonly failedTargetCount: number
  readonly testCount: number
  readonly failedTestCount: number
  readonly hits: number | undefined
  readonly misses: number | undefined
  readonly flakyTestCount: number
  /** Who counted hits and misses: this server, or the client by its own words. */
  readonly countedBy: 'server' | 'client' | undefined
  /** Of a build without events: its client and what that asked about. */
  readonly name?: string
  /** The same: what ran here. */
  readonly executions?: { readonly count: number; readonly failed: number }
}

/** Summaries do not change, and lists show thousands of them again and again. */
const known = new WeakMap<Summary, BuildRow>()

/** `live`: what this server has counted so far of a build that runs. */
export const rowOf = ({ summary, isOpen }: Kept, live: LiveCounts): BuildRow => {
  const before = isOpen ? undefined : known.get(summary)
  if (before !== undefined) return before
  const row = newRow(summary, isOpen, live)
  if (!isOpen) known.set(summary, row)
  return row
}

/** The requests of an invocation that is alive or ended lately; undefined if nothing is known of it. */
export type LiveCounts = (invocationId: string) => OwnCounts | undefined

/** One plain literal: with spreads, the first list of 10,000 builds takes four times as long. */
const newRow = (summary: Summary, isOpen: boolean, live: LiveCounts): BuildRow => {
  const { about, startedMs = about.startedMs } = summary
  const { hits, misses, by } = cacheUseOf(summary, isOpen ? live : undefined)
  return {
    id: about.invocationId,
    instance: about.instance,
    scope: about.scope,
    outcome: outcomeOf(summary, isOpen),
    startedMs,
    tookMs: tookMsOf(summary),
    command: summary.command,
    patterns: summary.patterns,
    user: summary.user,
    host: summary.host,
    branch: summary.branch,
    commit: summary.commit,
    targetCount: summary.targetCount,
    failedTargetCount: summary.failedTargetCount,
    testCount: summary.testCount,
    failedTestCount: summary.failedTestCount,
    hits,
    misses,
    flakyTestCount: summary.flakyTestCount,
    countedBy: by,
  }
}

export const tookMsOf = ({ about, startedMs = about.startedMs, endedMs, wallMs }: Summary): number | undefined =>
  endedMs === undefined ? wallMs : Math.max(0, endedMs - startedMs)

/** The permission that a reader needs in the instance of a build. */
export const READ_BUILDS = 'read_ac'

/** Bazel's names of runners. `internal` actions and those of the local action cache reach no server. */
const HIT = /cache hit$/
const NOWHERE = new Set(['total', 'internal'])

/** Hits and misses as this server counted them, else as the client did. */
export const cacheUseOf = (
  { runners, own, about }: Summary,
  live?: LiveCounts,
): { hits: number | undefined; misses: number | undefined; by: BuildRow['countedBy'] } => {
  const counted = live?.(about.invocationId) ?? own
  if (counted !== undefined && counted.hits + counted.misses > 0)
    return { hits: counted.hits, misses: counted.misses, by: 'server' }
  const counts = Object.entries(runners)
  if (counts.length === 0) return { hits: undefined, misses: undefined, by: undefined }
  const sum = (fits: (name: string) => boolean): number =>
    counts.reduce((all, [name, count]) => (fits(name) ? all + count : all), 0)
  const hits = sum((name) => HIT.test(name))
  return { hits, misses: sum((name) => !HIT.test(name) && !NOWHERE.has(name)), by: 'client' }
}
