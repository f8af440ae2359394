import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { textLog } from '../../../src/log/log.js'
import { RecentLines } from '../../../src/pages/server/recent-lines.js'

t.test(
  'the last twenty warnings and errors are kept, the newest first, without fields that could name paths',
  async (t) => {
    const log = new RecentLines(
      textLog('error', () => {}),
      new ManualClock(7),
    )
    for (let at = 0; at < 25; at++) log.warn(`line ${at}`, { store: 'CAS', path: '/secret' })
    log.info('not kept')
    log.error('the last', { code: 'INTERNAL' })
    t.equal(log.lines.length, 20)
    t.same(log.lines[0], { atMs: 7, level: 'error', message: 'the last', about: 'code INTERNAL' })
    t.same(log.lines[19], { atMs: 7, level: 'warn', message: 'line 6', about: 'store CAS' })
  },
)
