import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { Fields, writeFieldHead } from '../../src/proto/fields.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

const walked = (bytes: Buffer, from?: number, to?: number): [number, string][] => {
  const fields = new Fields(bytes, resultCodec.typeName, from, to)
  const found: [number, string][] = []
  while (fields.next()) found.push([fields.number, bytes.toString('latin1', fields.from, fields.to)])
  return found
}

t.test('fields with a length are found in order, also inside of others; the rest is passed over', async (t) => {
  const result = resultCodec.encode({
    outputFiles: [{ path: 'a', isExecutable: true }, { path: 'b' }],
    exitCode: -7,
    stdoutRaw: Buffer.alloc(300, 'x'),
  })
  t.same(walked(result), [
    [2, '\n\u0001a \u0001'],
    [2, '\n\u0001b'],
    [5, 'x'.repeat(300)],
  ])
  const fields = new Fields(result, resultCodec.typeName)
  fields.next()
  t.same(walked(result, fields.from, fields.to), [[1, 'a']])
  const others = Buffer.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4, 0x1a, 1, 0x41])
  t.same(walked(others), [[3, 'A']], 'fixed 64 and 32 bits')
})

const fieldHead = (number: number, sizeBytes: number): Buffer => {
  const bytes = Buffer.alloc(10)
  return bytes.subarray(0, writeFieldHead(bytes, 0, number, sizeBytes))
}

t.test('the head of a field is what the encoder writes', async (t) => {
  for (const sizeBytes of [0, 1, 127, 128, 300, 20_000]) {
    const encoded = resultCodec.encode({ stdoutRaw: Buffer.alloc(sizeBytes, 'x') })
    if (sizeBytes > 0) t.same(encoded.subarray(0, encoded.length - sizeBytes), fieldHead(5, sizeBytes))
  }
  t.same(fieldHead(127, 0), Buffer.from([0xfa, 0x07, 0x00]))
})

t.test('bytes that are no message are refused with its name', async (t) => {
  const cases = [
    [0x12, 0x05, 0x01],
    [0x12],
    [0x08, 0x80],
    [0x09, 1, 2],
    [0x13, 0x14],
    [0x02, 0x00],
    [0x12, 0xff, 0xff, 0xff, 0xff, 0x0f],
    [0x08, ...Buffer.alloc(11, 0xff)],
  ]
  for (const bytes of cases) {
    t.throws(() => walked(Buffer.from(bytes)), { message: /the bytes are not a valid build.bazel.*ActionResult: / })
  }
})
