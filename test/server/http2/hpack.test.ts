import fc from 'fast-check'
import t from 'tap'
import { HeaderDecoder } from '../../../src/server/http2/hpack/decoder.js'
import { encodeFields } from '../../../src/server/http2/hpack/encoder.js'
import { decodeHuffman, encodeHuffman, huffmanLength } from '../../../src/server/http2/hpack/huffman.js'
import { readInteger, writeInteger } from '../../../src/server/http2/hpack/integer.js'
import { until } from '../../until.js'
import { type Field, nghttp2Client, nghttp2Server } from './nghttp2.js'

/** Number of random header blocks exchanged with nghttp2 in each direction; the environment may set a million. */
const BLOCKS = Number(process.env['REMEXEC_TEST_HEADER_BLOCKS'] ?? 3000)
const LIST_BYTES = 1 << 20

const decode = (...hex: string[]): (readonly string[])[] => {
  const decoder = new HeaderDecoder(LIST_BYTES)
  return hex.map((block) => decoder.decode(Buffer.from(block.replaceAll(' ', ''), 'hex')).lines)
}

t.test('integers (RFC 7541, C.1)', async (t) => {
  const written = (value: number, prefixBits: number): string => {
    const bytes: number[] = []
    writeInteger(bytes, value, prefixBits, 0)
    return Buffer.from(bytes).toString('hex')
  }
  t.equal(written(10, 5), '0a')
  t.equal(written(1337, 5), '1f9a0a')
  t.equal(written(42, 8), '2a')
  fc.assert(
    fc.property(fc.nat(2 ** 28), fc.integer({ min: 4, max: 7 }), (value, prefixBits) => {
      const bytes: number[] = []
      writeInteger(bytes, value, prefixBits, 0)
      const cursor = { bytes: Buffer.from(bytes), at: 0 }
      return readInteger(cursor, prefixBits) === value && cursor.at === bytes.length
    }),
  )
  t.throws(() => readInteger({ bytes: Buffer.from('ff80808080808001', 'hex'), at: 0 }, 7), /too large/)
  t.throws(() => readInteger({ bytes: Buffer.from('ff80', 'hex'), at: 0 }, 7), /ends within an integer/)
})

t.test('requests without and with Huffman coding, with a table that grows (RFC 7541, C.3 and C.4)', async (t) => {
  const first = [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com']
  const second = [...first, 'cache-control', 'no-cache']
  const third = [':method', 'GET', ':scheme', 'https', ':path', '/index.html', ':authority', 'www.example.com']
  const expected = [first, second, [...third, 'custom-key', 'custom-value']]
  t.same(
    decode(
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ),
    expected,
  )
  t.same(
    decode(
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ),
    expected,
  )
})

t.test('responses with a table of 256 bytes, from which fields are evicted (RFC 7541, C.6)', async (t) => {
  const decoder = new HeaderDecoder(LIST_BYTES, 256)
  const blocks = [
    '488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3',
    '4883640effc1c0bf',
    '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
  ]
  const [first, second, third] = blocks.map((block) => decoder.decode(Buffer.from(block, 'hex')).lines)
  const rest = [
    'cache-control',
    'private',
    'date',
    'Mon, 21 Oct 2013 20:13:21 GMT',
    'location',
    'https://www.example.com',
  ]
  t.same(first, [':status', '302', ...rest])
  t.same(second, [':status', '307', ...rest])
  t.match(third, [':status', '200', 'cache-control', 'private', 'date', 'Mon, 21 Oct 2013 20:13:22 GMT', 'location'])
  t.equal(third?.at(-1), 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1')
})

t.test('invalid header blocks', async (t) => {
  const refused: [string, string, RegExp][] = [
    ['index 0', '80', /entry 0/],
    ['an index beyond the tables', 'be', /entry 62/],
    ['a string that is cut', '4003', /within a string/],
    ['a size of the table above the one agreed', '3fe21f', /4097 bytes/],
    ['a size of the table behind a field', '8220', /within a header block/],
    ['padding of more than seven bits', '0082 1fff 00', /padded/],
    ['padding of zeros', '0081 18 00', /padded/],
    ['the code for the end of a string', '0084 ffffffff 00', /code for its end/],
  ]
  for (const [name, hex, message] of refused) t.throws(() => decode(hex), message, name)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      try {
        new HeaderDecoder(LIST_BYTES).decode(Buffer.from(bytes))
      } catch (error) {
        return error instanceof Error && error.name === 'CompressionError'
      }
      return true
    }),
    { numRuns: 2000 },
  )
})

