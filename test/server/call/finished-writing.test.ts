import t from 'tap'
import { finishedWriting } from '../../../src/server/call/finished-writing.js'
import { ResponseStream } from '../../../src/server/call/response-stream.js'
import { inTime } from '../../store/blobs.js'

/** A stream whose messages leave at once. */
const responses = (): ResponseStream =>
  new ResponseStream({
    send: (_, sent) => {
      sent(1)
      return 1
    },
    whenRoom: (callback) => callback(1),
  })

t.test('a stream has finished once all its messages have left', async (t) => {
  const stream = responses()
  stream.write('a message')
  await inTime(finishedWriting(stream), 'the end of the stream')
  t.ok(stream.writableFinished)
  await t.resolves(inTime(finishedWriting(stream), 'the same, asked later'))
})

t.test('a stream that ends before has not', async (t) => {
  const stream = responses()
  const failed = responses()
  const [early, late] = [finishedWriting(stream), finishedWriting(failed)]
  stream.destroy()
  failed.destroy(new Error('the client has gone'))
  await t.rejects(early, { message: /before everything was written/ })
  await t.rejects(late, { message: 'the client has gone' })
  await t.rejects(finishedWriting(failed), { message: 'the client has gone' })
})
