import fc from 'fast-check'
import { Flag, FrameType } from '../../../src/server/http2/frame/frame.js'
import { encodeFields } from '../../../src/server/http2/hpack/encoder.js'
import { frame, SETTINGS, SETTINGS_ACK, uint32 } from '../../server/http2/raw-client.js'

type Bytes = fc.Arbitrary<Buffer>

/** Few, so that frames meet the same streams. */
const streamId = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(1, 3, 5) },
  { weight: 2, arbitrary: fc.constantFrom(0, 2, 7, 9) },
  { weight: 1, arbitrary: fc.constantFrom(101, 0x7fffffff, 0x80000001) },
)
const requestId = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(1, 3, 5, 7) }, { weight: 2, arbitrary: streamId })

const bytesOf = (maxLength: number): Bytes => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes))

const chance = (percent: number): fc.Arbitrary<boolean> => fc.nat(99).map((drawn) => drawn < percent)

const request: readonly [string, string][] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/a/b'],
  [':authority', 'localhost'],
]

const ODD_FIELDS: readonly [string, string][] = [
  [':method', 'GET'],
  [':method', 'CONNECT'],
  [':path', ''],
  [':path', '*'],
  [':status', '200'],
  [':protocol', 'websocket'],
  [':unknown', 'x'],
  ['te', 'trailers'],
  ['te', 'gzip'],
  ['connection', 'close'],
  ['transfer-encoding', 'chunked'],
  ['upgrade', 'h2c'],
  ['content-length', '0'],
  ['content-length', '5'],
  ['content-length', '5, 5'],
  ['content-length', '-1'],
  ['host', 'localhost'],
  ['host', 'elsewhere'],
  ['Upper', 'x'],
  ['', 'x'],
  ['x y', 'x'],
  ['x', ' leading'],
  ['x', 'new\nline'],
  ['x', 'nul\0'],
  ['x', 'tab\there'],
  ['x', '\x7f'],
  ['x', '\xe9'],
  ['x', ''],
  ['cookie', 'a=b'],
  ['long', 'x'.repeat(300)],
  ['longer', 'y'.repeat(6000)],
]

const fieldList: fc.Arbitrary<readonly (readonly [string, string])[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant([...request]) },
  {
    weight: 6,
    arbitrary: fc
      .record({
        drop: fc.option(fc.nat(request.length - 1)),
        odd: fc.array(fc.constantFrom(...ODD_FIELDS), { maxLength: 3 }),
        isFirst: chance(30),
      })
      .map(({ drop, odd, isFirst }) => {
        const kept = request.filter((_, at) => at !== drop)
        return isFirst ? [...odd, ...kept] : [...kept, ...odd]
      }),
  },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...ODD_FIELDS), { maxLength: 3 }) },
)

/** Representations of RFC 7541, 6 that our encoder never makes, right and wrong. */
const oddHpack: Bytes = fc
  .constantFrom(
    '20',
    '3f',
    '3fe11f',
    '3fe21f',
    '3fffffffff7f',
    '80',
    'be',
    'c0',
    'ff00',
    'ffffffffff7f',
    '40017801 79'.replace(' ', ''),
    '4001780179be',
    '00017801ff',
    '000178817f',
    '00017881ff',
    '00017883ffffff',
    '000178847fffffff',
    '10017801',
    '0f8001',
    '7f8001',
    '82868441',
  )
  .map((hex) => Buffer.from(hex, 'hex'))

const block: Bytes = fc.oneof(
  { weight: 10, arbitrary: fieldList.map((fields) => encodeFields(fields)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fieldList, oddHpack, fc.boolean())
      .map(([fields, odd, isFirst]) =>
        Buffer.concat(isFirst ? [odd, encodeFields(fields)] : [encodeFields(fields), odd]),
      ),
  },
  { weight: 1, arbitrary: bytesOf(20) },
)

interface Padding {
  readonly isPadded: boolean
  /** The length that is announced. */
  readonly said: number
  readonly real: number
}

const padding: fc.Arbitrary<Padding> = fc
  .record({ isPadded: chance(15), real: fc.nat(5), more: fc.oneof(fc.constant(0), fc.constantFrom(1, 100, 250)) })
  .map(({ isPadded, real, more }) => ({ isPadded, real, said: real + more }))

const padded = (bytes: Buffer, { isPadded, said, real }: Padding): Buffer =>
  isPadded ? Buffer.concat([Buffer.of(said), bytes, Buffer.alloc(real)]) : bytes

const headers: Bytes = fc
  .record({
    id: requestId,
    block,
    padding,
    isEnd: chance(40),
    priority: fc.oneof(
      { weight: 8, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.tuple(streamId, fc.nat(255)) },
    ),
    cuts: fc.oneof(
      { weight: 8, arbitrary: fc.constant<number[]>([]) },
      { weight: 2, arbitrary: fc.array(fc.nat(60), { minLength: 1, maxLength: 3 }) },
    ),
    isClosed: chance(95),
  })
  .map(({ id, block: whole, padding: pad, isEnd, priority, cuts, isClosed }) => {
    const ends = [...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length]
    const pieces = ends.map((end, at) => whole.subarray(ends[at - 1] ?? 0, end))
    const front =
      priority === undefined ? Buffer.alloc(0) : Buffer.concat([uint32(priority[0]), Buffer.of(priority[1])])
    const flags =
      (isEnd ? Flag.END_STREAM : 0) | (pad.isPadded ? Flag.PADDED : 0) | (priority === undefined ? 0 : Flag.PRIORITY)
    return Buffer.concat(
      pieces.map((piece, at) => {
        const last = at === pieces.length - 1 && isClosed ? Flag.END_HEADERS : 0
        if (at > 0) return frame(FrameType.CONTINUATION, last, id, piece)
        return frame(FrameType.HEADERS, flags | last, id, padded(Buffer.concat([front, piece]), pad))
      }),
    )
  })

