/** Reports of tests, also those that want to harm their reader. */
import t from 'tap'
import { TestReportReader } from '../../../src/builds/detail/test-report.js'

const read = (...pieces: readonly string[]) => {
  const reader = new TestReportReader()
  for (const piece of pieces) if (!reader.take(piece)) break
  return reader.report()
}

t.test('failed cases with their messages and places, across the pieces of a report', (t) => {
  const report = `<?xml version="1.0"?><testsuites><testsuite name="Cart" tests="4">
<testcase name="Total" classname="shop.Cart" time="0.25" file="cart.cc" line="42"><failure message="41 != 42">41 != 42
expected 42</failure></testcase>
<testcase name="Empty" time="1"/>
<testcase name="Later"><skipped/></testcase>
<testcase name="Breaks"><error><![CDATA[a < b]]></error></testcase>
</testsuite></testsuites>`
  const expected = {
    ...{ caseCount: 4, failedCount: 2, skippedCount: 1, stopped: undefined },
    failed: [
      {
        ...{ name: 'Total', suite: 'shop.Cart', tookMs: 250, file: 'cart.cc', line: 42 },
        message: '41 != 42\nexpected 42',
      },
      { name: 'Breaks', suite: 'Cart', tookMs: undefined, file: undefined, line: undefined, message: 'a < b' },
    ],
  }
  t.same(read(report), expected)
  for (let size = 1; size < 40; size += 3)
    t.same(read(...(report.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [])), expected, `pieces of ${size}`)
  t.end()
})

t.test('entities of a bomb are not expanded, and end the report', (t) => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>
<testsuite><testcase name="one"><failure>&b;&b;&c;</failure></testcase></testsuite>`
  const { failed, stopped } = read(bomb)
  t.match(stopped, /no XML/)
  t.notMatch(JSON.stringify(failed), /aaaa|root:/)
  t.end()
})

t.test('a million cases, a deep nest and endless texts take no more than their bounds', (t) => {
  const many = new TestReportReader()
  const cases = '<testcase name="n"><failure message="m"/></testcase>'.repeat(1000)
  many.take('<testsuite>')
  for (let count = 0; count < 1000; count++) many.take(cases)
  const { caseCount, failedCount, failed } = many.report()
  t.same([caseCount, failedCount, failed.length], [1_000_000, 1_000_000, 50])
  t.match(read('<a>'.repeat(1000)).stopped, /too deep/)
  const [long] = read(
    `<testsuite><testcase name="${'n'.repeat(5000)}"><failure>${'x'.repeat(100_000)}</failure></testcase>`,
  ).failed
  t.equal(long?.name.length, 300)
  t.equal(long?.message.length, 4000)
  t.end()
})

t.test('what comes before the place where a report breaks is kept', (t) => {
  const { failed, stopped } = read('<testsuite><testcase name="a"><failure>x</failure></testcase></wrong>', '<more>')
  t.match(failed, [{ name: 'a', message: 'x' }])
  t.match(stopped, /no XML/)
  t.same(read('no report at all').failed, [])
  t.end()
})
