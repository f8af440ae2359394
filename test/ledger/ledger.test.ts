import fc from 'fast-check'
import t from 'tap'
import { isStatus } from '../../src/base/status-error.js'
import { Account } from '../../src/ledger/account.js'
import { Kind } from '../../src/ledger/kind.js'
import { FREE_BYTES, KINDS, type KindName } from '../../src/ledger/kinds.js'
import { Ledger } from '../../src/ledger/ledger.js'
import type { Reservation } from '../../src/ledger/reservation.js'

const { signal } = new AbortController()

t.test('a connection gets half of a kind, an address three quarters, all together the whole', async (t) => {
  const ledger = new Ledger({ requests: 1000 })
  const [a, b, other] = [ledger.connection('1.1.1.1'), ledger.connection('1.1.1.1'), ledger.connection('2.2.2.2')]
  const kind = ledger.kinds.requests
  t.notOk(kind.reserve(a.holder, 501))
  const held = kind.reserve(a.holder, 500)
  t.ok(held)
  t.notOk(kind.reserve(b.holder, 251))
  t.ok(kind.reserve(b.holder, 250))
  t.ok(kind.reserve(other.holder, 250))
  t.notOk(kind.reserve(other.holder, 1))
  t.equal(kind.heldBytes, 1000)
  t.equal(kind.limitedCount, 3)
  held?.release()
  held?.release()
  t.equal(kind.heldBytes, 500)
  t.ok(kind.reserve(other.holder, 250))
})

t.test('bytes of a connection count for its address until they are released, also when it is closed', async (t) => {
  const ledger = new Ledger({ answers: 1000 })
  const first = ledger.connection('1.1.1.1')
  const held = ledger.kinds.answers.reserve(first.holder, 500)
  first.close()
  const second = ledger.connection('1.1.1.1')
  t.notOk(ledger.kinds.answers.reserve(second.holder, 251))
  held?.release()
  t.ok(ledger.kinds.answers.reserve(second.holder, 251))
})

t.test('a kind that drops makes room with the oldest reservation: of the holder if it has too much', async (t) => {
  const ledger = new Ledger({ outcomes: 100 })
  const dropped: string[] = []
  const keep = (instance: string, name: string, bytes: number) =>
    ledger.kinds.outcomes.reserve(ledger.instance(instance), bytes, () => dropped.push(name))
  keep('a', 'a1', 30)
  keep('b', 'b1', 40)
  keep('a', 'a2', 20)
  t.same(dropped, [])
  keep('b', 'b2', 20)
  t.same(dropped, ['b1'], 'its own, though that of another is older')
  keep('c', 'c1', 50)
  t.same(dropped, ['b1', 'a1'], 'the oldest of all')
  t.notOk(keep('c', 'c2', 51), 'a reservation that can never fit drops nothing')
  t.same(dropped, ['b1', 'a1'])
  t.equal(ledger.kinds.outcomes.heldBytes, 90)
})

t.test('dropping the oldest reservation takes as long behind thousands of other holders as alone', async (t) => {
  const BYTES = 10
  const COUNT = 10_000
  /** Drops of one holder at its bound, behind `others` older reservations of another. */
  const tookMs = (others: number): number => {
    const ledger = new Ledger({ outcomes: 2 * COUNT * BYTES })
    const [holder, other] = [ledger.instance('a'), ledger.instance('b')]
    const keep = (of: typeof holder) => ledger.kinds.outcomes.reserve(of, BYTES, () => {})
    for (let count = 0; count < others; count++) keep(other)
    for (let count = 0; count < COUNT; count++) keep(holder)
    // biome-ignore lint/plugin: the best of five is compared with the best of another five
    const begunMs = performance.now()
    for (let count = 0; count < COUNT / 10; count++) keep(holder)
    // biome-ignore lint/plugin: the best of five is compared with the best of another five
    const ms = performance.now() - begunMs
    t.equal(ledger.kinds.outcomes.heldBytes, (others + COUNT) * BYTES, 'each dropped one')
    return ms
  }
  const best = (others: number): number => Math.min(...Array.from({ length: 5 }, () => tookMs(others)))
  const [alone, behind] = [best(1), best(COUNT)]
  t.ok(behind < 10 * alone + 1, `${behind.toFixed(1)} ms behind ${COUNT} others, ${alone.toFixed(1)} ms alone`)
})

