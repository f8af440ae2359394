import fc from 'fast-check'
import t from 'tap'
import { documentOf } from '../../../conformance/report/document.js'
import { junitReport } from '../../../conformance/report/junit.js'
import { serverTable } from '../../../conformance/report/markdown.js'
import { textReport } from '../../../conformance/report/text.js'
import { readingsOf } from '../../../conformance/requirements/profiles.js'
import { requirements } from '../../../conformance/requirements/requirements.js'
import { withExpectations } from '../../../conformance/run/expectations.js'
import type { Result, Verdict } from '../../../conformance/run/runner.js'
import { parseXml } from '../report/xml.js'

const result = (id: string, verdict: Verdict, reason = ''): Result => {
  const requirement = requirements.get(id)
  if (requirement === undefined) throw new Error(`no row ${id}`)
  return { requirement, verdict, reason, sends: '', observations: {}, readings: [], transcript: [], elapsedMs: 5 }
}

t.test('listed failures are expected, and a listed check that passes is a finding', async (t) => {
  const expectations = new Map([['FMB-01', 'a bug of ours']])
  const seen = (verdict: Verdict, id = 'FMB-01'): Verdict =>
    withExpectations(result(id, verdict, 'found'), expectations).verdict
  t.same(
    (['fail', 'crash', 'warn', 'pass', 'chosen', 'skip', 'broken'] as const).map((verdict) => seen(verdict)),
    ['known', 'known', 'known', 'surprise', 'surprise', 'skip', 'broken'],
  )
  t.equal(seen('fail', 'FMB-02'), 'fail')
})

t.test('profiles read one value differently', async (t) => {
  const accepting = (message: string): string[] =>
    readingsOf('EXE-27', { 'message of a timeout': message })
      .filter(({ accepts }) => accepts)
      .map(({ client }) => client)
  t.ok(accepting('execution timeout exceeded').includes('Siso'))
  t.notOk(accepting('execution timeout exceeded').includes('Buck2'))
  t.ok(accepting('Execution timed out after 5 s').includes('Buck2'))
  t.notOk(accepting('Execution timed out after 5 s').includes('Siso'))
  t.same(readingsOf('EXE-27', {}), [], 'nothing measured, nothing read')
})

const run = (serverName: string, serverVersion = '', examinedWith: readonly string[] = []) => ({
  serverName,
  serverVersion,
  examinedWith,
})

t.test('hostile text stays text', async (t) => {
  const document = documentOf([result('FMB-01', 'fail', '<&">\0\u001b[31m | x')], run('grpc://h:1'), 10)
  t.match(junitReport(document), /<failure type="fail" message="&lt;&amp;&quot;&gt;\?\?\[31m \| x">/)
  t.match(textReport(document), /FAIL FMB-01 {2}\[must\]/)
})

t.test('whatever a server says, the JUnit report is well-formed XML that says it', async (t) => {
  const verdicts = ['fail', 'warn', 'chosen', 'skip', 'known', 'surprise', 'broken'] as const
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), fc.constantFrom(...verdicts), async (text, verdict) => {
      const hostile = `<!--${text}]]></failure>&nope;\0\uFFFE\uD800"'\u{1F600}`
      const document = documentOf([result('FMB-01', verdict, hostile)], run(hostile), 10)
      const elements = parseXml(junitReport(document))
      t.same(
        elements.slice(0, 3).map(({ name }) => name),
        ['testsuites', 'testsuite', 'testcase'],
      )
      t.equal(elements.length, 4, 'and nothing that the server put there')
      const [said] = elements.slice(3)
      t.ok((said?.attributes['message'] ?? said?.text)?.includes(']]></failure>&nope;'))
    }),
  )
})

t.test('the table of servers shows where they differ', async (t) => {
  const ours = documentOf([result('FMB-01', 'pass'), result('FMB-02', 'pass')], run('ours', 'a1b2c3'), 10)
  const theirs = documentOf(
    [result('FMB-01', 'fail', 'x'), result('FMB-02', 'pass')],
    run('theirs', '', ['--instance-name main']),
    10,
  )
  const table = serverTable([ours, theirs])
  t.match(table, /\| ours \| a1b2c3 \| \d{4}-\d{2}-\d{2}T\d{2}:\d{2} \| {2}\|/, 'which build of it, and when')
  t.match(table, /\| theirs \| {2}\| \S+ \| --instance-name main \|/, 'and how it was asked')
  t.match(table, /\| FMB-01 \| must \| pass \| fail \|/)
  t.notMatch(table, /\| FMB-02 \|/)
})
