import { join } from 'node:path'
import t from 'tap'
import { readExpectations } from '../../../conformance/run/expectations.js'
import { isInRange } from '../../../conformance/run/versions.js'

t.test('a range of versions', async (t) => {
  for (const [version, range, expected] of [
    ['2.6.1', '>=2.6', true],
    ['v2.6.1, --max_size 1', '>=2.6 <2.7', true],
    ['2.10', '>=2.9', true],
    ['2.6', '<2.6.0', false],
    ['2.6', '=2.6.0', true],
    ['2.7', '>=2.5 <2.7', false],
  ] as const) {
    t.equal(isInRange(version, range), expected, `${version} in ${range}`)
  }
  t.throws(() => isInRange('1.0', '~1'), /versions "~1": expected parts such as >=2.5 or <2.6.1/)
  t.throws(() => isInRange('main', '>=1'), /--server-version "main" has no number to compare/)
})

t.test('an expectation with versions counts for these alone', async (t) => {
  const folder = t.testdir({
    'known.json5': `[
      { id: 'FMB-01', reason: 'mended in 2.0', versions: '<2.0' },
      { id: 'FMB-02', reason: 'for ever' },
      { id: 'FMB-01', reason: 'again in 3', versions: '>=3' },
    ]`,
    'wrong.json5': "[{ id: 'FMB-01', reason: 'x', versions: 2 }]",
  })
  const known = (version: string) => [...readExpectations(join(folder, 'known.json5'), [], version)]
  t.same(known('1.9'), [
    ['FMB-01', 'mended in 2.0'],
    ['FMB-02', 'for ever'],
  ])
  t.same(known('2.0'), [['FMB-02', 'for ever']])
  t.same(known('3.1'), [
    ['FMB-02', 'for ever'],
    ['FMB-01', 'again in 3'],
  ])
  t.throws(() => known(''), /--server-version "" has no number/)
  t.throws(() => readExpectations(join(folder, 'wrong.json5')), /expected versions to be a text/)
})
