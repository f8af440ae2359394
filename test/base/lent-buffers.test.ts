import t from 'tap'
import { LARGE_BYTES, lendBuffer, SMALL_BYTES } from '../../src/base/lent-buffers.js'

t.test('a released buffer is lent again, once, and never to two at a time', async (t) => {
  for (const wholeBytes of [SMALL_BYTES, LARGE_BYTES]) {
    const first = lendBuffer(wholeBytes)
    const other = lendBuffer(wholeBytes)
    t.not(other.bytes.buffer, first.bytes.buffer)
    first.release()
    first.release()
    const [next, after] = [lendBuffer(wholeBytes - 1), lendBuffer(wholeBytes)]
    t.equal(next.bytes.buffer, first.bytes.buffer)
    t.equal(next.bytes.length, wholeBytes - 1)
    t.not(after.bytes.buffer, first.bytes.buffer)
  }
})
