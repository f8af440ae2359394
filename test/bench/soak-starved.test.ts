import t from 'tap'
import { isStarved } from '../../bench/soak/starved.js'

const startMs = Date.parse('2026-01-01T00:00:00.000Z')

/** Samples, two a second, of a server that waits for a processor for this share of the time from the tenth second on. */
const history = (share: number) =>
  Array.from({ length: 60 }, (_, index) => ({
    atMs: startMs + index * 500,
    waitedMs: Math.max(0, index - 20) * 500 * share,
  }))

const late = '2026-01-01T00:00:16.200Z error a component does not work reason="no answer in time"'

t.test('a late probe is the fault of the machine only where that had no processor for the server', async (t) => {
  t.equal(isStarved(late, history(0.9)), true)
  t.equal(isStarved(late, history(0.4)), false)
  t.equal(isStarved('2026-01-01T00:00:08.000Z error reason="no answer in time"', history(0.9)), false)
})

t.test('every other error is one, however busy the machine', async (t) => {
  t.equal(isStarved('2026-01-01T00:00:16.200Z error cannot write and delete a file', history(0.9)), false)
  t.equal(isStarved(late, []), false)
})
