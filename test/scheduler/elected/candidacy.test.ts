import t, { type Test } from 'tap'
import { Code, StatusError } from '../../../src/base/status-error.js'
import { silentLog } from '../../../src/log/log.js'
import { Candidacy } from '../../../src/scheduler/elected/candidacy.js'
import type { Candidate, Term } from '../../../src/scheduler/elected/engine.js'
import { RedisEngine } from '../../../src/scheduler/elected/redis-engine.js'
import { parseAddresses } from '../../../src/store/kinds/redis_store/address.js'
import { RedisConnections } from '../../../src/store/kinds/redis_store/connections.js'
import { redisFailure } from '../../../src/store/kinds/redis_store/failure.js'
import { ask, startCluster, startRedis, withoutRedis } from '../../store/kinds/redis_store/redis.js'
import { until } from '../../until.js'

const skip = withoutRedis
const LEASE_MS = 1_000
/** For what nobody times: no test waits for its end. */
const LONG_MS = 3_600_000
const signal = new AbortController().signal

const engineAt = async (t: Test, port: number, mode: 'standard' | 'cluster' = 'standard') => {
  const target = parseAddresses(mode, [`redis://127.0.0.1:${port}`])
  const bounds = { poolSize: 1, connectTimeoutMs: 60_000, commandTimeoutMs: 60_000, log: silentLog }
  const connections = await RedisConnections.open({ target, ...bounds })
  t.teardown(() => connections.close())
  await connections.ready(60_000)
  const failureOf = (thrown: unknown) => redisFailure('Redis', thrown)
  return new RedisEngine({ connections, name: 'Redis', keyPrefix: 'p:', schedulerName: 'MAIN', failureOf })
}

const candidate = (id: string, settings: Candidate['settings'] = {}): Candidate => ({
  id,
  address: `grpc://${id}:1`,
  settings,
})
const campaign = (id: string, { highestEpoch = 0, leaseMs = LONG_MS, mayLead = true } = {}) => ({
  ...{ candidate: candidate(id), highestEpoch, leaseMs, mayLead, secret: `secret-of-${id}` },
})

for (const mode of ['standard', 'cluster'] as const) {
  t.test(`${mode}: one candidate has the lease, all agree on term, members and secret`, { skip }, async (t) => {
    const port = mode === 'cluster' ? (await startCluster(t, 3))[0]?.port : (await startRedis(t)).port
    const engine = await engineAt(t, port ?? 0, mode)
    const first = await engine.campaign(campaign('a'), signal)
    t.match(first, {
      term: { epoch: 1, leader: { id: 'a', address: 'grpc://a:1' } },
      memberIds: ['a'],
      secret: 'secret-of-a',
    })
    const second = await engine.campaign(campaign('b'), signal)
    t.match(second, { term: { epoch: 1, leader: { id: 'a' } }, secret: 'secret-of-a' })
    t.same([...second.memberIds].sort(), ['a', 'b'])
    t.equal((await engine.campaign(campaign('a'), signal)).term?.epoch, 1, 'renewed')
    await engine.resign('b', signal)
    t.equal((await engine.campaign(campaign('c', { mayLead: false }), signal)).term?.leader.id, 'a', 'not that of b')
    await engine.resign('a', signal)
    t.equal((await engine.campaign(campaign('c', { mayLead: false }), signal)).term, undefined)
    const next = await engine.campaign(campaign('c'), signal)
    t.match(next, { term: { epoch: 2, leader: { id: 'c' } } })
  })
}

t.test(
  'an engine that forgot its counter gives a term above the highest that the candidate has heard of',
  { skip },
  async (t) => {
    const { port } = await startRedis(t)
    const engine = await engineAt(t, port)
    await engine.campaign(campaign('a'), signal)
    await ask(port, 'FLUSHALL')
    t.equal((await engine.campaign(campaign('b', { highestEpoch: 41 }), signal)).term?.epoch, 42)
    const again = await engine.campaign(campaign('b', { highestEpoch: 50 }), signal)
    t.equal(again.term?.epoch, 51, 'a leader that has heard of a higher term is elected anew')
  },
)

t.test('a lease that is not renewed ends, and so does the membership', { skip }, async (t) => {
  const engine = await engineAt(t, (await startRedis(t)).port)
  await engine.campaign(campaign('a', { leaseMs: 1 }), signal)
  await until(async () => (await engine.campaign(campaign('b'), signal)).term?.leader.id === 'b', 'the end of a lease')
  t.same((await engine.campaign(campaign('b'), signal)).memberIds, ['b'])
})

t.test('a policy that may evict the lease is told', { skip }, async (t) => {
  const { port } = await startRedis(t)
  const engine = await engineAt(t, port)
  t.equal(await engine.warning(signal), undefined)
  await ask(port, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  t.match(await engine.warning(signal), /maxmemory-policy is allkeys-lru.*expected noeviction/)
})

t.test('a key that something else wrote is an error that names it', { skip }, async (t) => {
  const { port } = await startRedis(t)
  const engine = await engineAt(t, port)
  await ask(port, 'SET', 'p:remexec:{MAIN}:lease', 'nonsense')
  const failed = await engine.campaign(campaign('a'), signal).catch((error: unknown) => StatusError.from(error))
  t.match(failed, { code: Code.INTERNAL, message: /the lease is "nonsense"/ })
})

const elected = (t: Test, engine: RedisEngine, options: Partial<ConstructorParameters<typeof Candidacy>[0]> = {}) => {
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
  const { candidacy } = elected(t, await engineAt(t, redis.port), { askFronts })
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
  const { candidacy } = elected(t, await engineAt(t, redis.port), { askFronts })
  await until(() => candidacy.mayAct, 'a leader')
  await redis.kill()
  await until(() => !candidacy.mayAct, 'the end of its lease')
  t.equal(candidacy.isLeader, true, 'it is not known that somebody else leads')
})

t.test('when_engine_away: stop ends the office with the lease', { skip }, async (t) => {
  const redis = await startRedis(t)
  const { candidacy, terms } = elected(t, await engineAt(t, redis.port), { whenEngineAway: 'stop' })
  await until(() => candidacy.mayAct, 'a leader')
  await redis.kill()
  await until(() => !candidacy.isLeader, 'the end of its office')
  t.equal(terms.at(-1), undefined)
})

t.test(
  'other settings under the same name: the server takes no part, and says in what it differs',
  { skip },
  async (t) => {
    const engine = await engineAt(t, (await startRedis(t)).port)
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
  const engine = await engineAt(t, (await startRedis(t)).port)
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
