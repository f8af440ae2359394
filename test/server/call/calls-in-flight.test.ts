import fc from 'fast-check'
import t from 'tap'
import { CallsInFlight, type Positioned } from '../../../src/server/call/calls-in-flight.js'

const begun = (calls: CallsInFlight<Positioned>): Positioned => {
  const call = { position: 0 }
  calls.add(call)
  return call
}

t.test('holds the same elements as a Set, for any additions and removals', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), (steps) => {
      const calls = new CallsInFlight<Positioned>()
      const expected: Positioned[] = []
      for (const step of steps) {
        const [leaving] = step % 3 === 0 ? expected.splice(step % (expected.length + 1), 1) : []
        if (leaving === undefined) expected.push(begun(calls))
        else calls.delete(leaving)
      }
      const held = [...calls]
      return held.length === expected.length && new Set([...held, ...expected]).size === held.length
    }),
  )
})

t.test('iterates over the present calls while they end', async (t) => {
  const calls = new CallsInFlight<Positioned>()
  const all = [begun(calls), begun(calls), begun(calls)]
  const seen: Positioned[] = []
  for (const call of calls) {
    seen.push(call)
    calls.delete(call)
  }
  t.strictSame(new Set(seen), new Set(all))
  t.equal(seen.length, 3)
  t.strictSame([...calls], [])
})
