import fc from 'fast-check'
import t from 'tap'
import { median, percentile, spreadOf } from '../../bench/statistics.js'

t.test('the median of an even number is between the two in the middle', async (t) => {
  t.equal(median([9, 1, 4, 2]), 3)
  t.equal(median([9, 1, 4]), 4)
  t.ok(Number.isNaN(median([])))
})

t.test('percentiles are values that were seen, sorted as numbers', async (t) => {
  const values = [10, 9, 100, 1]
  t.equal(percentile(values, 0), 1)
  t.equal(percentile(values, 50), 10)
  t.equal(percentile(values, 99), 100)
  t.equal(percentile(values, 100), 100)
  t.ok(Number.isNaN(percentile([], 50)))
  const thousand = Array.from({ length: 1000 }, (_, index) => index)
  t.equal(percentile(thousand, 99), 990)
})

t.test('as many values lie above the median as below, and all between low and high', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1 }), (values) => {
      const { median: middle, low, high } = spreadOf(values)
      const below = values.filter((value) => value < middle).length
      const above = values.filter((value) => value > middle).length
      return Math.max(below, above) <= values.length / 2 && values.every((value) => value >= low && value <= high)
    }),
  )
})
