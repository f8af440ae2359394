import fc from 'fast-check'
import t from 'tap'
import { clash, isLocalHost, parseAddress, parseEndpoint, reaches } from '../../src/config/value/address.js'
import { parseDuration, parseSignedDuration } from '../../src/config/value/duration.js'
import { isFloatLiteral, type ScalarName, scalarKind } from '../../src/config/value/scalar.js'
import { parseSize } from '../../src/config/value/size.js'

type Row = readonly [ScalarName, number | string | boolean, number | boolean | 'error']

const rows: readonly Row[] = [
  ['count', 10, 10],
  ['count', '10', 10],
  ['count', ' 10 ', 10],
  ['count', '', 'error'],
  ['count', '1k', 'error'],
  ['count', '10.0', 'error'],
  ['count', '9007199254740993', 'error'],
  ['size', '1kb', 1000],
  ['size', '1KB', 1000],
  ['size', '1K', 1000],
  ['size', '1 kB', 1000],
  ['size', '1KiB', 1024],
  ['size', '1ki', 1024],
  ['size', '1.5GB', 1_500_000_000],
  ['size', '1.1GB', 1_100_000_000],
  ['size', '10gb', 10_000_000_000],
  ['size', '10GiB', 10 * 2 ** 30],
  ['size', '2PiB', 2 ** 51],
  ['size', ' 5 mb ', 5_000_000],
  ['size', 0, 0],
  ['size', '0', 0],
  ['size', '0b', 0],
  ['size', '7B', 7],
  ['size', -1, 'error'],
  ['size', '-1', 'error'],
  ['size', '', 'error'],
  ['size', '12 parsecs', 'error'],
  ['size', '1ib', 'error'],
  ['size', '16EiB', 'error'],
  ['size', '8PB', 8_000_000_000_000_000],
  ['size', '9007199254740991', 2 ** 53 - 1],
  ['size', '9007199254740993', 'error'],
  ['size', '8PiB', 'error'],
  ['size', true, 'error'],
  ['duration', 70, 70],
  ['duration', '1m 10s', 70],
  ['duration', ' 70s ', 70],
  ['duration', '999ms', 0.999],
  ['duration', '1500ms', 1.5],
  ['duration', '1s 1000000ns', 1.001],
  ['duration', '1ns', 'error'],
  ['duration', '1500us', 'error'],
  ['duration', '999h', 3_596_400],
  ['duration', '1y3w4d5h6m7s', 33_735_967],
  ['duration', '1h2m3s', 3723],
  ['duration', '1M', 2_630_016],
  ['duration', '2 weeks', 1_209_600],
  ['duration', -1, 'error'],
  ['duration', '-1s', 'error'],
  ['duration', '70', 70],
  ['duration', ' 5 ', 5],
  ['duration', '0', 0],
  ['duration', '-5', 'error'],
  ['duration', '1.5', 'error'],
  ['duration', '99999999999999999999', 'error'],
  ['duration', 'invalid', 'error'],
  ['duration', '3 fortnights', 'error'],
  ['duration', '', 'error'],
  ['duration', true, 'error'],
  ['duration', 1.5, 'error'],
  ['signed_duration', -1, -1],
  ['signed_duration', 5, 5],
  ['signed_duration', '-1', -1],
  ['signed_duration', '5', 5],
  ['signed_duration', '-1s', 'error'],
  ['duration_ms', 500, 500],
  ['duration_ms', '1s', 1000],
  ['duration_ms', '500', 500],
  ['duration_ms', '1500us', 'error'],
  ['number', '0.5', 0.5],
  ['number', 0.25, 0.25],
  ['number', 'half', 'error'],
  ['bool', true, true],
  ['bool', 'TRUE', true],
  ['bool', ' false ', false],
  ['bool', 1, 'error'],
  ['bool', 'yes', 'error'],
  ['bool', '', 'error'],
  ['parallelism', '3', 3],
  ['parallelism', 'many', 'error'],
]

t.test('values are parsed as in the table', async (t) => {
  for (const [name, written, expected] of rows) {
    const { parse } = scalarKind(name)
    const label = `${name} ${JSON.stringify(written)}`
    if (expected === 'error') t.throws(() => parse(written), RangeError, label)
    else t.equal(parse(written), expected, label)
  }
  t.ok(Number(scalarKind('parallelism').parse('cores')) >= 1)
})

t.test('each invalid value has its own message', async (t) => {
  t.throws(() => parseSize('12 parsecs'), { message: '"parsecs" is no unit of size' })
  t.throws(() => parseSize(-1), { message: 'a size cannot be negative' })
  t.throws(() => parseSize(''), { message: 'an empty text is no size' })
  t.throws(() => parseSize('8PiB'), { message: 'this is more than 9007199254740991 bytes, the largest size there is' })
  t.throws(() => parseDuration('1ns'), { message: 'a duration is no finer than a millisecond' })
  t.throws(() => parseDuration('3 fortnights'), { message: '"fortnights" is no unit of time' })
})

