import t from 'tap'
import type { Answer } from '../../../src/health/registry.js'
import { verdictOf } from '../../../src/pages/server/verdict.js'

const failed = (component: string, message: string): Answer => ({
  report: {
    namespace: `/${component}`,
    component,
    status: { Failed: { struct_name: 'S', message, error: 'ECONNREFUSED' } },
  },
  ageMs: 0,
})

t.test('one backend that is away is one reason, whatever is built on it', async (t) => {
  const { reasons, word } = verdictOf(
    [
      failed('stores/CAS', 'slow: no connection to s3'),
      failed('stores/CAS/slow', 'no connection to s3'),
      failed('stores/CAS/slow/backend', 'no connection to s3'),
      failed('connections/CAS/slow/backend/s3', 'no connection to s3'),
      failed('stores/CASE', 'no connection to s3'),
    ],
    () => new Map(),
  )
  t.equal(word, 'not healthy')
  t.same(reasons, [
    'connections/CAS/slow/backend/s3 (and so stores/CAS): no connection to s3: ECONNREFUSED',
    'stores/CASE: no connection to s3: ECONNREFUSED',
  ])
})
