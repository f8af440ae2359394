import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { Metrics } from '../../../src/metrics/metrics.js'
import { Trends } from '../../../src/pages/server/trends.js'

const PERIOD_MS = 30_000

const start = (t: Test) => {
  const clock = new ManualClock(1_000_000)
  const metrics = new Metrics({ labelsActionDigests: false }, clock.now())
  t.teardown(() => metrics.stop())
  let sizeBytes = 0
  const usage = () => ({
    ...{ entryCount: 1, sizeBytes, maxBytes: 100, evictedCount: 0, evictFailureCount: 0 },
    lastEvictedIdleMs: undefined,
  })
  const outer = metrics.stores.of({ cacheType: 'CAS', usage: () => undefined })
  const inner = metrics.stores.of({ cacheType: 'CAS/fast', usage })
  const trends = new Trends(metrics, clock)
  const keep = (bytes: number): void => {
    sizeBytes = bytes
  }
  return { clock, outer, inner, trends, keep }
}

t.test('each sample is of its own period, and leaves out what is counted inside of a store', async (t) => {
  const { clock, outer, inner, trends, keep } = start(t)
  t.same(trends.samples('hour'), [])
  outer.of('read').hit.add(3)
  outer.of('read').miss.add(1)
  inner.of('read').miss.add(100)
  clock.advance(PERIOD_MS)
  keep(50)
  outer.of('read').hit.add(1)
  outer.of('read').miss.add(1)
  outer.bytes.out.add(30e6)
  clock.advance(PERIOD_MS)
  const samples = trends.samples('hour')
  t.match(samples, [
    { atMs: 1_030_000, hitPercent: 75, queued: 0, executing: 0 },
    { atMs: 1_060_000, hitPercent: 50, bytesPerSecond: 1e6 },
  ])
  t.same([...(samples[1]?.stores ?? [])], [['CAS', { hitPercent: 50, sizeBytes: 50 }]])
})

t.test('a period without reads has no hit rate, and older samples than an hour are dropped', async (t) => {
  const { clock, outer, trends } = start(t)
  for (const hits of [1, 1, 0, 1]) {
    outer.of('read').hit.add(hits)
    clock.advance(PERIOD_MS)
  }
  t.same(
    trends.samples('hour').map(({ hitPercent }) => hitPercent),
    [100, 100, undefined, 100],
  )
  for (let count = 0; count < 200; count++) clock.advance(PERIOD_MS)
  t.equal(trends.samples('hour').length, 120)
  t.equal(trends.samples('hour').at(-1)?.atMs, clock.now())
  trends.close()
  t.equal(clock.nextInMs, Number.POSITIVE_INFINITY)
})

t.test('a day has samples of twelve minutes', async (t) => {
  const { clock, outer, trends } = start(t)
  for (let count = 0; count < 48; count++) {
    // In the first twelve minutes every read is a hit, in the next none.
    outer.of('read')[count < 24 ? 'hit' : 'miss'].add(1)
    clock.advance(PERIOD_MS)
  }
  t.match(trends.samples('day'), [
    { atMs: 1_720_000, hitPercent: 100 },
    { atMs: 2_440_000, hitPercent: 0 },
  ])
  t.equal(trends.samples('day').length, 2)
})
