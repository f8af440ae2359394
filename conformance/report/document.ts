import { readdirSync, readFileSync } from 'node:fs'
import type { Level } from '../check.js'
import type { Observed } from '../exam.js'
import type { Reading } from '../profiles.js'
import type { Result, Verdict } from '../runner.js'

/** A run as it is kept: the json format, and the files below `conformance/reports/`. */
export interface ReportDocument {
  /** Names the server in tables; its address unless the user gave a name. */
  readonly server: string
  /** Its version as the user told; empty when not told. */
  readonly version: string
  /** The options that decided what was examined. */
  readonly settings: readonly string[]
  readonly examinedAt: string
  readonly elapsedMs: number
  /** What the suite itself took of memory; reports of older runs do not tell. */
  readonly peakMemoryBytes?: number
  readonly summary: Readonly<Record<Verdict, number>>
  readonly results: readonly {
    readonly id: string
    readonly section: string
    readonly rpc: string
    readonly level: Level
    readonly verdict: Verdict
    readonly reason: string
    readonly elapsedMs: number
    readonly observations: Readonly<Record<string, Observed>>
    readonly clients: readonly Reading[]
  }[]
}

export const VERDICTS: readonly Verdict[] = ['pass', 'fail', 'warn', 'chosen', 'skip', 'known', 'surprise', 'broken']

export const counted = (results: readonly { readonly verdict: Verdict }[]): Record<Verdict, number> => {
  const counts = { pass: 0, fail: 0, warn: 0, chosen: 0, skip: 0, known: 0, surprise: 0, broken: 0 }
  for (const { verdict } of results) counts[verdict]++
  return counts
}

export const documentOf = (
  results: readonly Result[],
  run: { readonly serverName: string; readonly serverVersion: string; readonly examinedWith: readonly string[] },
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
  results: results.map(({ requirement, verdict, reason, elapsedMs: tookMs, observations, readings }) => ({
    id: requirement.id,
    section: requirement.section,
    rpc: requirement.rpc,
    level: requirement.level,
    verdict,
    reason,
    elapsedMs: Math.round(tookMs),
    observations,
    clients: readings,
  })),
})

/** How much was examined, and what that took. */
export const costOf = ({ results, elapsedMs, peakMemoryBytes }: ReportDocument): string => {
  const memory = peakMemoryBytes === undefined ? '' : `, ${Math.round(peakMemoryBytes / 2 ** 20)} MiB at the peak`
  return `${results.length} checks in ${(elapsedMs / 1000).toFixed(1)} s${memory}`
}

/** Readings that the client does not take, by client. */
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

/** The reports kept in a folder, by file name. */
export const readReports = (folder: URL): ReportDocument[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as ReportDocument)
