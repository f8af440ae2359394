import { readdirSync, writeFileSync } from 'node:fs'
import { keptReport, readReport, readReports } from './document.js'
import { serverTable } from './markdown.js'

// Writes conformance/reports/README.md from the reports beside it, and rewrites those reports in the form that is kept.

const folder = new URL('../reports/', import.meta.url)
for (const name of readdirSync(folder).filter((each) => each.endsWith('.json'))) {
  writeFileSync(new URL(name, folder), keptReport(readReport(new URL(name, folder))))
}
writeFileSync(new URL('README.md', folder), serverTable(readReports(folder)))
