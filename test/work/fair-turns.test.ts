import fc from 'fast-check'
import t from 'tap'
import { FairTurns } from '../../src/work/fair-turns.js'

const signal = new AbortController().signal

/** Which of these works have begun. */
const begun = (turns: FairTurns) => {
  const running: { readonly client: string; readonly end: () => void }[] = []
  const ask = (client: string, more: AbortSignal = signal) =>
    turns.acquire('a turn', more, new Set([client])).then((end) => void running.push({ client, end }))
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const of = (client: string) => running.filter((one) => one.client === client)
  return { running, ask, settled, of }
}

t.test('a client whose works never end leaves turns for others, and each of these leaves some too', async (t) => {
  const { ask, settled, of } = begun(new FairTurns({ permits: 16, maxWaiting: 100 }))
  for (const [client, count] of [
    ['a', 8],
    ['b', 4],
    ['c', 2],
    ['d', 1],
    ['e', 1],
  ] as const) {
    for (let at = 0; at < 10; at++) void ask(client)
    await settled()
    t.equal(of(client).length, count, client)
  }
})

t.test(
  'a turn that is free goes to the client that runs the fewest, and then to the one that waits longest',
  async (t) => {
    const { ask, settled, of } = begun(new FairTurns({ permits: 1, maxWaiting: 100 }))
    for (const client of ['a', 'a', 'a', 'b']) void ask(client)
    await settled()
    t.same([of('a').length, of('b').length], [1, 0])
    of('a')[0]?.end()
    of('a')[0]?.end()
    await settled()
    t.same([of('a').length, of('b').length], [2, 0], 'nobody runs any: the one that waits longest')
    of('a')[1]?.end()
    await settled()
    of('a')[2]?.end()
    await settled()
    t.equal(of('b').length, 1)
  },
)

t.test('a work that waits begins as that of a client that joins it', async (t) => {
  const turns = new FairTurns({ permits: 4, maxWaiting: 100 })
  const { ask, settled, of } = begun(turns)
  for (let at = 0; at < 3; at++) void ask('slow')
  await settled()
  t.equal(of('slow').length, 2)
  const clients = new Set(['slow'])
  let hasBegun = false
  void turns.acquire('a turn', signal, clients).then(() => {
    hasBegun = true
  })
  await settled()
  t.equal(hasBegun, false)
  clients.add('other')
  turns.joined()
  await settled()
  t.equal(hasBegun, true)
})

t.test('waiting ends with its signal, and has a bound for all and for each client', async (t) => {
  const turns = new FairTurns({ permits: 1, maxWaiting: 4 })
  const { ask, settled, of } = begun(turns)
  void ask('a')
  await settled()
  const gone = new AbortController()
  const waits = ask('a', gone.signal)
  gone.abort()
  await t.rejects(waits, { code: 1 })
  await t.rejects(ask('a', AbortSignal.abort()), { code: 1 })
  for (let at = 0; at < 2; at++) void ask('a')
  await t.rejects(ask('a'), { code: 8, message: /2 of this client wait/ })
  for (let at = 0; at < 2; at++) void ask('b')
  await t.rejects(ask('c'), { code: 8, message: /4 wait for a turn already/ })
  t.equal(of('a').length, 1)
})

t.test('no turn is lost or given twice, in any order of beginnings and ends', async (t) => {
  const step = fc.record({ client: fc.constantFrom('a', 'b', 'c'), ends: fc.boolean(), which: fc.nat(20) })
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 9 }),
    fc.array(step, { maxLength: 60 }),
    async (permits, steps) => {
      const { running, ask, settled } = begun(new FairTurns({ permits, maxWaiting: 1000 }))
      let ended = 0
      let asked = 0
      const ends = new Set<number>()
      for (const { client, ends: isEnd, which } of steps) {
        if (isEnd && running[which] !== undefined) {
          if (!ends.has(which)) ended += 1
          ends.add(which)
          running[which]?.end()
        } else {
          asked += 1
          void ask(client)
        }
        await settled()
        if (running.length - ended > permits) return false
      }
      for (let at = 0; at < running.length; at++) {
        running[at]?.end()
        await settled()
      }
      return running.length === asked
    },
  )
  await t.resolves(fc.assert(property, { numRuns: 100 }))
})
