import { Duplex, Readable } from 'node:stream'
import t from 'tap'
import { discard } from '../../src/stream/path.js'

t.test('a stage that fails while its path is discarded ends no process, and the others are closed too', async (t) => {
  const failing = new Duplex({ destroy: (_, done) => done(new Error('could not be closed')) })
  const path = [new Readable(), failing] as const
  const closed = Promise.all(path.map((stage) => new Promise((resolve) => stage.once('close', resolve))))
  discard(path)
  await closed
  t.ok(path.every(({ destroyed }) => destroyed))
  t.equal(failing.errored?.message, 'could not be closed')
})
