import t from 'tap'
import { runShares } from './shares.js'

t.test('three tenants get equal shares over a thousand actions and three changes of the leader', (t) =>
  runShares(t, 1_000),
)
