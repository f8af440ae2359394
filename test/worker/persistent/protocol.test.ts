import t from 'tap'
import { codec } from '../../../src/proto/codec.js'
import {
  encodeRequest,
  type Protocol,
  protocolNamed,
  requestBytes,
  responseReader,
} from '../../../src/worker/persistent/protocol.js'

const responseCodec = codec('blaze.worker.WorkResponse')
const requestCodec = codec('blaze.worker.WorkRequest')

/** A response as a tool writes it. */
const written = (protocol: Protocol, response: { exitCode?: number; output?: string; requestId?: number }): Buffer => {
  if (protocol === 'json') return Buffer.from(`${JSON.stringify(response)}\n`)
  const message = responseCodec.encode(response)
  const length = message.length < 128 ? [message.length] : [(message.length & 127) | 128, message.length >> 7]
  return Buffer.concat([Buffer.from(length), message])
}

/** The answer of a reader that gets these pieces. */
const readBy = (protocol: Protocol, pieces: readonly Buffer[]): unknown => {
  const reader = responseReader(protocol)
  let answer: unknown
  try {
    for (const piece of pieces) answer = reader.add(piece)
    return answer
  } catch (error) {
    return (error as { readonly reason?: string }).reason
  }
}

for (const protocol of ['proto', 'json'] as const) {
  t.test(`answers are read from pieces of any size (${protocol})`, async (t) => {
    for (const response of [{}, { exitCode: 1 }, { output: 'käse {"} \\" \n'.repeat(20), exitCode: 300 }]) {
      const bytes = written(protocol, response)
      const expected = { exitCode: 0, output: '', ...response }
      for (let at = 0; at <= bytes.length; at++)
        t.same(
          readBy(
            protocol,
            [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0),
          ),
          expected,
        )
      t.same(
        readBy(
          protocol,
          Array.from(bytes, (byte) => Buffer.from([byte])),
        ),
        expected,
      )
    }
  })

  t.test(`what is no answer to the request is a fault (${protocol})`, async (t) => {
    const answer = written(protocol, { output: 'x' })
    const wrong = {
      'another request': written(protocol, { requestId: 7 }),
      'two answers': Buffer.concat([answer, answer]),
      text: Buffer.from('Warning: a tool that prints\n'),
      'text behind': Buffer.concat([answer, Buffer.from('done')]),
    }
    for (const [name, bytes] of Object.entries(wrong)) t.equal(readBy(protocol, [bytes]), 'garbage', name)
    t.equal(readBy(protocol, [answer.subarray(0, 1)]), undefined, 'the beginning of one is none yet')
  })
}

t.test('JSON is read by its braces, also on several lines and with unknown fields', async (t) => {
  const text = '\n{\n  "exitCode": "3",\n  "output": "a}b",\n  "other": {"x": [1]}\n}'
  t.same(readBy('json', [Buffer.from(text)]), { exitCode: 3, output: 'a}b' })
  for (const bad of ['{"exitCode": 1.5}', '{"output": 7}', '{"wasCancelled": "no"}', '{"wasCancelled": true}', '{,}'])
    t.equal(readBy('json', [Buffer.from(bad)]), 'garbage', bad)
})

t.test('a length that no answer has is noticed before its bytes are waited for', async (t) => {
  t.equal(readBy('proto', [Buffer.from([0xff, 0xff, 0xff, 0x7f])]), 'garbage')
  t.equal(readBy('proto', [Buffer.from([0xff, 0xff, 0xff, 0xff])]), 'garbage')
  t.equal(readBy('json', [Buffer.concat([Buffer.from('{"output":"'), Buffer.alloc(17 * 2 ** 20, 0x61)])]), 'garbage')
})

t.test('requests are as tools read them', async (t) => {
  const request = { arguments: ['--out', 'ä'], inputs: [{ path: 'd/a', hash: 'ab12' }] }
  const bytes = encodeRequest('proto', request)
  t.same(requestCodec.decode(bytes.subarray(1)), {
    ...{ arguments: ['--out', 'ä'], inputs: [{ path: 'd/a', digest: Buffer.from('ab12') }] },
    ...{ requestId: 0, cancel: false, verbosity: 0, sandboxDir: '' },
  })
  t.equal(bytes[0], bytes.length - 1)
  t.same(JSON.parse(encodeRequest('json', request).toString()), {
    ...{ arguments: ['--out', 'ä'], inputs: [{ path: 'd/a', digest: Buffer.from('ab12').toString('base64') }] },
  })
  for (const protocol of ['proto', 'json'] as const) {
    const large = {
      arguments: ['\u0001'.repeat(500)],
      inputs: Array(300).fill({ path: 'ü'.repeat(40), hash: 'f'.repeat(64) }),
    }
    t.ok(encodeRequest(protocol, large).length <= requestBytes(large), 'the bound holds')
  }
  t.same([undefined, '', 'proto', 'protobuf', 'json', 'xml'].map(protocolNamed), [
    'proto',
    'proto',
    'proto',
    'proto',
    'json',
    undefined,
  ])
})