t.test('a duration below a second never becomes 0, which means "never" for some keys', async () => {
  const unit = fc.constantFrom('ns', 'us', 'ms')
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999 }), unit, (count, name) => {
      try {
        return parseDuration(`${count}${name}`) === count / 1000 && name === 'ms'
      } catch (error) {
        return error instanceof RangeError && name !== 'ms'
      }
    }),
  )
})

t.test('a literal with a point or an exponent is no whole number', async (t) => {
  for (const text of ['10.0', '1e1', '.5', '1E3']) t.ok(isFloatLiteral(text), text)
  for (const text of ['10', '0x1e', '-0xE', '+7']) t.notOk(isFloatLiteral(text), text)
})

t.test('every size with a unit survives a round trip', async () => {
  const units = [...'KMGTP'].map((letter, index) => [letter, index + 1] as const)
  const unit = fc.constantFrom(...units)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 40 }), unit, fc.boolean(), (count, [letter, power], isBinary) => {
      const factor = BigInt(isBinary ? 1024 : 1000) ** BigInt(power)
      const bytes = BigInt(count) * factor
      fc.pre(bytes < 2n ** 53n)
      const text = `${count}${letter}${isBinary ? 'i' : ''}B`
      return parseSize(text) === Number(bytes) && parseSize(text.toLowerCase()) === parseSize(text)
    }),
  )
  fc.assert(
    fc.property(
      fc.nat(Number.MAX_SAFE_INTEGER),
      (bytes) => parseSize(bytes) === bytes && parseSize(`${bytes}`) === bytes,
    ),
  )
})

t.test(
  'no text makes a parser fail in another way than with a RangeError, or gives a negative or broken number',
  async () => {
    const isHonest = (parse: () => number) => {
      try {
        return parse() >= 0
      } catch (error) {
        return error instanceof RangeError
      }
    }
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9.]{0,30} ?[a-zA-Z]{0,4}$/))
    fc.assert(
      fc.property(text, (written) => isHonest(() => parseSize(written)) && isHonest(() => parseDuration(written))),
    )
  },
)

t.test('a duration of several terms is their sum', async () => {
  const term = fc.record({ count: fc.nat(10_000), unit: fc.constantFrom('s', 'm', 'h', 'd', 'w', 'M', 'y') })
  fc.assert(
    fc.property(fc.array(term, { minLength: 1, maxLength: 6 }), fc.constantFrom('', ' '), (terms, separator) => {
      const texts = terms.map(({ count, unit }) => `${count}${unit}`)
      return parseDuration(texts.join(separator)) === texts.reduce((sum, one) => sum + parseDuration(one), 0)
    }),
  )
  fc.assert(fc.property(fc.nat(), (seconds) => parseSignedDuration(-seconds) === -seconds))
})

t.test('addresses', async (t) => {
  t.same(parseAddress(':50051'), { host: '0.0.0.0', port: 50051 })
  t.same(parseAddress('build.example.org:1'), { host: 'build.example.org', port: 1 })
  t.same(parseAddress('[::1]:50051'), { host: '::1', port: 50051 })
  for (const text of ['localhost', '1.2.3.4:', 'a b:1', '::1:50051', '127.0.0.1:65536', '']) {
    t.throws(() => parseAddress(text), RangeError, text)
  }
  t.same(parseEndpoint('grpc://10.0.0.1:50061'), { host: '10.0.0.1', port: 50061, isSecure: false })
  t.same(parseEndpoint('grpcs://[::1]:50061/'), { host: '::1', port: 50061, isSecure: true })
  for (const uri of ['10.0.0.1:50061', 'ftp://a:1', 'grpc://a', 'grpc://a:1/path']) {
    t.throws(() => parseEndpoint(uri), RangeError, uri)
  }
  t.ok(isLocalHost('localhost') && isLocalHost('127.0.0.2') && isLocalHost('0.0.0.0'))
  t.notOk(isLocalHost('192.0.2.1'))
  const at = (text: string) => parseAddress(text)
  t.ok(reaches(at('localhost:1'), at('127.0.0.1:1')))
  t.ok(reaches(at('127.0.0.1:1'), at(':1')))
  t.notOk(reaches(at('192.0.2.1:1'), at(':1')))
  t.notOk(reaches(at('127.0.0.1:1'), at('127.0.0.1:2')))
  t.ok(clash(at('127.0.0.1:1'), at(':1')))
  t.notOk(clash(at(':0'), at(':0')), 'port 0 is another port each time')
  t.notOk(clash(at('192.0.2.1:1'), at('192.0.2.2:1')))
})
