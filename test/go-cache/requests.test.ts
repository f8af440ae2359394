import fc from 'fast-check'
import t from 'tap'
import { goRequests } from '../../src/go-cache/requests.js'

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

async function* cut(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0, next = 0; at < bytes.length; next++) {
    const size = sizes[next % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

interface Sent {
  readonly actionId: Uint8Array
  readonly body: Uint8Array
  readonly isRead: boolean
}

/** As the go command writes: a line, an empty line, and for a body a line of base64. */
const written = ({ actionId, body }: Sent, id: number): string => {
  const head = { ID: id, Command: 'put', ActionID: base64(actionId), OutputID: base64(actionId), BodySize: body.length }
  return `${JSON.stringify(head)}\n\n${body.length > 0 ? `"${base64(body)}"\n` : ''}`
}

t.test(
  'every request and body comes as it was sent, however the stream is cut, also if a body is not read',
  async (t) => {
    const request = fc.record({
      actionId: fc.uint8Array({ minLength: 1, maxLength: 32 }),
      body: fc.uint8Array({ maxLength: 300 }),
      isRead: fc.boolean(),
    })
    const property = fc.asyncProperty(
      fc.array(request, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
      async (sent, sizes) => {
        let count = 0
        for await (const { id, command, actionId, outputId, body } of goRequests(
          cut(sent.map(written).join(''), sizes),
        )) {
          const one = sent[count] as Sent
          const expected = Buffer.from(one.actionId).toString('hex')
          if (id !== count || command !== 'put' || actionId !== expected || outputId !== expected) return false
          count += 1
          if (!one.isRead) continue
          const pieces: Buffer[] = []
          for await (const piece of body) pieces.push(piece)
          if (!Buffer.concat(pieces).equals(one.body)) return false
        }
        return count === sent.length
      },
    )
    await t.resolves(fc.assert(property, { numRuns: 200 }))
  },
)

t.test('what is no request is refused with what was expected', async (t) => {
  const read = async (text: string): Promise<void> => {
    for await (const { body } of goRequests(cut(text, [7]))) for await (const _ of body);
  }
  const put = '{"ID":1,"Command":"put","ActionID":"AAAA","OutputID":"AAAA","BodySize":3}\n'
  await t.rejects(read('hello\n'), { message: /is no request, expected a JSON object/ })
  await t.rejects(read('{"ID":-1,"Command":"get"}\n'), { message: /ID is not valid/ })
  const get = (actionId: string): string => `{"ID":1,"Command":"get","ActionID":${actionId}}\n`
  for (const text of ['"not base64!"', '"AAA"', '"=AAA"'])
    await t.rejects(read(get(text)), { code: 3, message: /ActionID is not valid, expected base64/ }, text)
  await t.rejects(read(get('""')), { code: 3, message: /ActionID is missing in a get/ })
  await t.rejects(read('{"ID":1,"Command":"put","ActionID":"AAAA","BodySize":0}\n'), { message: /OutputID is missing/ })
  await t.rejects(read(`${put}"AAAAAAAA"\n`), { message: /a body has 6 bytes, expected BodySize \(3\)/ })
  await t.rejects(read(`${put}"AAAA`), { message: /ends inside a body/ })
  await t.rejects(read(put), { message: /a body is missing/ })
  await t.rejects(read(`${put}${put}`), { message: /a body is missing/ })
  await t.rejects(read('x'.repeat(70_000)), { message: /more than 65536 bytes in a line/ })
})
