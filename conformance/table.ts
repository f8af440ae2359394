import { writeFileSync } from 'node:fs'
import { readReports } from './report/document.js'
import { serverTable } from './report/markdown.js'

// Writes conformance/reports/README.md from the reports beside it.

const folder = new URL('reports/', import.meta.url)
writeFileSync(new URL('README.md', folder), serverTable(readReports(folder)))
