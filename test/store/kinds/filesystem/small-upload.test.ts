import t from 'tap'
import { StatusError } from '../../../../src/base/status-error.js'
import { type Call, callWith, internalCall } from '../../../../src/rpc/call.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { bytesOf, digestOf, isPresent } from '../../blobs.js'
import { rejects } from '../../suite.js'
import { openFilesystem } from './open.js'

/** Making a signal costs 2 of the 50 us of a small upload. */
class WithoutSignal implements Call {
  readonly instanceName = ''
  readonly log = internalCall().log
  reason: StatusError | undefined

  get signal(): AbortSignal {
    throw new Error('a small upload needs no signal')
  }

  whyCancelled(): StatusError | undefined {
    return this.reason
  }
}

t.test('a small upload is written, or cancelled, without the signal of its call', async (t) => {
  const { store, close } = await openFilesystem(t.testdir())
  t.teardown(close)
  const call = new WithoutSignal()
  const [digest, other] = [digestOf(bytesOf(1000)), digestOf(bytesOf(1001))]
  await store.put(digest, Blob.ofBytes(bytesOf(1000)), callWith(call, { keepForMs: 1 }))
  t.ok(await isPresent(store, digest))
  const begun = store.put(other, Blob.ofBytes(bytesOf(1001)), call)
  call.reason = new StatusError('CANCELLED', 'nobody waits for it')
  await rejects(t, begun, 'CANCELLED')
  await rejects(t, store.put(other, Blob.ofBytes(bytesOf(1001)), call), 'CANCELLED')
  t.notOk(await isPresent(store, other))
})
