import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { oneLine, TargetError } from '../wire/target.js'
import { badgeReport } from './badge.js'
import { jsonReport, type ReportDocument } from './document.js'
import { htmlReport } from './html.js'
import { junitReport } from './junit.js'
import { markdownReport } from './markdown.js'
import { sarifReport } from './sarif.js'

/**
 * Writes the report in every form that CI systems show: JUnit for tests, SARIF for code scanning, Markdown for the
 * summary of a job, HTML and JSON as artifacts, and a badge. In a job of GitHub the summary gets the Markdown too.
 */
export const writeReports = (folder: string, document: ReportDocument, expectations: string | undefined): void => {
  const markdown = markdownReport(document)
  const files: Readonly<Record<string, string>> = {
    'junit.xml': junitReport(document),
    'conformance.sarif': sarifReport(document, expectations),
    'report.md': markdown,
    'report.html': htmlReport(document),
    'report.json': jsonReport(document),
    'badge.svg': badgeReport(document),
  }
  try {
    mkdirSync(folder, { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const { GITHUB_STEP_SUMMARY: summary } = process.env
    if (summary !== undefined) appendFileSync(summary, markdown)
  } catch (error) {
    throw new TargetError(`--reports ${oneLine(error instanceof Error ? error.message : String(error))}`)
  }
}
