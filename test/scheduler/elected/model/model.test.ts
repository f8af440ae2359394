import t from 'tap'
import { runModel } from './model.js'
import { runSeeds } from './seeds.js'

t.test('a queue of servers that nothing happens to', async (t) => {
  const { outcomes, violations, terms } = await runModel(1, { faults: 0 })
  t.same(violations, [])
  t.equal(terms, 1)
  t.equal(outcomes.length, 8)
})

runSeeds(100)
