import type { ReportDocument } from './document.js'

type Row = ReportDocument['results'][number]

const LEVELS: Readonly<Partial<Record<Row['verdict'], 'error' | 'warning' | 'note'>>> = {
  fail: 'error',
  crash: 'error',
  surprise: 'error',
  broken: 'error',
  warn: 'warning',
  known: 'note',
}

const ruleOf = ({ id, requirement, source, section, level }: Row) => ({
  id,
  shortDescription: { text: requirement },
  fullDescription: { text: `${requirement}. Rests on: ${source}` },
  properties: { tags: [section, level] },
})

const resultOf = (row: Row, file: string) => ({
  ruleId: row.id,
  level: LEVELS[row.verdict],
  message: { text: `${row.id}: ${row.reason}\n\nSent: ${row.sends}` },
  // A server has no line of source for a finding: the file is the one where known divergences are listed.
  locations: [{ physicalLocation: { artifactLocation: { uri: file }, region: { startLine: 1 } } }],
  partialFingerprints: { row: row.id },
  ...(row.verdict === 'known' ? { suppressions: [{ kind: 'external', justification: row.reason }] } : {}),
})

/** SARIF 2.1.0: a result for each finding, in `file`, which code scanning shows it beside. */
export const sarifReport = (document: ReportDocument, file = 'README.md'): string => {
  const found = document.results.filter(({ verdict }) => LEVELS[verdict] !== undefined)
  const run = {
    tool: {
      driver: {
        name: 'remexec-conformance',
        semanticVersion: '1.0.0',
        rules: found.map(ruleOf),
      },
    },
    automationDetails: { id: `remexec-conformance/${document.server}` },
    results: found.map((row) => resultOf(row, file)),
  }
  const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
  return `${JSON.stringify({ $schema: schema, version: '2.1.0', runs: [run] }, null, 2)}\n`
}
