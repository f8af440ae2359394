import t from 'tap'
import { refusals, silentLosses } from '../../../conformance/mutate/silent-loss.js'
import { requirements } from '../../../conformance/requirements/requirements.js'
import { verdictsOtherThan } from './judging.js'

t.setTimeout(120_000)

t.test('a server that loses outputs silently does not pass with warnings', async (t) => {
  const musts = silentLosses.flatMap(({ caughtBy }) => caughtBy).filter((id) => requirements.get(id)?.level === 'must')
  t.strictSame(musts, [], 'rows whose level alone would fail it')
  t.strictSame(await verdictsOtherThan(t, 'fail', silentLosses), [])
})

t.test('a server that refuses what the text lets it refuse does not fail', async (t) => {
  const lower = refusals.flatMap(({ caughtBy }) => caughtBy).filter((id) => requirements.get(id)?.level !== 'must')
  t.strictSame(lower, [], 'rows whose level alone would only warn')
  t.strictSame(await verdictsOtherThan(t, 'warn', refusals), [])
})
