import t from 'tap'
import { type Pace, paceOf, warmUp } from '../../bench/warm-up.js'

const MICROS_OF_A_REQUEST = 1000
const pace: Pace = { runMs: 100, warmUp: { runMs: 10, leastMs: 0, mostMs: 60_000 } }

/** A server whose runs cost the listed values in order, then always the last one. Every request takes a millisecond. */
const server = (costs: readonly number[]) => {
  const asked: number[] = []
  const run = async (requests: number) => {
    const cpuMicros = costs[Math.min(asked.length, costs.length - 1)] ?? Number.NaN
    asked.push(requests)
    return { seconds: (requests * MICROS_OF_A_REQUEST) / 1e6, cpuMicros }
  }
  return { asked, run }
}

const bounds = { least: 1, most: 1_000 }

t.test('it goes on while the cost falls, and ends with the second run that does not', async (t) => {
  const { run, asked } = server([200, 150, 120, 100, 99, 98])
  const { cpuMicros } = await warmUp(run, bounds, pace)
  t.strictSame(cpuMicros, [200, 150, 120, 100, 99, 98], '99 and 98 are no fall from 100 that is worth a word')
  t.equal(asked.length, 6)
})

t.test('one disturbed run is not taken for the end of a fall', async (t) => {
  const { run } = server([200, 250, 150, 100, 100, 100])
  t.strictSame((await warmUp(run, bounds, pace)).cpuMicros, [200, 250, 150, 100, 100, 100])
})

t.test('it drives for the least time even when nothing falls', async (t) => {
  const { run, asked } = server([100])
  await warmUp(run, bounds, { ...pace, warmUp: { ...pace.warmUp, leastMs: 100 } })
  const drivenMs = asked.reduce((sum, requests) => sum + requests, 0)
  t.ok(drivenMs >= 100, `${drivenMs} ms`)
})

t.test('no run begins when the time is over', async (t) => {
  const { run, asked } = server([100, 50, 25, 12, 6, 3])
  await warmUp(run, bounds, { ...pace, warmUp: { ...pace.warmUp, mostMs: 0 } })
  t.equal(asked.length, 1)
})

t.test('a case of long requests has as many of them as it says, whatever time that takes', async (t) => {
  const { run, asked } = server([100])
  await warmUp(run, { ...bounds, warm: 500 }, { ...pace, warmUp: { ...pace.warmUp, mostMs: 0 } })
  const driven = asked.reduce((sum, requests) => sum + requests, 0)
  t.ok(driven >= 500 && driven < 600, `${driven} requests`)
  const slow = server([100])
  const slowRun = async (requests: number) => ({ ...(await slow.run(requests)), seconds: 40 })
  await warmUp(slowRun, { ...bounds, warm: 500 }, pace)
  t.equal(slow.asked.length, 2, 'but no longer than a minute')
})

t.test('runs are as long as asked for, within the bounds of the case', async (t) => {
  const { run, asked } = server([100])
  t.equal((await warmUp(run, bounds, pace)).fitting, 100)
  t.strictSame(asked, [1, 8, 10], 'a first run says little: eight times as many at most')
  t.equal((await warmUp(server([1]).run, { least: 1, most: 60 }, pace)).fitting, 60)
  t.equal((await warmUp(server([1]).run, { least: 400, most: 500 }, pace)).fitting, 400)
})

t.test('a server whose CPU cannot be seen is judged by its time', async (t) => {
  const { run, asked } = server([])
  const { fitting } = await warmUp(run, bounds, pace)
  t.equal(fitting, 100)
  t.equal(asked.length, 3)
})

t.test('two builds are as warm in a quick run as in another', async (t) => {
  const of = (isQuick: boolean) => paceOf({ isQuick, isAgainst: true })
  t.strictSame(of(true).warmUp, of(false).warmUp)
  t.ok(of(true).warmUp.leastMs > paceOf({ isQuick: false, isAgainst: false }).warmUp.leastMs)
  t.ok(of(true).runMs < of(false).runMs)
  t.ok(of(true).isCollecting)
})
