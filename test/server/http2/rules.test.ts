import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { type Log, silentLog } from '../../../src/log/log.js'
import type { Service } from '../../../src/rpc/rpc.js'
import { ErrorCode, Flag, FrameType, PREFACE } from '../../../src/server/http2/frame/frame.js'
import { HeaderDecoder } from '../../../src/server/http2/hpack/decoder.js'
import { encodeFields } from '../../../src/server/http2/hpack/encoder.js'
import { listen } from '../../../src/server/listener.js'
import type { TransportLimits } from '../../../src/server/transport/transport.js'
import { frame, message, RawClient, requestBlock, SETTINGS, SETTINGS_ACK, uint32 } from './raw-client.js'

// Cases found by the comparison with nghttp2 (test/fuzz/transport).

/** A ReadResponse of 12 bytes behind its prefix. */
const MESSAGE_BYTES = 5 + 2 + 12

const bytesIn = ({ heard }: RawClient): number =>
  heard.reduce((sum, { type, payload }) => sum + (type === FrameType.DATA ? payload.length : 0), 0)

const serving = async (t: Test, limits: Partial<TransportLimits> = {}, services: Service[] = []): Promise<number> => {
  const listener = await listen({ address: '127.0.0.1:0', services, limits })
  t.teardown(() => listener.close(0))
  return Number(listener.address.split(':').at(-1))
}

const greeted = async (t: Test): Promise<RawClient> => {
  const client = await RawClient.greeted(await serving(t))
  t.teardown(() => client.destroy())
  return client
}

const METHOD: [string, string] = [':method', 'POST']
const SCHEME: [string, string] = [':scheme', 'http']
const AUTHORITY: [string, string] = [':authority', 'localhost']

for (const [title, fields] of [
  ['CONNECT with a path', [[':method', 'CONNECT'], AUTHORITY, [':path', '/']]],
  ['CONNECT with a scheme', [[':method', 'CONNECT'], AUTHORITY, SCHEME]],
  ['CONNECT to nowhere', [[':method', 'CONNECT']]],
  ['a path that is not absolute', [METHOD, SCHEME, AUTHORITY, [':path', 'a/b']]],
  ['a whole URL for a path', [METHOD, SCHEME, AUTHORITY, [':path', 'http://localhost/a']]],
  ['POST of an asterisk', [METHOD, SCHEME, AUTHORITY, [':path', '*']]],
] as const) {
  t.test(`a request is malformed: ${title}`, async (t) => {
    const client = await greeted(t)
    const block = encodeFields(fields.map(([name, value]) => [name, value]))
    client.write(frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1, block))
    const answer = await client.until(({ streamId }) => streamId === 1)
    t.match(answer, { type: FrameType.RST_STREAM, payload: Buffer.of(0, 0, 0, ErrorCode.PROTOCOL_ERROR) })
  })
}

t.test('OPTIONS of an asterisk is a request', async (t) => {
  const client = await greeted(t)
  const block = encodeFields([[':method', 'OPTIONS'], SCHEME, AUTHORITY, [':path', '*']])
  client.write(frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1, block))
  t.match(await client.until(({ streamId }) => streamId === 1), { type: FrameType.HEADERS })
})

t.test('GOAWAY that ends within its fields is a FRAME_SIZE_ERROR', async (t) => {
  const client = await greeted(t)
  client.write(frame(FrameType.GOAWAY, 0, 0, Buffer.alloc(7)))
  t.equal(await client.goAwayCode(), ErrorCode.FRAME_SIZE_ERROR)
})

t.test('HEADERS with more padding than payload are a PROTOCOL_ERROR, also with a priority', async (t) => {
  const client = await greeted(t)
  const payload = Buffer.concat([Buffer.of(200), Buffer.alloc(5), requestBlock('/a/b')])
  const flags = Flag.END_HEADERS | Flag.PADDED | Flag.PRIORITY
  client.write(frame(FrameType.HEADERS, flags, 1, payload))
  t.equal(await client.goAwayCode(), ErrorCode.PROTOCOL_ERROR)
})

t.test('with the smallest connection window no WINDOW_UPDATE of 0 ends every client', async (t) => {
  const port = await serving(t, { connectionWindowBytes: 65_535 })
  const client = await RawClient.greeted(port)
  t.teardown(() => client.destroy())
  client.write(frame(FrameType.PING, 0, 0, Buffer.alloc(8)))
  await client.until(({ type }) => type === FrameType.PING)
  t.notOk(client.heard.some(({ type }) => type === FrameType.WINDOW_UPDATE))
})

