import { readdirSync, readFileSync } from 'node:fs'
import type { Observed, TranscriptLine } from '../exam/exam.js'
import type { Level } from '../requirements/check.js'
import type { Reading } from '../requirements/profiles.js'
import type { Crash } from '../run/outages.js'
import type { Result, Verdict } from '../run/runner.js'

/** A run in the json format, as kept in `conformance/reports/`. */
export interface ReportDocument {
  /** Names the server in tables; by default its address. */
  readonly server: string
  /** The version given by the user; empty if none. */
  readonly version: string
  /** The options that decided what was examined. */
  readonly settings: readonly string[]
  readonly examinedAt: string
  readonly elapsedMs: number
  /** Peak memory of the suite; absent in reports of older runs. */
  readonly peakMemoryBytes?: number
  readonly summary: Readonly<Record<Verdict, number>>
  /** The crashes of the server; absent in reports of older runs. */
  readonly crashes?: readonly Crash[]
  readonly results: readonly {
    readonly id: string
    readonly section: string
    readonly rpc: string
    readonly level: Level
    readonly verdict: Verdict
    readonly reason: string
    readonly requirement: string
    /** The accepted answers in short, and the source of the row. */
    readonly expected: string
    readonly source: string
    /** What the check sends, and its calls. */
    readonly sends: string
    readonly calls: readonly TranscriptLine[]
    readonly elapsedMs: number
    readonly observations: Readonly<Record<string, Observed>>
    readonly clients: readonly Reading[]
  }[]
}

export const VERDICTS: readonly Verdict[] = [
  'pass',
  'fail',
  'crash',
  'warn',
  'chosen',
  'skip',
  'known',
  'surprise',
  'broken',
]

export const counted = (results: readonly { readonly verdict: Verdict }[]): Record<Verdict, number> => {
  const counts = { pass: 0, fail: 0, crash: 0, warn: 0, chosen: 0, skip: 0, known: 0, surprise: 0, broken: 0 }
  for (const { verdict } of results) counts[verdict]++
  return counts
}

export const documentOf = (
  results: readonly Result[],
  run: {
    readonly serverName: string
    readonly serverVersion: string
    readonly examinedWith: readonly string[]
    readonly crashes?: readonly Crash[]
  },
  elapsedMs: number,
  peakMemoryBytes?: number,
): ReportDocument => ({
  server: run.serverName,
  version: run.serverVersion,
  settings: run.examinedWith,
  examinedAt: new Date().toISOString(),
  elapsedMs: Math.round(elapsedMs),
  ...(peakMemoryBytes === undefined ? {} : { peakMemoryBytes }),
  summary: counted(results),
  crashes: run.crashes ?? [],
  results: results.map(
    ({ requirement, verdict, reason, elapsedMs: tookMs, observations, readings, sends, transcript }) => ({
      id: requirement.id,
      section: requirement.section,
      rpc: requirement.rpc,
      level: requirement.level,
      verdict,
      reason,
      requirement: requirement.requirement,
      expected: requirement.expected,
      source: requirement.source,
      sends,
      calls: transcript,
      elapsedMs: Math.round(tookMs),
      observations,
      clients: readings,
    }),
  ),
})

/** One line per row, so that runs can be compared by diff. */
export const jsonReport = ({ results, ...head }: ReportDocument): string => {
  const top = JSON.stringify(head, null, 2).replace(/\n}$/, '')
  const rows = results.map((row) => `    ${JSON.stringify(row)}`).join(',\n')
  return `${top},\n  "results": [\n${rows}\n  ]\n}\n`
}

/** The form that is kept: without the calls of rows that have no finding. */
export const keptReport = (document: ReportDocument): string =>
  jsonReport({
    ...document,
    results: document.results.map((row) => ({ ...row, calls: isFinding(row) ? row.calls : [] })),
  })

/** The last call in short, which is usually the one of the finding. `--explain` and json show all calls. */
export const lastCallOf = (calls: readonly TranscriptLine[], mostCharacters: number): string => {
  const last = calls.at(-1)
  if (last === undefined) return ''
  const [sent, came] = [last.messages[0] ?? '', last.messages.findLast((message) => message.startsWith('<')) ?? '']
  return `${last.method} ${[sent, came, `= ${last.end}`].filter(Boolean).join(' ')}`.slice(0, mostCharacters)
}

/** The verdicts that a report lists one by one. */
export const isFinding = ({ verdict }: { readonly verdict: Verdict }): boolean =>
  ['fail', 'crash', 'warn', 'known', 'surprise', 'broken'].includes(verdict)

/** One sentence for each crash of the server. */
export const crashLines = ({ crashes = [] }: ReportDocument): string[] =>
  crashes.map(({ row, underWay, cameBack }) => {
    const what =
      row === undefined ? `while ${underWay.join(', ')} were in flight; none of them did it again` : `under ${row}`
    return `the server went away ${what}, and ${cameBack ? 'came back' : 'stayed away'}`
  })

/** The number of checks, their time and their memory. */
export const costOf = ({ results, elapsedMs, peakMemoryBytes }: ReportDocument): string => {
  const memory = peakMemoryBytes === undefined ? '' : `, ${Math.round(peakMemoryBytes / 2 ** 20)} MiB at the peak`
  return `${results.length} checks in ${(elapsedMs / 1000).toFixed(1)} s${memory}`
}

/** The readings that a client does not accept, by client. */
export const clientFindings = (
  results: readonly { readonly id: string; readonly clients: readonly Reading[] }[],
): Map<string, { readonly id: string; readonly reading: Reading }[]> => {
  const findings = new Map<string, { readonly id: string; readonly reading: Reading }[]>()
  for (const { id, clients } of results) {
    for (const reading of clients) {
      if (reading.accepts) continue
      findings.set(reading.client, [...(findings.get(reading.client) ?? []), { id, reading }])
    }
  }
  return findings
}

export const readReport = (file: URL): ReportDocument => JSON.parse(readFileSync(file, 'utf8')) as ReportDocument

/** The reports in a folder, by file name. */
export const readReports = (folder: URL): ReportDocument[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => readReport(new URL(name, folder)))
