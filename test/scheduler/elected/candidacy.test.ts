import t, { type Test } from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { silentLog } from '../../../src/log/log.js'
import { Candidacy } from '../../../src/scheduler/elected/candidacy.js'
import type { Engine, Term } from '../../../src/scheduler/elected/engine.js'
import { startRedis, withoutRedis } from '../../store/kinds/redis_store/redis.js'
import { until } from '../../until.js'
import { campaign, candidate, LONG_MS, redisEngine } from './engines.js'

const skip = withoutRedis
const LEASE_MS = 1_000
const signal = new AbortController().signal

const elected = (t: Test, engine: Engine, options: Partial<ConstructorParameters<typeof Candidacy>[0]> = {}) => {
  const terms: (Term | undefined)[] = []
  const candidacy = new Candidacy({
    ...{ engine, candidate: candidate('a'), leaseMs: LEASE_MS, whenEngineAway: 'continue', log: silentLog },
    onTerm: (term) => terms.push(term),
    askFronts: async () => 0,
    ...options,
  })
  t.teardown(() => candidacy.close())
  candidacy.start()
  return { candidacy, terms }
}

t.test('the engine is away: the leader goes on, as long as no server knows of another one', { skip }, async (t) => {
  const redis = await startRedis(t)
  let highest = 0
  let asked = 0
  const askFronts = async () => {
    asked += 1
    return highest
  }
  const { candidacy } = elected(t, await redisEngine(t, redis.port), { askFronts })
  await until(() => candidacy.mayAct, 'a leader')
  await redis.kill()
  await until(() => asked > 3, 'some rounds without an engine')
  t.equal(candidacy.isLeader, true)
  t.match(candidacy.trouble, /Redis cannot be reached, so no other server can lead/)
  highest = 7
  await until(() => !candidacy.isLeader, 'the end of its office')
  t.equal(candidacy.highestEpoch, 7)
})

t.test('a server that does not answer while the engine is away keeps the leader from acting', { skip }, async (t) => {
  const redis = await startRedis(t)
  const askFronts = () => Promise.reject(new StatusError('DEADLINE_EXCEEDED', 'silent'))
  const { candidacy } = elected(t, await redisEngine(t, redis.port), { askFronts })
  await until(() => candidacy.mayAct, 'a leader')
  await redis.kill()
  await until(() => !candidacy.mayAct, 'the end of its lease')
  t.equal(candidacy.isLeader, true, 'it is not known that somebody else leads')
})

t.test('when_engine_away: stop ends the office with the lease', { skip }, async (t) => {
  const redis = await startRedis(t)
  const { candidacy, terms } = elected(t, await redisEngine(t, redis.port), { whenEngineAway: 'stop' })
  await until(() => candidacy.mayAct, 'a leader')
  await redis.kill()
  await until(() => !candidacy.isLeader, 'the end of its office')
  t.equal(terms.at(-1), undefined)
})

t.test(
  'other settings under the same name: the server takes no part, and says in what it differs',
  { skip },
  async (t) => {
    const engine = await redisEngine(t, (await startRedis(t)).port)
    await engine.campaign(
      { ...campaign('x'), candidate: candidate('x', { max_job_retries: '3', worker_timeout_s: '5' }) },
      signal,
    )
    const own = candidate('a', { max_job_retries: '9', worker_timeout_s: '5' })
    const { candidacy } = elected(t, engine, { candidate: own })
    await until(() => candidacy.trouble !== undefined, 'the difference')
    t.match(candidacy.trouble, /another max_job_retries: expected the same settings/)
    t.equal(candidacy.term, undefined)
  },
)

t.test('the lease is counted from the moment before the engine was asked', { skip }, async (t) => {
  const engine = await redisEngine(t, (await startRedis(t)).port)
  let nowMs = 0
  const { candidacy } = elected(t, engine, { leaseMs: LONG_MS, nowMs: () => nowMs })
  const answered = engine.campaign.bind(engine)
  engine.campaign = async (...asked) => {
    const decision = await answered(...asked)
    // It took most of the lease until the answer came.
    nowMs += LONG_MS * 0.9
    return decision
  }
  candidacy.hurry()
  await until(() => candidacy.isLeader && nowMs > 0, 'an answer')
  t.equal(candidacy.mayAct, false)
})

t.test('a server that leaves has given its lease back before it goes on to end', { skip }, async (t) => {
  const engine = await redisEngine(t, (await startRedis(t)).port)
  const { candidacy } = elected(t, engine, { leaseMs: LONG_MS })
  await until(() => candidacy.isLeader, 'a leader')
  const resigned = engine.resign.bind(engine)
  let isGivenBack = false
  engine.resign = async (...asked) => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    await resigned(...asked)
    isGivenBack = true
  }
  await candidacy.leave()
  t.equal(isGivenBack, true)
})
