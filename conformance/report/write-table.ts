import { readdirSync, writeFileSync } from 'node:fs'
import { keptReport, readReport, readReports } from './document.js'
import { serverTable } from './markdown.js'
import { mustsPage } from './musts.js'

// Writes conformance/reports/README.md and musts.md from the reports beside them, and rewrites those reports in the form that is kept.

const folder = new URL('../reports/', import.meta.url)
const smallStores = new URL('small-store/', folder)
for (const each of [folder, smallStores]) {
  for (const name of readdirSync(each).filter((each) => each.endsWith('.json'))) {
    writeFileSync(new URL(name, each), keptReport(readReport(new URL(name, each))))
  }
}
const reports = readReports(folder)
writeFileSync(new URL('README.md', folder), serverTable(reports, readReports(smallStores)))
writeFileSync(new URL('musts.md', folder), mustsPage(reports))
