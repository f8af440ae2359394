import './disk-gates.js'
import t from 'tap'
import { abortEach } from './abort-each.js'
import { isHttp, ways } from './ways.js'

for (const [way, begin] of Object.entries(ways)) {
  if (!isHttp(way)) continue
  t.test(`${way} that is given up, at each step of the disk, changes nothing of others`, (t) =>
    abortEach(t, (files) => files('cas'), { [way]: begin }),
  )
}