t.test('a client that does not know a small window yet may send what the protocol allows', async (t) => {
  const name = 'google.bytestream.ByteStream'
  const readsNothing: Service = { name, clientStreaming: { Write: () => new Promise(() => {}) } }
  const port = await serving(t, { streamWindowBytes: 16_384 }, [readsNothing])
  const request = frame(FrameType.HEADERS, Flag.END_HEADERS, 1, requestBlock(`/${name}/Write`))
  const data = frame(FrameType.DATA, 0, 1, Buffer.alloc(16_000))
  const client = await RawClient.open(port, PREFACE, SETTINGS, request, data, data, data, data)
  t.teardown(() => client.destroy())
  client.write(frame(FrameType.PING, 0, 0, Buffer.alloc(8)))
  await client.until(({ type }) => type === FrameType.PING)
  t.notOk(client.heard.some(({ type }) => type === FrameType.RST_STREAM))
})

t.test('once a client knows a small window, streams that it opened before have that window too', async (t) => {
  const name = 'google.bytestream.ByteStream'
  const readsNothing: Service = { name, clientStreaming: { Write: () => new Promise(() => {}) } }
  const port = await serving(t, { streamWindowBytes: 16_384 }, [readsNothing])
  const request = frame(FrameType.HEADERS, Flag.END_HEADERS, 1, requestBlock(`/${name}/Write`))
  const data = frame(FrameType.DATA, 0, 1, Buffer.alloc(16_000))
  const client = await RawClient.open(port, PREFACE, SETTINGS, request, SETTINGS_ACK, data)
  t.teardown(() => client.destroy())
  client.write(frame(FrameType.PING, 0, 0, Buffer.alloc(8)))
  await client.until(({ type }) => type === FrameType.PING)
  t.notOk(client.heard.some(({ type }) => type === FrameType.RST_STREAM))
  client.write(data)
  const reset = await client.until(({ type }) => type === FrameType.RST_STREAM)
  t.equal(reset?.payload.readUInt32BE(0), ErrorCode.FLOW_CONTROL_ERROR)
})

t.test(
  'a body longer than its content-length is refused before it ends, and one that is shorter at its end',
  async (t) => {
    const name = 'google.bytestream.ByteStream'
    const readsNothing: Service = { name, clientStreaming: { Write: () => new Promise(() => {}) } }
    const port = await serving(t, {}, [readsNothing])
    const block = requestBlock(`/${name}/Write`, [['content-length', '10']])
    for (const [flags, sizes] of [
      [0, [5, 6]],
      [Flag.END_STREAM, [5, 4]],
    ] as const) {
      const client = await RawClient.greeted(port)
      t.teardown(() => client.destroy())
      client.write(frame(FrameType.HEADERS, Flag.END_HEADERS, 1, block))
      for (const [at, size] of sizes.entries())
        client.write(frame(FrameType.DATA, at === 1 ? flags : 0, 1, Buffer.alloc(size)))
      const answer = await client.until(({ type, streamId }) => type === FrameType.RST_STREAM && streamId === 1)
      t.equal(answer?.payload.readUInt32BE(0), ErrorCode.PROTOCOL_ERROR)
    }
  },
)

t.test('streams beyond the limit count as resets: a client that goes on with them is closed', async (t) => {
  const name = 'google.bytestream.ByteStream'
  const readsNothing: Service = { name, clientStreaming: { Write: () => new Promise(() => {}) } }
  const limits = { maxConcurrentStreams: 1, resets: { burst: 10, perSecond: 0.001 } }
  const port = await serving(t, limits as Partial<TransportLimits>, [readsNothing])
  const client = await RawClient.greeted(port)
  t.teardown(() => client.destroy())
  for (let id = 1; id < 61; id += 2)
    client.write(frame(FrameType.HEADERS, Flag.END_HEADERS, id, requestBlock(`/${name}/Write`)))
  t.equal(await client.goAwayCode(), ErrorCode.ENHANCE_YOUR_CALM)
})

