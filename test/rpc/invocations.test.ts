import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { Invocations } from '../../src/rpc/invocations.js'

const MINUTE_MS = 60_000

const started = () => {
  const clock = new ManualClock(1_000_000)
  const invocations = new Invocations(clock)
  invocations.start()
  return { clock, invocations }
}

t.test('an invocation lives for ten minutes after its last call', async (t) => {
  const { clock, invocations } = started()
  const build = invocations.touch('build')
  const number = build?.number ?? 0
  clock.advance(9 * MINUTE_MS)
  t.equal(invocations.touch('build'), build, 'its later calls find the same')
  clock.advance(9 * MINUTE_MS)
  t.ok(invocations.isAlive(number))
  clock.advance(2 * MINUTE_MS)
  t.notOk(invocations.isAlive(number))
  t.equal(invocations.count, 0)
  t.not(invocations.touch('build')?.number, number, 'a call after that begins anew')
})

t.test('an open stream of build events keeps it alive, and its end starts the ten minutes', async (t) => {
  const { clock, invocations } = started()
  const close = invocations.opened('build')
  const number = invocations.touch('build')?.number ?? 0
  clock.advance(60 * MINUTE_MS)
  t.ok(invocations.isAlive(number))
  close()
  close()
  clock.advance(9 * MINUTE_MS)
  t.ok(invocations.isAlive(number))
  clock.advance(2 * MINUTE_MS)
  t.notOk(invocations.isAlive(number))
})

t.test('its end gives everything back at once, and a late call does not revive it', async (t) => {
  const { invocations } = started()
  const number = invocations.touch('build')?.number ?? 0
  invocations.ended('build')
  t.notOk(invocations.isAlive(number))
  t.equal(invocations.touch('build'), undefined)
  t.equal(invocations.idOf(number), 'build', 'a report can still name it')
  invocations.ended('unknown')
})

t.test('the oldest is the live one that began first', async (t) => {
  const { invocations } = started()
  t.equal(invocations.oldest, Number.POSITIVE_INFINITY)
  const [first, second] = ['a', 'b'].map((id) => invocations.touch(id)?.number ?? 0)
  t.equal(invocations.oldest, first)
  invocations.ended('a')
  t.equal(invocations.oldest, second)
})

t.test('clients that invent invocations displace the first, and cannot make the server remember more', async (t) => {
  const { invocations } = started()
  const first = invocations.touch('first')?.number ?? 0
  for (let at = 0; at < 10_000; at++) invocations.touch(`invented ${at}`)
  t.equal(invocations.count, 10_000)
  t.notOk(invocations.isAlive(first))
  t.equal(invocations.touch(''), undefined)
  t.equal(invocations.touch('x'.repeat(129)), undefined)
})
