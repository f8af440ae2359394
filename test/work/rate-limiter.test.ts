import t from 'tap'
import { RateLimiter } from '../../src/work/rate-limiter.js'

const takes = (limiter: RateLimiter, times: number): number =>
  Array.from({ length: times }, () => limiter.take()).filter(Boolean).length

t.test('a burst at once, then a number a second, and never more than a burst at once', async (t) => {
  let nowMs = 0
  const limiter = new RateLimiter({ burst: 10, perSecond: 5 }, () => nowMs)
  t.equal(takes(limiter, 5), 5)
  nowMs = 60_000
  t.equal(takes(limiter, 30), 10, 'unused tokens do not add up')
  t.equal(limiter.waitMs, 200)
  nowMs += 1000
  t.equal(takes(limiter, 30), 5)
  nowMs -= 30_000
  t.equal(takes(limiter, 30), 0, 'the clock was set back')
})

t.test('earned tokens count at once', async (t) => {
  const limiter = new RateLimiter({ burst: 2, perSecond: 0.001 }, () => 0)
  t.equal(takes(limiter, 9), 2)
  limiter.earn(9)
  t.equal(takes(limiter, 9), 2)
})
