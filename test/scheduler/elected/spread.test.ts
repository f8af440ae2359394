/** Several schedulers, each with a queue that several servers have: every server leads its share of them. */
import t, { type Test } from 'tap'
import { silentLog } from '../../../src/log/log.js'
import { Candidacy } from '../../../src/scheduler/elected/candidacy.js'
import { Spread } from '../../../src/scheduler/elected/spread.js'
import { startRedis, withoutRedis } from '../../store/kinds/redis_store/redis.js'
import { until } from '../../until.js'
import { candidate, redisEngine } from './engines.js'

const SCHEDULERS = ['A', 'B', 'C', 'D']
const LEASE_MS = 1_500

/** A server with all schedulers. */
const server = async (t: Test, id: string, redisPort: number) => {
  const spread = new Spread()
  const offices: string[] = []
  const candidacies = await Promise.all(
    SCHEDULERS.map(async (name) => {
      const engine = await redisEngine(t, redisPort, 'standard', name)
      const candidacy = new Candidacy({
        ...{ engine, candidate: candidate(id), leaseMs: LEASE_MS, whenEngineAway: 'continue', log: silentLog, spread },
        onTerm: (term) => {
          if (term?.leader.id === id) offices.push(name)
        },
        askFronts: async () => 0,
      })
      t.teardown(() => candidacy.close())
      return candidacy
    }),
  )
  for (const candidacy of candidacies) candidacy.start()
  const led = (): number => candidacies.filter(({ isLeader }) => isLeader).length
  return { led, offices, leave: () => Promise.all(candidacies.map((candidacy) => candidacy.leave())) }
}

t.test(
  'offices spread over the servers that come, and go to the rest when one leaves',
  { skip: withoutRedis },
  async (t) => {
    const { port } = await startRedis(t)
    const one = await server(t, 'one', port)
    await until(() => one.led() === 4, 'one server leads all')
    const two = await server(t, 'two', port)
    await until(() => one.led() === 2 && two.led() === 2, 'each leads two')
    await one.leave()
    await until(() => two.led() === 4, 'the other leads all')
    t.equal(one.led(), 0)
  },
)

t.test('a server with one scheduler, or alone, hands nothing over', (t) => {
  const times = (nowMs: number) => ({ nowMs, leaseMs: 1 })
  const spread = new Spread()
  const [a, b] = [spread.join(), spread.join()]
  a.leads = true
  for (let nowMs = 0; nowMs < 100; nowMs++) t.equal(spread.handsOver(2, times(nowMs)), false)
  t.equal(spread.hasShare(2), true)
  t.equal(spread.hasShare(1), false, 'alone it takes all')
  b.leads = true
  const given = Array.from({ length: 100 }, (_, nowMs) => spread.handsOver(1, times(nowMs)))
  t.notOk(given.includes(true))
  const often = Array.from({ length: 12 }, (_, nowMs) => spread.handsOver(2, times(nowMs)))
  t.same(
    often.flatMap((is, nowMs) => (is ? [nowMs] : [])),
    [5, 10],
    'one at a time',
  )
  b.leave()
  t.equal(spread.handsOver(2, times(100)), false, 'a scheduler that ends does not count')
  t.end()
})
