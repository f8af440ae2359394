import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { Metrics } from '../../src/metrics/metrics.js'
import { Trends } from '../../src/status-page/trends.js'

const PERIOD_MS = 30_000

const start = () => {
  const clock = new ManualClock(1_000_000)
  const metrics = new Metrics({ labelsActionDigests: false }, clock.now())
  t.teardown(() => metrics.stop())
  const outer = metrics.stores.of({ cacheType: 'CAS', usage: () => undefined })
  const inner = metrics.stores.of({ cacheType: 'CAS/fast', usage: () => undefined })
  return { clock, outer, inner, trends: new Trends(metrics, clock) }
}

/** The newest value of a picture, and the points of its line. */
const pictureOf = (markup: string, title: string) => {
  const item = markup.split('<li').find((part) => part.includes(title)) ?? ''
  const [, value] = /<b>(.*?)<\/b>/.exec(item) ?? []
  const [, path = ''] = /<path d="(.*?)"/.exec(item) ?? []
  return { value, moves: path.split('M').length - 1, points: path.split(/[ML]/).length - 1 }
}

t.test('the last hour in samples of half a minute, each of its own period', async (t) => {
  const { clock, outer, inner, trends } = start()
  t.equal(trends.pictures(false), '', 'one point is no line')
  outer.of('read').hit.add(3)
  outer.of('read').miss.add(1)
  inner.of('read').miss.add(100)
  clock.advance(PERIOD_MS)
  outer.of('read').hit.add(1)
  outer.of('read').miss.add(1)
  outer.bytes.out.add(30e6)
  clock.advance(PERIOD_MS)
  const markup = trends.pictures(true)
  t.match(pictureOf(markup, 'Hit rate'), { value: '50 %', points: 2 }, 'without what is counted inside of a store')
  t.match(markup, /Hit rate, peak 75 %/)
  t.match(pictureOf(markup, 'Bytes'), { value: '1 MB/s', points: 2 })
  t.match(pictureOf(markup, 'Queued'), { value: '0', points: 2 })
  t.notMatch(trends.pictures(false), /Queued/)
})

t.test('a period without reads is a gap, and older samples than an hour are dropped', async (t) => {
  const { clock, outer, trends } = start()
  const period = (hits: number): void => {
    outer.of('read').hit.add(hits)
    clock.advance(PERIOD_MS)
  }
  for (const hits of [1, 1, 0, 1]) period(hits)
  t.match(pictureOf(trends.pictures(false), 'Hit rate'), { value: '100 %', points: 3, moves: 2 })
  for (let count = 0; count < 200; count++) period(1)
  t.match(pictureOf(trends.pictures(false), 'Hit rate'), { points: 120, moves: 1 })
  trends.close()
  t.equal(clock.nextInMs, Number.POSITIVE_INFINITY)
})