t.test('holders at their own bound delay no others, which are served in order', async (t) => {
  const ledger = new Ledger({ unpacked: 100 })
  const kind = ledger.kinds.unpacked
  const [greedy, other] = [ledger.connection('1.1.1.1').holder, ledger.connection('2.2.2.2').holder]
  const begun: string[] = []
  const wait = (name: string, holder: typeof greedy, bytes: number) =>
    kind.whenRoom(holder, bytes, signal).then((reservation) => {
      begun.push(name)
      return reservation
    })
  const first = await wait('first', greedy, 50)
  const second = wait('second', greedy, 10)
  const third = wait('third', greedy, 10)
  await wait('other', other, 30)
  t.same(begun, ['first', 'other'])
  first.release()
  await Promise.all([second, third])
  t.same(begun, ['first', 'other', 'second', 'third'])
  await t.rejects(wait('too much', greedy, 51), { message: /memory limit of the server for unpacked is reached/ })
  const abort = new AbortController()
  const gone = kind.whenRoom(greedy, 40, abort.signal)
  abort.abort()
  t.ok(isStatus(await gone.catch((error: unknown) => error), 'CANCELLED'))
})

t.test('any sequence of reservations stays within every bound and ends with nothing held', async () => {
  const names = Object.keys(KINDS) as KindName[]
  const step = fc.record({
    act: fc.constantFrom('reserve', 'grow', 'shrink', 'release', 'take', 'give'),
    holder: fc.nat(5),
    bytes: fc.nat(300_000),
    pick: fc.nat(50),
  })
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.array(step, { maxLength: 60 }), (name, steps) => {
      const maxBytes = 1_000_000
      const ledger = new Ledger({ [name]: maxBytes })
      const kind = ledger.kinds[name]
      const connections = [0, 0, 0, 1, 1, 2].map((address) => ledger.connection(`10.0.0.${address}`))
      const accounts = connections.map(({ holder }) => ({ account: new Account(kind, holder), used: 0 }))
      let held: Reservation[] = []
      for (const { act, holder: at, bytes, pick } of steps) {
        const { holder } = connections[at] as (typeof connections)[number]
        const entry = accounts[at] as (typeof accounts)[number]
        const one = held[pick % Math.max(1, held.length)]
        if (act === 'reserve') {
          const made: Reservation | undefined = kind.reserve(holder, bytes, () => {
            held = held.filter((other) => other !== made)
          })
          if (made !== undefined) held.push(made)
        } else if (act === 'grow') one?.grow(bytes)
        else if (act === 'shrink') one?.shrinkTo(bytes)
        else if (act === 'release') {
          one?.release()
          held = held.filter((other) => other !== one)
        } else if (act === 'take' && entry.account.take(bytes)) entry.used += bytes
        else if (act === 'give') {
          const given = Math.min(bytes, entry.used)
          entry.account.give(given)
          entry.used -= given
        }
        const least = accounts.reduce((sum, { used }) => sum + Math.max(0, used - FREE_BYTES), 0)
        const reserved = held.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
        if (kind.heldBytes > maxBytes || kind.heldBytes < least + reserved) return false
      }
      for (const one of held) one.release()
      for (const { account, used } of accounts) account.give(used)
      return kind.heldBytes === 0
    }),
  )
})

t.test('a reservation that is dropped to make room for itself does not grow', async (t) => {
  const ledger = new Ledger({ outcomes: 100 })
  let isDropped = false
  const only = ledger.kinds.outcomes.reserve(ledger.instance('a'), 40, () => {
    isDropped = true
  })
  t.equal(only?.grow(20), false)
  t.ok(isDropped)
  t.equal(ledger.kinds.outcomes.heldBytes, 0)
  t.type(ledger.kinds.outcomes, Kind)
})

t.test('thousands of waiting reservations of one holder that give up at once take milliseconds', async (t) => {
  const ledger = new Ledger({ windows: 1000 })
  const { holder } = ledger.connection('1.1.1.1')
  const kind = ledger.kinds.windows
  kind.reserve(holder, 500)
  const controllers = Array.from({ length: 9000 }, () => new AbortController())
  const waiting = controllers.map((controller) => kind.whenRoom(holder, 1, controller.signal).catch(() => 'given up'))
  let looks = 0
  const { heldBytes } = holder
  Object.assign(holder, {
    heldBytes: (kind: number) => {
      looks += 1
      return heldBytes.call(holder, kind)
    },
  })
  for (const controller of controllers) controller.abort()
  t.same(new Set(await Promise.all(waiting)), new Set(['given up']))
  t.ok(looks < 10 * controllers.length, `${looks} looks at the holder`)
})

t.test('an address is known as long as one of its connections is open, however often others are closed', async (t) => {
  const ledger = new Ledger({ requests: 1000 })
  const [first, second] = [ledger.connection('1.1.1.1'), ledger.connection('1.1.1.1')]
  first.close()
  first.close()
  t.ok(ledger.kinds.requests.reserve(second.holder, 500))
  const third = ledger.connection('1.1.1.1')
  t.notOk(ledger.kinds.requests.reserve(third.holder, 251), 'the share of an address is that of both')
  t.ok(ledger.kinds.requests.reserve(third.holder, 250))
})