t.test(
  'a client that updates both windows for each of many small messages is served, and one that goes on is closed',
  async (t) => {
    const COUNT = 30_000
    const name = 'google.bytestream.ByteStream'
    const read: Service = {
      name,
      serverStreaming: {
        Read: async (_, __, responses) => {
          for (let sent = 0; sent < COUNT; sent++) {
            if (responses.write({ data: Buffer.from('acknowledged') }) || responses.destroyed) continue
            await new Promise((resolve) => responses.once('drain', resolve).once('close', resolve))
          }
        },
      },
    }
    // Time stands still, so nothing is allowed by time.
    const clock = new ManualClock()
    const listener = await listen({ address: '127.0.0.1:0', services: [read], clock })
    t.teardown(() => listener.close(0))
    const client = await RawClient.greeted(Number(listener.address.split(':').at(-1)))
    t.teardown(() => client.destroy())
    const window = Buffer.concat([Buffer.from([0, 4]), uint32(2 ** 24)])
    client.write(
      frame(FrameType.SETTINGS, 0, 0, window),
      frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(2 ** 24)),
      frame(FrameType.HEADERS, Flag.END_HEADERS, 1, requestBlock(`/${name}/Read`)),
      frame(FrameType.DATA, Flag.END_STREAM, 1, message()),
    )
    // As the C core of gRPC does it: after each message that was read, for the stream and for the connection. Thousands of
    // messages leave in one frame, and are read before the first update leaves.
    await client.until(({ fields, type }) => fields['grpc-status'] !== undefined || type === FrameType.GOAWAY)
    const update = Buffer.concat([
      frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(MESSAGE_BYTES)),
      frame(FrameType.WINDOW_UPDATE, 0, 1, uint32(MESSAGE_BYTES)),
    ])
    await client.sent(Buffer.concat(Array(COUNT).fill(update)))
    const ping = frame(FrameType.PING, 0, 0, Buffer.from('12345678'))
    client.write(ping)
    const heard = await client.until(({ type }) => type === FrameType.PING || type === FrameType.GOAWAY)
    t.equal(heard?.type, FrameType.PING, 'the client is not cut off')
    t.ok(client.heard.some(({ fields }) => fields['grpc-status'] === '0'))
    t.equal(bytesIn(client), COUNT * MESSAGE_BYTES)
    const flood = Buffer.concat(Array(1000).fill(frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(1))))
    for (let round = 0; round < 200 && !client.isClosed; round++) await client.sent(flood)
    t.equal(await client.goAwayCode(), ErrorCode.ENHANCE_YOUR_CALM)
  },
)

// An error that nobody catches ends the process. tap reports it as a failure of the test.
for (const [what, method] of [
  ['a POST that is not gRPC', 'POST'],
  ['a GET', 'GET'],
] as const)
  t.test(`a client that gives up ${what} before it is answered does not end the process`, async (t) => {
    const client = await greeted(t)
    const block = encodeFields([[':method', method], SCHEME, AUTHORITY, [':path', '/nowhere']])
    const ask = (streamId: number): Buffer =>
      frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, streamId, block)
    const giveUp = (streamId: number): Buffer =>
      frame(FrameType.RST_STREAM, 0, streamId, Buffer.of(0, 0, 0, ErrorCode.CANCEL))
    client.write(Buffer.concat([ask(1), giveUp(1), ask(3), giveUp(3), ask(5)]))
    t.match(await client.until(({ streamId }) => streamId === 5), { type: FrameType.HEADERS })
  })

for (const [title, fields, expected] of [
  [
    'a bearer token that is empty, by gRPC',
    [
      ['content-type', 'application/grpc'],
      ['authorization', 'Bearer '],
    ],
    [
      ['grpc-status', '16'],
      ['grpc-message', /^the bearer token is empty/],
    ],
  ],
  ['a bearer token that is empty, by HTTP', [['authorization', 'Bearer ']], [[':status', '401']]],
  [
    'another value with a blank at its end, by gRPC',
    [
      ['content-type', 'application/grpc'],
      ['x-build', 'one '],
    ],
    [
      ['grpc-status', '3'],
      ['grpc-message', /^the value of x-build begins or ends with a blank/],
    ],
  ],
  ['another value with a blank before it, by HTTP', [['x-build', ' one']], [[':status', '400']]],
] as const) {
  t.test(`a client is told what is wrong, and the log names it once a minute: ${title}`, async (t) => {
    const warned: [string, object | undefined][] = []
    const log: Log = { ...silentLog, warn: (message, about) => warned.push([message, about as object]) }
    const listener = await listen({ address: '127.0.0.1:0', services: [], log })
    t.teardown(() => listener.close(0))
    const client = await RawClient.greeted(Number(listener.address.split(':').at(-1)))
    t.teardown(() => client.destroy())
    const block = encodeFields([
      METHOD,
      SCHEME,
      AUTHORITY,
      [':path', '/'],
      ...fields.map(([name, value]) => [name, value] as [string, string]),
    ])
    for (const streamId of [1, 3]) {
      client.write(frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, streamId, block))
      const answer = await client.until((one) => one.streamId === streamId)
      t.equal(answer?.type, FrameType.HEADERS)
      const { lines } = new HeaderDecoder(65_536).decode(answer?.payload ?? Buffer.alloc(0))
      for (const [name, value] of expected) t.match(lines[lines.indexOf(name) + 1], value, name)
    }
    t.match(warned, [['a malformed request was refused', { peer: /^127\.0\.0\.1:\d+$/, reason: String }]])
  })
}
