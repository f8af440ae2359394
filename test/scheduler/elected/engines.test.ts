import t from 'tap'
import { Code, StatusError } from '../../../src/base/status-error.js'
import { ask, startRedis, withoutRedis } from '../../store/kinds/redis_store/redis.js'
import { until } from '../../until.js'
import { campaign, engineKinds, redisEngine } from './engines.js'

const signal = new AbortController().signal

for (const { name, skip, start, isAtomic = true } of engineKinds) {
  t.test(name, { skip }, async (t) => {
    const server = await start(t)

    t.test('one candidate has the lease, all agree on term, members and secret', async (t) => {
      const [a, b, c] = [await server.open(), await server.open(), await server.open()]
      const first = await a.campaign(campaign('a'), signal)
      t.match(first, {
        term: { epoch: 1, leader: { id: 'a', address: 'grpc://a:1' } },
        memberIds: ['a'],
        secret: 'secret-of-a',
      })
      const second = await b.campaign(campaign('b'), signal)
      t.match(second, { term: { epoch: 1, leader: { id: 'a' } }, secret: 'secret-of-a' })
      t.same([...second.memberIds].sort(), ['a', 'b'])
      t.equal((await a.campaign(campaign('a'), signal)).term?.epoch, 1, 'renewed')
      t.same([...(await a.campaign(campaign('a'), signal)).memberIds].sort(), ['a', 'b'])
      await b.resign('b', signal)
      t.equal((await c.campaign(campaign('c', { mayLead: false }), signal)).term?.leader.id, 'a', 'not that of b')
      t.same([...(await c.campaign(campaign('c', { mayLead: false }), signal)).memberIds].sort(), ['a', 'c'])
      await a.resign('a', signal)
      t.equal((await c.campaign(campaign('c', { mayLead: false }), signal)).term, undefined)
      const next = await c.campaign(campaign('c'), signal)
      t.match(next, { term: { epoch: 2, leader: { id: 'c' } }, memberIds: ['c'], secret: 'secret-of-a' })
    })

    t.test('a leader that leaves gives its lease back with its next call', async (t) => {
      const [c, d] = [await server.open(), await server.open()]
      t.equal((await c.campaign(campaign('c', { mayLead: false }), signal)).term, undefined)
      t.match(await d.campaign(campaign('d'), signal), { term: { epoch: 3, leader: { id: 'd' } } })
    })

    t.test('a term above the highest that a candidate has heard of, whatever was forgotten', async (t) => {
      const [b, c] = [await server.open(), await server.open()]
      await server.forget()
      t.equal((await b.campaign(campaign('b', { highestEpoch: 41 }), signal)).term?.epoch, 42)
      const again = await b.campaign(campaign('b', { highestEpoch: 50 }), signal)
      t.equal(again.term?.epoch, 51, 'a leader that has heard of a higher term is elected anew')
      const { term } = await c.campaign(campaign('c', { highestEpoch: 60 }), signal)
      t.match(term, { epoch: 61, leader: { id: 'c' } }, 'whoever leads with a lower one has no say')
    })

    t.test('a lease that is not renewed ends, and so does the membership', async (t) => {
      const [a, b] = [await server.open(), await server.open()]
      await server.forget()
      await a.campaign(campaign('a', { leaseMs: 1 }), signal)
      await until(async () => (await b.campaign(campaign('b'), signal)).term?.leader.id === 'b', 'the end of a lease')
      t.same((await b.campaign(campaign('b'), signal)).memberIds, ['b'])
      t.match(await a.campaign(campaign('a', { leaseMs: 1 }), signal), { term: { epoch: 2, leader: { id: 'b' } } })
    })

    t.test('many candidates at once: one is elected', async (t) => {
      await server.forget()
      const ids = Array.from({ length: 5 }, (_, at) => `m${at}`)
      const engines = await Promise.all(ids.map(() => server.open()))
      const race = async () => {
        const calls = ids.map((id, at) => engines[at]?.campaign(campaign(id), signal))
        const decisions = await Promise.all(calls.map((call) => call?.catch(() => undefined)))
        return [...new Set(decisions.flatMap((decision) => decision?.term?.leader.id ?? []))]
      }
      for (let round = 0; round < 5; round++) {
        const atOnce = await race()
        const leaders = await race()
        t.equal(leaders.length, 1, `of ${leaders}`)
        if (isAtomic) t.same(atOnce, leaders)
        for (const id of leaders) await engines[ids.indexOf(id)]?.resign(id, signal)
      }
    })

    t.test('what something else wrote is an error that names it', async (t) => {
      const a = await server.open()
      await server.spoil()
      const failed = await a.campaign(campaign('a'), signal).catch((error: unknown) => StatusError.from(error))
      t.match(failed, { code: Code.INTERNAL, message: /lease.* is "nonsense"/ })
    })

    t.test('a server that is gone', async (t) => {
      const a = await server.open()
      await server.forget()
      await a.campaign(campaign('a'), signal)
      await server.kill()
      const call = () => a.campaign(campaign('a'), AbortSignal.timeout(60_000))
      const failed = await call().catch((error: unknown) => StatusError.from(error))
      t.match(failed, { code: Code.UNAVAILABLE })
    })
  })
}

t.test('a policy that may evict the lease is told', { skip: withoutRedis }, async (t) => {
  const { port } = await startRedis(t)
  const engine = await redisEngine(t, port)
  t.equal(await engine.warning(signal), undefined)
  await ask(port, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  t.match(await engine.warning(signal), /maxmemory-policy is allkeys-lru.*expected noeviction/)
})
