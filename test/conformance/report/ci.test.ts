import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { badgeOf, badgeReport } from '../../../conformance/report/badge.js'
import { documentOf } from '../../../conformance/report/document.js'
import { writeReports } from '../../../conformance/report/folder.js'
import { sarifReport } from '../../../conformance/report/sarif.js'
import { requirements } from '../../../conformance/requirements/requirements.js'
import type { Result, Verdict } from '../../../conformance/run/runner.js'
import { parseXml } from './xml.js'

const result = (id: string, verdict: Verdict, reason = ''): Result => {
  const requirement = requirements.get(id)
  if (requirement === undefined) throw new Error(`no row ${id}`)
  return { requirement, verdict, reason, sends: 's', observations: {}, readings: [], transcript: [], elapsedMs: 5 }
}

const documentWith = (...results: readonly Result[]) =>
  documentOf(results, { serverName: 'a <server>', serverVersion: '1', examinedWith: [] }, 10)

t.test('SARIF has a rule and a result for each finding, beside the file of known divergences', async (t) => {
  const document = documentWith(
    result('FMB-01', 'fail', 'found others'),
    result('FMB-03', 'warn', 'found fewer'),
    result('FMB-05', 'known', 'a bug of ours'),
    result('FMB-02', 'pass'),
    result('GEN-12', 'chosen', 'ignores the header'),
  )
  const { version, runs } = JSON.parse(sarifReport(document, 'ci/known.json5'))
  t.equal(version, '2.1.0')
  const [{ tool, results }] = runs
  t.same(
    tool.driver.rules.map(({ id }: { id: string }) => id),
    ['FMB-01', 'FMB-03', 'FMB-05'],
  )
  t.same(
    results.map((each: { ruleId: string; level: string }) => `${each.ruleId} ${each.level}`),
    ['FMB-01 error', 'FMB-03 warning', 'FMB-05 note'],
  )
  t.match(results[0], {
    message: { text: /FMB-01: found others/ },
    locations: [{ physicalLocation: { artifactLocation: { uri: 'ci/known.json5' }, region: { startLine: 1 } } }],
  })
  t.same(results[2].suppressions, [{ kind: 'external', justification: 'a bug of ours' }])
})

t.test('a badge says how many rows hold, or how many fail', async (t) => {
  const green = documentWith(result('FMB-01', 'pass'), result('GEN-12', 'chosen'), result('CMP-18', 'skip'))
  t.match(badgeOf(green), { text: '2 of 2', colour: '#2e7d32' })
  t.match(badgeOf(documentWith(result('FMB-01', 'pass'), result('FMB-03', 'warn'))), {
    text: '1 of 2',
    colour: '#b8860b',
  })
  const red = documentWith(result('FMB-01', 'fail'), result('FMB-02', 'pass'))
  t.match(badgeOf(red), { text: '1 of 2 fail', colour: '#c0392b' })
  t.equal(parseXml(badgeReport(red))[0]?.name, 'svg')
})

t.test('one option writes what GitHub and GitLab show', async (t) => {
  const folder = join(t.testdir(), 'reports')
  const summary = join(t.testdirName, 'summary.md')
  const { GITHUB_STEP_SUMMARY: before } = process.env
  process.env['GITHUB_STEP_SUMMARY'] = summary
  t.teardown(() => {
    if (before === undefined) delete process.env['GITHUB_STEP_SUMMARY']
    else process.env['GITHUB_STEP_SUMMARY'] = before
  })
  writeReports(folder, documentWith(result('FMB-01', 'fail', 'found others')), undefined)
  t.same(readdirSync(folder).sort(), [
    'badge.svg',
    'conformance.sarif',
    'junit.xml',
    'report.html',
    'report.json',
    'report.md',
  ])
  t.equal(readFileSync(summary, 'utf8'), readFileSync(join(folder, 'report.md'), 'utf8'))
  t.throws(() => writeReports('/dev/null/x', documentWith(), undefined), /--reports .*(ENOTDIR|EEXIST)/)
})
