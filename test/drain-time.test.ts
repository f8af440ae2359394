import t from 'tap'
import { DrainTime, stopMs, workMs } from '../src/assembly/drain-time.js'
import { ManualClock } from '../src/base/clock.js'

t.test('the time of a stop counts from the signal, with a share for closing parts', (t) => {
  const clock = new ManualClock(1_000_000)
  const time = new DrainTime(8000, clock)
  t.notOk(time.hasBegun)
  t.equal(time.partMs, 30_000, 'a start that failed has time')
  time.begin(3000)
  t.ok(time.hasBegun)
  t.equal(time.leftMs, 3000, 'work ends two seconds before the process')
  t.equal(time.partMs, 4000)
  clock.advance(3000)
  t.equal(time.leftMs, 0)
  t.equal(time.partMs, 1000, 'a part that hangs leaves half of what is left')
  clock.advance(1000)
  t.equal(time.partMs, 500)
  clock.advance(5000)
  t.equal(time.partMs, 0)
  t.end()
})

t.test('a short drain keeps a quarter for closing, and the process has four seconds to end', (t) => {
  t.equal(workMs(1000), 750)
  t.equal(stopMs(1000), 4000)
  t.equal(workMs(60_000), 58_000)
  t.equal(stopMs(60_000), 60_000)
  t.end()
})
