import { randomBytes } from 'node:crypto'
import t from 'tap'
import { codec } from '../../../src/proto/codec.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { decodeEntry, encodeEntry } from '../../../src/service/http-cache/entry-result.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

t.test('a short body is written as the codec writes it, and read back', (t) => {
  for (const length of [0, 1, 127, 128, 4096]) {
    const inline = randomBytes(length)
    const encoded = encodeEntry({ inline }, {}, undefined)
    t.ok(encoded.equals(resultCodec.encode({ stdoutRaw: inline })), `${length} bytes`)
    t.ok(decodeEntry(encoded).inline.equals(inline))
  }
  t.end()
})

t.test('headers, identity and larger bodies', (t) => {
  const digest = Digest.of(randomBytes(10), digestFunctions.SHA256)
  const headers = { 'x-artifact-tag': 'tag' }
  t.match(decodeEntry(encodeEntry({ digest }, headers, 'ann')), { digest: { key: digest.key }, headers })
  const inline = Buffer.from('body')
  t.match(decodeEntry(encodeEntry({ inline }, headers, undefined)), { digest: undefined, headers })
  t.ok(decodeEntry(encodeEntry({ inline }, {}, 'ann')).inline.equals(inline))
  t.throws(() => decodeEntry(Buffer.from([42, 9, 1])), { code: 3 })
  t.end()
})
