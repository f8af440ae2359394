import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import {
  originOf,
  packedOrigin,
  setOrigin,
  withoutEncodedOrigin,
  withoutOrigin,
} from '../../src/reapi/result-origin.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

const origin = (length: number) => packedOrigin({ identity: 'x'.repeat(length) })
const other = { typeUrl: 'type.googleapis.com/other', value: Buffer.from('about remexec.scheduler.v1.ResultOrigin') }

t.test('a result loses its origin and nothing else, encoded as decoded', async (t) => {
  for (const auxiliaryMetadata of [
    [origin(3)],
    [other, origin(500), other],
    [origin(130), origin(1)],
    [other],
    [{ ...origin(5), typeUrl: 'elsewhere/remexec.scheduler.v1.ResultOrigin' }, other],
  ]) {
    const result = {
      outputFiles: [{ path: 'remexec.scheduler.v1.ResultOrigin' }],
      exitCode: 3,
      stdoutRaw: Buffer.from('out'),
      executionMetadata: { worker: 'w', queuedTimestamp: { seconds: 5 }, auxiliaryMetadata },
    }
    const encoded = resultCodec.encode(result)
    const expected = resultCodec.encode(withoutOrigin(resultCodec.decode(encoded)))
    t.same(withoutEncodedOrigin(encoded), expected)
  }
})

t.test('a result without an origin is not copied', async (t) => {
  const encoded = resultCodec.encode({ executionMetadata: { worker: 'w' } })
  t.equal(withoutEncodedOrigin(encoded), encoded)
})

t.test('the origin of a result is replaced by another, or by none', async (t) => {
  const result = resultCodec.decode(
    resultCodec.encode({ executionMetadata: { auxiliaryMetadata: [origin(3), other] } }),
  )
  setOrigin(result, { identity: 'token ci', workerId: 'w1' })
  t.match(originOf(result), { identity: 'token ci', workerId: 'w1' })
  t.equal(result.executionMetadata?.auxiliaryMetadata.length, 2, 'beside the other')
  setOrigin(result, undefined)
  t.equal(originOf(result), undefined)
  t.match(result.executionMetadata?.auxiliaryMetadata, [{ typeUrl: other.typeUrl }])
  const plain = resultCodec.decode(Buffer.alloc(0))
  setOrigin(plain, { identity: 'anonymous' })
  t.match(originOf(plain), { identity: 'anonymous' })
})
