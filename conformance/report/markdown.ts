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

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').replaceAll('<', '&lt;')
const row = (...cells: readonly (string | number)[]): string =>
  `| ${cells.map((each) => cell(String(each))).join(' | ')} |`

/** One run as a page: counts by section, findings, and clients. */
export const markdownReport = (document: ReportDocument): string => {
  const { results, server, version, settings, examinedAt } = document
  const sections = [...new Set(results.map(({ section }) => section))]
  const counts = sections.map((section) => {
    const group = counted(results.filter((result) => result.section === section))
    return row(section, ...VERDICTS.map((verdict) => group[verdict]))
  })
  const findings = results
    .filter(isFinding)
    .map(({ id, level, verdict, reason, rpc, requirement, source, sends, calls }) => {
      return row(id, level, verdict, reason, `${rpc}: ${requirement}`, source, sends, lastCallOf(calls, 400))
    })
  const clients = [...clientFindings(results)].flatMap(([client, found]) =>
    found.map(({ id, reading }) => row(client, id, `${reading.fact}: ${reading.value}`, reading.consequence)),
  )
  return [
    `# ${server}`,
    '',
    `${costOf(document)}, ${examinedAt}.`,
    ...(version === '' ? [] : [`Version: ${version}.`]),
    ...(settings.length === 0 ? [] : [`Examined with: ${settings.join(' ')}.`]),
    '',
    row('section', ...VERDICTS),
    row('---', ...VERDICTS.map(() => '---:')),
    ...counts,
    '',
    '## Findings',
    '',
    ...crashLines(document).map((line) => `- ${line}`),
    '',
    ...(findings.length === 0
      ? ['None.']
      : [
          row('row', 'level', 'verdict', 'what', 'requirement', 'rests on', 'sent', 'last call'),
          row('---', '---', '---', '---', '---', '---', '---', '---'),
        ]),
    ...findings,
    '',
    '## Clients',
    '',
    ...(clients.length === 0
      ? ['No client that is profiled would trip over an answer.']
      : [row('client', 'row', 'measured', 'what it does'), row('---', '---', '---', '---')]),
    ...clients,
    '',
  ].join('\n')
}

/** All judged servers side by side: counts, then every row in which one of them differs from what is required. */
export const serverTable = (documents: readonly ReportDocument[]): string => {
  const shown = (document: ReportDocument, id: string): string =>
    document.results.find((result) => result.id === id)?.verdict ?? 'not asked'
  const differing = new Map<string, string>()
  for (const { results } of documents) {
    for (const result of results) if (isFinding(result)) differing.set(result.id, result.level)
  }
  const ids = [...differing].sort(([a], [b]) => (a < b ? -1 : 1))
  const servers = documents.map(({ server }) => server)
  return [
    '# Judged servers',
    '',
    'Written by `npm run conformance:table` from the reports in this folder. Do not edit.',
    '',
    row('server', 'version', 'date', 'examined with', ...VERDICTS, 'clients that would trip'),
    row('---', '---', '---', '---', ...VERDICTS.map(() => '---:'), '---'),
    ...documents.map(({ server, version, settings, examinedAt, summary, results }) => {
      const clients = [...clientFindings(results).keys()].sort().join(', ')
      const counts = VERDICTS.map((verdict) => summary[verdict] ?? 0)
      return row(server, version, examinedAt.slice(0, 16), settings.join(' '), ...counts, clients)
    }),
    '',
    '## Where they differ from the requirements',
    '',
    ...(ids.length === 0
      ? ['Nowhere.']
      : [row('row', 'level', ...servers), row('---', '---', ...servers.map(() => '---'))]),
    ...ids.map(([id, level]) => row(id, level, ...documents.map((document) => shown(document, id)))),
    '',
  ].join('\n')
}