const data: Bytes = fc
  .record({
    id: streamId,
    size: fc.oneof(fc.nat(10), fc.constantFrom(400, 999, 1000, 1001)),
    padding,
    isEnd: chance(30),
  })
  .map(({ id, size, padding: pad, isEnd }) =>
    frame(
      FrameType.DATA,
      (isEnd ? Flag.END_STREAM : 0) | (pad.isPadded ? Flag.PADDED : 0),
      id,
      padded(Buffer.alloc(size), pad),
    ),
  )

/** What has a fixed length has it mostly. */
const fixed = (size: number): Bytes =>
  fc.oneof(
    { weight: 12, arbitrary: fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: bytesOf(size + 4) },
  )

const number32 = fc.oneof(
  fc.constantFrom(0, 1, 100, 65535, 0x7fff0000, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff),
  fc.nat(1000),
)

const zeroMostly = fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: streamId })

const settings: Bytes = fc
  .record({
    entries: fc.array(fc.tuple(fc.oneof(fc.constantFrom(1, 2, 3, 4, 5, 6, 8, 9), fc.nat(0xffff)), number32), {
      maxLength: 3,
    }),
    isAck: chance(15),
    more: fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5) }),
    id: zeroMostly,
  })
  .map(({ entries, isAck, more, id }) => {
    const payload = entries.map(([key, value]) => Buffer.concat([Buffer.of(key >> 8, key & 0xff), uint32(value)]))
    const whole = isAck && entries.length < 3 ? [] : payload
    return frame(FrameType.SETTINGS, isAck ? Flag.ACK : 0, id, Buffer.concat([...whole, Buffer.alloc(more)]))
  })

const windowUpdate: Bytes = fc
  .tuple(fc.oneof(fc.constant(0), streamId), number32, fc.nat(19))
  .map(([id, by, odd]) => frame(FrameType.WINDOW_UPDATE, 0, id, odd === 0 ? uint32(by).subarray(1) : uint32(by)))

const others: readonly Bytes[] = [
  fc.tuple(streamId, fixed(4)).map(([id, payload]) => frame(FrameType.RST_STREAM, 0, id, payload)),
  fc
    .tuple(zeroMostly, fixed(8), chance(20))
    .map(([id, payload, isAck]) => frame(FrameType.PING, isAck ? 1 : 0, id, payload)),
  fc
    .tuple(streamId, streamId, fc.nat(255), fc.nat(9))
    .map(([id, on, weight, odd]) =>
      frame(FrameType.PRIORITY, 0, id, Buffer.concat([uint32(on), Buffer.alloc(odd === 0 ? 2 : 1, weight)])),
    ),
  fc
    .tuple(zeroMostly, number32, fc.constantFrom(0, 1, 8, 99), bytesOf(6), fc.nat(9))
    .map(([id, last, code, more, odd]) => {
      const payload = Buffer.concat([uint32(last), uint32(code), more])
      return frame(FrameType.GOAWAY, 0, id, odd === 0 ? payload.subarray(0, 7) : payload)
    }),
  fc
    .tuple(streamId, block)
    .map(([id, bytes]) => frame(FrameType.PUSH_PROMISE, 4, id, Buffer.concat([uint32(2), bytes]))),
  fc
    .tuple(streamId, block, fc.boolean())
    .map(([id, bytes, isEnd]) => frame(FrameType.CONTINUATION, isEnd ? 4 : 0, id, bytes)),
  fc.tuple(fc.integer({ min: 10, max: 255 }), fc.nat(255), streamId, bytesOf(20)).map((parts) => frame(...parts)),
]

const anyFrame: Bytes = fc.oneof(
  { weight: 10, arbitrary: headers },
  { weight: 8, arbitrary: data },
  { weight: 3, arbitrary: settings },
  { weight: 3, arbitrary: windowUpdate },
  ...others.map((arbitrary) => ({ weight: 1, arbitrary })),
)

/** A wrong byte in the head of a frame, whose length is right in most. */
const bent: Bytes = fc.tuple(anyFrame, fc.nat(8), fc.nat(7), fc.nat(29)).map(([bytes, at, bit, odd]) => {
  const changed = Buffer.from(bytes)
  if (odd === 0) changed[at] = (changed[at] as number) ^ (1 << bit)
  return changed
})

const greeting: Bytes = fc.oneof(
  { weight: 30, arbitrary: fc.constant(Buffer.concat([SETTINGS, SETTINGS_ACK])) },
  { weight: 1, arbitrary: fc.constant(SETTINGS) },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
)

/** What clients send after the preface: mostly right, so that what is wrong meets streams that are open. */
export const sessions: Bytes = fc
  .tuple(greeting, fc.array(bent, { minLength: 1, maxLength: 12 }))
  .map(([first, frames]) => Buffer.concat([first, ...frames]))
