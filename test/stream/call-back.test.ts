import { Transform, Writable } from 'node:stream'
import t from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { BlobCheck } from '../../src/stream/blob-check.js'
import { callBackAfter, closeAfter } from '../../src/stream/call-back.js'
import { join } from '../../src/stream/join.js'
import { Verify } from '../../src/stream/verify.js'
import { bytesOf, cut, digestOf, source } from '../store/blobs.js'
import { rejects } from '../store/suite.js'

class Ends extends Writable {
  override _write(_chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    callback()
  }
}

const broken = new StatusError('UNAVAILABLE', 'broken')

t.test('a transfer fails, and does not wait for ever, if work of a stage rejects', async (t) => {
  const failing = new Transform({
    transform(chunk, _encoding, callback) {
      callBackAfter(this, Promise.reject(broken), (error) => callback(error, chunk))
    },
  })
  await rejects(t, join([source(cut(bytesOf(1000))), failing, new Ends()]), 'UNAVAILABLE')
})

t.test('a transfer fails if a listener of a stage throws after work', async (t) => {
  const passing = new Transform({
    transform(chunk, _encoding, callback) {
      callBackAfter(this, Promise.resolve(), (error) => callback(error, chunk))
    },
  })
  passing.on('data', () => {
    throw broken
  })
  await rejects(t, join([source(cut(bytesOf(1000))), passing]), 'UNAVAILABLE')
})

t.test('a check fails if the witness of its bytes does', async (t) => {
  const bytes = bytesOf(1000)
  const witness = { passed: () => Promise.reject(broken), ended: () => {} }
  const checking = new Verify(new BlobCheck(digestOf(bytes), { fault: 'backend' }), { witness })
  await rejects(t, join([source(cut(bytes)), checking, new Ends()]), 'UNAVAILABLE')
})

t.test('a stage closes after its work, with the first failure', async (t) => {
  const first = new StatusError('ABORTED', 'first')
  const outcomes = [
    [Promise.resolve(), null, null],
    [Promise.resolve(), first, first],
    [Promise.reject(broken), null, broken],
    [Promise.reject(broken), first, first],
  ] as const
  for (const [work, error, expected] of outcomes)
    t.equal(await new Promise((resolve) => closeAfter(work, error, resolve)), expected)
})
