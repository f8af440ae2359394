import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { textLog } from '../../src/log/log.js'
import { SparingLog } from '../../src/log/sparing-log.js'

t.test('a flood of warnings becomes a few lines and a count per period', async (t) => {
  const clock = new ManualClock()
  const lines: string[] = []
  const log = textLog('info', (line) => lines.push(line.replace(/^\S+ /, '').trim()), clock.now.bind(clock))
  const sparing = new SparingLog(log, clock, { lines: 2, periodMs: 1000 })
  for (let count = 0; count < 50; count++) sparing.warn('no', { count })
  t.same(lines.splice(0), ['warn  no count=0', 'warn  no count=1'])
  clock.advance(999)
  sparing.warn('no', {})
  t.same(lines, [])
  clock.advance(1)
  t.same(lines.splice(0), ['warn  no: more of these were not written count=49'])
  clock.advance(10_000)
  t.same(lines, [], 'a quiet period logs nothing')
  sparing.warn('no', { count: 'again' })
  clock.advance(1000)
  t.same(lines.splice(0), ['warn  no count=again'])
  for (let count = 0; count < 3; count++) sparing.warn('no', { count })
  t.equal(lines.length, 2, 'the next period has its own lines')
})
