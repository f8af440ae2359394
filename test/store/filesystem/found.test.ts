import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { silentLog } from '../../../src/base/log.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { Found } from '../../../src/store/filesystem/found.js'
import { Layout } from '../../../src/store/filesystem/layout.js'
import { Shelf } from '../../../src/store/filesystem/shelf.js'

t.test('what a scan found is ordered by when it was written, however much it is', async (t) => {
  const limits = { maxBytes: 0, evictBytes: 0, maxCount: 0, maxSeconds: 0 }
  const layout = new Layout('/nowhere', '/nowhere')
  const parts = { limits, blockSizeBytes: 1, recentBytes: 0 }
  const shelf = new Shelf(layout, parts, new ManualClock(1_000_000), silentLog)
  const { index } = shelf
  const found = new Found()
  const count = 40_000
  for (let number = 0; number < count; number++) {
    const hash = number.toString(16).padStart(64, '0')
    const slot = index.insert(Digest.parse({ hash, sizeBytes: 1 }, digestFunctions.SHA256), 1)
    // Later ones were written earlier.
    const writtenS = count - number
    index.touch(slot, writtenS)
    found.add(slot, writtenS * 1000)
  }
  await found.order(shelf, () => false)
  const times = [...index.slots()].map((slot) => index.accessedOf(slot))
  t.equal(times.length, count)
  t.ok(times.every((writtenS, at) => writtenS === at + 1))
})
