import t from 'tap'
import { Code } from '../../src/base/status-error.js'
import { type Party, Semaphore } from '../../src/work/semaphore.js'

const { signal } = new AbortController()
const address: Party = { parent: undefined, share: 3 / 4 }
const connections: readonly Party[] = [1, 2].map(() => ({ parent: address, share: 1 / 2 }))
const other: Party = { parent: undefined, share: 3 / 4 }

t.test('one address that waits with as many calls as it may leaves waiting places to others', async (t) => {
  const turns = new Semaphore({ permits: 1, maxWaiting: 8 })
  const end = await turns.acquire('a turn', signal)
  const [first, second] = connections
  const controller = new AbortController()
  const waiting = [first, first, first, first].map((party) => turns.acquire('a turn', controller.signal, party))
  for (const party of [first, first])
    await t.rejects(turns.acquire('a turn', signal, party), { code: Code.RESOURCE_EXHAUSTED }, 'half of one connection')
  waiting.push(turns.acquire('a turn', signal, second), turns.acquire('a turn', signal, second))
  await t.rejects(
    turns.acquire('a turn', signal, second),
    { code: Code.RESOURCE_EXHAUSTED },
    'three quarters of an address',
  )
  waiting.push(turns.acquire('a turn', signal, other), turns.acquire('a turn', signal))
  await t.rejects(turns.acquire('a turn', signal), {
    code: Code.RESOURCE_EXHAUSTED,
    message: /^8 wait for a turn already/,
  })

  controller.abort()
  const outcomes = Promise.allSettled(waiting)
  const again = turns.acquire('a turn', signal, first)
  end()
  for (const taken of [...waiting.slice(4), again]) (await taken)()
  t.same(
    (await outcomes).map(({ status }) => status),
    [...Array(4).fill('rejected'), ...Array(4).fill('fulfilled')],
    'who gave up frees its place, and the others are served',
  )
  t.equal(turns.acquired, 0)
})

t.test('a permit that is given back twice lets one caller in', async (t) => {
  const turns = new Semaphore({ permits: 2 })
  const [one, two] = [await turns.acquire('a turn', signal), await turns.acquire('a turn', signal)]
  one()
  one()
  t.equal(turns.acquired, 1)
  two()
  t.equal(turns.acquired, 0)
})

t.test('a free permit is taken at once, and none that others wait for', async (t) => {
  const turns = new Semaphore({ permits: 1 })
  const end = turns.tryAcquire()
  t.equal(turns.acquired, 1)
  t.equal(turns.tryAcquire(), undefined)
  const waiting = turns.acquire('a turn', signal)
  end?.()
  t.equal(turns.tryAcquire(), undefined, 'it is the one who waits that has it')
  const next = await waiting
  next()
  t.equal(turns.acquired, 0)
  turns.tryAcquire()?.()
  t.equal(turns.acquired, 0)
})
