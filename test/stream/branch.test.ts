import { Duplex, Writable } from 'node:stream'
import t from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { Branch } from '../../src/stream/branch.js'

t.test(
  'a branch whose first stage breaks lets its transfer go on, however long another one takes to close',
  async (t) => {
    let letGo = (): void => {}
    const first = new Duplex({ writableHighWaterMark: 1, read() {}, write() {} })
    const last = new Writable({
      destroy(error, callback) {
        letGo = () => callback(error)
      },
    })
    const branch = new Branch([first, last])
    t.notOk(branch.write(Buffer.alloc(10)), 'it is full')
    const ready = new Promise<void>((resolve) => branch.onReady(resolve))
    first.destroy(new StatusError('DATA_LOSS', 'damaged'))
    await ready
    t.notOk(last.closed)
    letGo()
    t.match(await branch.outcome, { message: 'damaged' })
  },
)
