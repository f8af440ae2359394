import { EOL } from 'node:os'
import type { Result, Verdict } from '../run/runner.js'
import {
  clientFindings,
  costOf,
  counted,
  crashLines,
  isFinding,
  lastCallOf,
  type ReportDocument,
  VERDICTS,
} from './document.js'

const MARK: Readonly<Record<Verdict, string>> = {
  pass: 'ok  ',
  fail: 'FAIL',
  crash: 'CRSH',
  warn: 'warn',
  chosen: 'info',
  skip: 'skip',
  known: 'knwn',
  surprise: 'SURP',
  broken: 'BRKN',
}

/** One line of live progress. */
export const progressLine = ({ requirement, verdict, reason, elapsedMs }: Result, done: string): string => {
  const tail = reason === '' ? '' : `: ${reason.replaceAll(/\s+/g, ' ').slice(0, 300)}`
  const { id, requirement: text } = requirement
  return `${done} ${MARK[verdict]} ${id.padEnd(7)} ${text.slice(0, 90)} (${Math.round(elapsedMs)} ms)${tail}${EOL}`
}

/** A table by section, a table by level, every finding, and the clients affected by each. */
export const textReport = (document: ReportDocument): string => {
  const { results, server, version } = document
  const findings = results
    .filter(isFinding)
    .flatMap(({ id, level, verdict, reason, rpc, requirement, source, sends, calls }) => [
      `${MARK[verdict]} ${id.padEnd(7)} [${level}] ${reason}`,
      `     ${rpc}: ${requirement}`,
      `     rests on ${source}`,
      `     sent: ${sends}`,
      ...(calls.length === 0 ? [] : [`     last call: ${lastCallOf(calls, 500)}`]),
    ])
  const clients = [...clientFindings(results)].flatMap(([client, found]) => [
    client,
    ...found.map(({ id, reading }) => `  ${id} ${reading.fact} is ${reading.value}: ${reading.consequence}`),
  ])
  return [
    `${[server, version].filter(Boolean).join(' ')}: ${costOf(document)}`,
    '',
    ...table(results, ({ section }) => section),
    '',
    ...table(results, ({ level }) => level),
    '',
    ...crashLines(document).map((line) => `CRSH ${line}`),
    ...(findings.length === 0 ? ['No findings.'] : findings),
    '',
    ...(clients.length === 0 ? [] : ['Effects on clients:', ...clients, '']),
  ].join('\n')
}

type Row = ReportDocument['results'][number]

const table = (results: readonly Row[], keyOf: (row: Row) => string): string[] => {
  const groups = new Map<string, Row[]>()
  for (const row of results) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row])
  const total = counted(results)
  const columns = VERDICTS.filter((verdict) => total[verdict] > 0)
  const line = (name: string, cells: readonly (string | number)[]): string =>
    `${name.padEnd(34)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
  const rows = [...groups].map(([name, rowsOfGroup]) => {
    const counts = counted(rowsOfGroup)
    return line(
      name,
      columns.map((column) => counts[column]),
    )
  })
  return [
    line('', columns),
    ...rows,
    line(
      'together',
      columns.map((column) => total[column]),
    ),
  ]
}