t.test('an HPACK bomb is measured by its decoded list, and takes no more memory than the limit', async (t) => {
  const decoder = new HeaderDecoder(16_384)
  const value = 'x'.repeat(4000)
  const literal = encodeFields([['a', value]])
  literal[0] = 0x40
  decoder.decode(literal)
  const { lines, isTooLarge } = decoder.decode(Buffer.alloc(16_000, 0xbe))
  t.equal(isTooLarge, true)
  t.equal(lines.length / 2, 4, 'fields kept of sixteen thousand')
  t.same(decoder.decode(Buffer.of(0xbe)).lines, ['a', value], 'the table is as it was')
})

t.test('Huffman coding round-trips every string', async () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array).toString('latin1'))
  fc.assert(
    fc.property(bytes, (value) => {
      const coded: number[] = []
      encodeHuffman(coded, value)
      return coded.length === huffmanLength(value) && decodeHuffman(Buffer.from(coded), 0, coded.length) === value
    }),
    { numRuns: 2000 },
  )
})

/** Pseudo-random numbers below `limit`, the same in every run. */
const dice = (seed: number) => {
  let state = seed
  return (limit: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

const TOKEN = 'abcdefghijklmnopqrstuvwxyz0123456789-_.'
const roll = dice(7541)
const text = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[roll(alphabet.length)]).join('')
const VISIBLE = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join('')
const REQUEST: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'localhost'],
]
const seen: Field[] = []

/** Fields, some of them repeated, as on a real connection. */
const randomFields = (): Field[] =>
  Array.from({ length: roll(12) }, (): Field => {
    const again = seen[roll(200)]
    if (again !== undefined && roll(3) > 0) return again
    const name = roll(4) === 0 ? 'user-agent' : `x-${text(TOKEN, 1 + roll(roll(10) === 0 ? 200 : 20))}`
    const field: Field = [name, text(VISIBLE, roll(roll(20) === 0 ? 3000 : 40))]
    seen[roll(200)] = field
    return field
  }).filter(([name], at, all) => all.findIndex(([other]) => other === name) === at)

t.test(`${BLOCKS} header blocks of nghttp2 are decoded to the original fields`, { timeout: 3_600_000 }, async (t) => {
  const blocks: Buffer[] = []
  const session = nghttp2Client((block) => blocks.push(block))
  const decoder = new HeaderDecoder(LIST_BYTES)
  let wrong = 0
  for (let count = 0; count < BLOCKS; ) {
    const lot: Field[][] = []
    for (; lot.length < 100 && count < BLOCKS; count++) {
      const fields = randomFields()
      lot.push(fields)
      const stream = session.request({ ':path': '/', ...Object.fromEntries(fields) }, { endStream: true })
      stream.on('error', () => {})
      stream.close()
    }
    await until(() => blocks.length >= lot.length)
    for (const [index, block] of blocks.splice(0).entries()) {
      const { lines } = decoder.decode(block)
      const pairs = new Map(lines.flatMap((name, at) => (at % 2 === 0 ? [[name, lines[at + 1]] as const] : [])))
      const fields = lot[index] ?? []
      if (pairs.size !== fields.length + 4 || fields.some(([name, value]) => pairs.get(name) !== value)) wrong += 1
    }
  }
  session.destroy()
  t.equal(wrong, 0)
})

t.test(
  `${BLOCKS} header blocks of ours are decoded by nghttp2 to the original fields`,
  { timeout: 3_600_000 },
  async (t) => {
    const server = nghttp2Server()
    let wrong = 0
    for (let count = 0; count < BLOCKS; count++) {
      const fields: Field[] = [...REQUEST, ...randomFields()]
      const found = await server.decode(encodeFields(fields))
      if (JSON.stringify(found) !== JSON.stringify(fields)) wrong += 1
    }
    server.close()
    t.equal(wrong, 0)
  },
)
