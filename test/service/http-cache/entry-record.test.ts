import t from 'tap'
import { codec } from '../../../src/proto/codec.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { decodeEntry, encodeEntry, keyOfEntry } from '../../../src/service/http-cache/entry-record.js'
import { drawnBytes } from '../../drawn.js'

const recordCodec = codec('remexec.record.v1.Record')
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const key = keyOfEntry('main', ['/files', 'a'])
const MAGIC_BYTES = 6

t.test('a short body is written as the codec writes it, and read back', (t) => {
  for (const length of [0, 1, 127, 128, 4096]) {
    const inline = drawnBytes(length)
    const encoded = encodeEntry(key, { inline }, {}, undefined)
    t.ok(encoded.subarray(MAGIC_BYTES).equals(recordCodec.encode({ content: inline })), `${length} bytes`)
    t.ok(decodeEntry(key, encoded).inline.equals(inline))
  }
  t.end()
})

t.test('fields, identity and larger bodies', (t) => {
  const digest = Digest.of(drawnBytes(10), digestFunctions.SHA256)
  const fields = { artifactTag: 'tag' }
  t.match(decodeEntry(key, encodeEntry(key, { digest }, fields, 'ann')), { digest: { key: digest.key }, fields })
  const inline = Buffer.from('body')
  t.match(decodeEntry(key, encodeEntry(key, { inline }, fields, undefined)), { digest: undefined, fields })
  t.ok(decodeEntry(key, encodeEntry(key, { inline }, {}, 'ann')).inline.equals(inline))
  t.end()
})

t.test('what is no record of this kind is none: a result, a record of another kind, a record that is cut', (t) => {
  const entry = encodeEntry(key, { inline: Buffer.from('body') }, {}, 'ann')
  const result = resultCodec.encode({ stdoutRaw: Buffer.from('poison') })
  for (const bytes of [result, Buffer.alloc(0), Buffer.from([42, 9, 1]), entry.subarray(0, -1)])
    t.throws(() => decodeEntry(key, bytes), { code: 3 })
  t.throws(() => decodeEntry(Digest.ofOwn('ASSET', 'a'), entry), { code: 3 })
  t.throws(() => resultCodec.decode(entry), { code: 3 }, 'and no record is a result')
  t.end()
})
