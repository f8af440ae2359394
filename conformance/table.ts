import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { ReportDocument } from './report/document.js'
import { serverTable } from './report/markdown.js'

// Writes conformance/reports/README.md from the reports beside it.

const folder = new URL('reports/', import.meta.url)
const documents = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as ReportDocument)
writeFileSync(new URL('README.md', folder), serverTable(documents))
