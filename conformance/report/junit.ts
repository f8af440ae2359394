import type { ReportDocument } from './document.js'

const ESCAPES: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Escapes text for XML; characters that XML 1.0 cannot hold are replaced. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD]/g, '?')
    .replaceAll(/[<>&"']/g, (character) => ESCAPES[character] ?? character)

const bodyOf = (row: ReportDocument['results'][number]): string => {
  const { verdict, reason } = row
  const failed = verdict === 'fail' || verdict === 'surprise' || verdict === 'crash'
  if (failed) return `<failure type="${verdict}" message="${escaped(reason)}">${escaped(detailsOf(row))}</failure>`
  if (verdict === 'broken') return `<error type="broken" message="${escaped(reason)}"/>`
  if (verdict === 'skip') return `<skipped message="${escaped(reason)}"/>`
  const details = verdict === 'warn' || verdict === 'known' ? `\n${detailsOf(row)}` : ''
  return reason === '' ? '' : `<system-out>${escaped(`${verdict}: ${reason}${details}`)}</system-out>`
}

const detailsOf = ({ rpc, requirement, source, sends, calls }: ReportDocument['results'][number]): string =>
  [
    `${rpc}: ${requirement}`,
    `rests on: ${source}`,
    `sent: ${sends}`,
    ...calls.flatMap(({ method, messages, end }) => [
      method,
      ...messages.map((message) => `  ${message}`),
      `  = ${end}`,
    ]),
  ].join('\n')

/** JUnit XML: one suite per section. Warnings and choices pass, with their text in system-out. */
export const junitReport = ({ results, server, elapsedMs }: ReportDocument): string => {
  const sections = [...new Set(results.map(({ section }) => section))]
  const suites = sections.map((section) => {
    const rows = results.filter((row) => row.section === section)
    const count = (...verdicts: readonly string[]): number =>
      rows.filter(({ verdict }) => verdicts.includes(verdict)).length
    const cases = rows.map((row) => {
      const head = `classname="${escaped(`${section}.${row.level}`)}" name="${row.id}" time="${row.elapsedMs / 1000}"`
      return `    <testcase ${head}>${bodyOf(row)}</testcase>`
    })
    const counts = `tests="${rows.length}" failures="${count('fail', 'surprise', 'crash')}" errors="${count('broken')}" skipped="${count('skip')}"`
    return [`  <testsuite name="${escaped(section)}" ${counts}>`, ...cases, '  </testsuite>'].join('\n')
  })
  const head = `<testsuites name="${escaped(server)}" tests="${results.length}" time="${elapsedMs / 1000}">`
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, '</testsuites>', ''].join('\n')
}
