import t from 'tap'
import { shareText, sizeText, timeText } from '../../src/base/quantities.js'

t.test('sizes, times and shares are readable', async (t) => {
  t.same(
    [0, 999, 1000, 1536, 999_960, 20e9, 4.5e12].map(sizeText),
    ['0 B', '999 B', '1 kB', '1.5 kB', '1 MB', '20 GB', '4.5 TB'],
    'in the units of the configuration',
  )
  t.same([0, 0.2, 340, 59_999, 61_000, 3_600_000, 90_061_000].map(timeText), [
    '0 s',
    '1 ms',
    '340 ms',
    '59 s',
    '1 min 1 s',
    '1 h',
    '1 d 1 h',
  ])
  t.same([shareText(1, 3), shareText(0, 0)], ['33.3 %', '–'])
})
