// For changes in: src/scheduler

import t from 'tap'
import { runShares } from './shares.js'

t.test('three tenants get equal shares over ten thousand actions and three changes of the leader', (t) =>
  runShares(t, 10_000),
)
