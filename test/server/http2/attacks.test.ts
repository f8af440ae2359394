import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { type KindName, UPLOAD_BYTES } from '../../../src/ledger/kinds.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import type { Service } from '../../../src/rpc/rpc.js'
import { ErrorCode, FrameType, PREFACE } from '../../../src/server/http2/frame/frame.js'
import { encodeFields } from '../../../src/server/http2/hpack/encoder.js'
import { listen } from '../../../src/server/listener.js'
import type { TransportLimits } from '../../../src/server/transport/transport.js'
import { heldBytes } from '../../held-memory.js'
import { until } from '../../until.js'
import { TestClient } from '../client.js'
import { frame, message, RawClient, requestBlock, SETTINGS, SETTINGS_ACK, uint32 } from './raw-client.js'

const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
const GET = `${CAPABILITIES}/GetCapabilities`
const BYTES = 'google.bytestream.ByteStream'
const MIB = 1 << 20
const LARGE_ANSWER = Buffer.alloc(MIB, 7)

/** A server with a small call, one that answers 1 MiB, one that never ends, and one that takes uploads. */
const attacked = async (
  t: Test,
  limits: Partial<TransportLimits> = {},
  bounds: Partial<Record<KindName, number>> = {},
) => {
  const clock = new ManualClock()
  const begun = { answers: 0, reads: 0, hanging: 0 }
  const services: Service[] = [
    { name: CAPABILITIES, unary: { GetCapabilities: async () => ({}) } },
    {
      name: BYTES,
      unary: {
        QueryWriteStatus: () => {
          begun.hanging += 1
          return new Promise(() => {})
        },
      },
      serverStreaming: {
        Read: async (_, __, responses) => {
          begun.reads += 1
          for (let sent = 0; sent < 64; sent++) {
            if (!responses.write({ data: LARGE_ANSWER.subarray(0, 65_536) }) && !responses.destroyed) {
              await new Promise((resolve) => responses.once('drain', resolve).once('close', resolve))
            }
          }
        },
      },
      clientStreaming: {
        Write: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
      },
    },
    {
      name: 'build.bazel.remote.execution.v2.ContentAddressableStorage',
      unaryBytes: {
        BatchReadBlobs: async () => {
          begun.answers += 1
          return LARGE_ANSWER
        },
      },
    },
  ]
  const ledger = new Ledger(bounds)
  const listener = await listen({ address: '127.0.0.1:0', services, clock, limits, ledger })
  const victim = new TestClient(listener.address)
  t.teardown(async () => {
    victim.close()
    await listener.close(0)
  })
  const port = Number(listener.address.split(':').at(-1))
  await victim.unary(GET, {}).response
  const beforeBytes = heldBytes()
  /** Checks that another client is served, and that both ends hold at most this much more. */
  const unharmed = async (grownMib: number): Promise<void> => {
    t.ok(await victim.unary(GET, {}).response, 'another client is served')
    const grownBytes = heldBytes() - beforeBytes
    t.ok(grownBytes < grownMib * MIB, `${Math.round(grownBytes / MIB)} MiB more, for both ends`)
  }
  const held = (kind: KindName): number => ledger.kinds[kind].heldBytes
  return { port, clock, begun, unharmed, victim, held }
}

/** Sends the same bytes repeatedly until the server ends the connection or `count` is reached. */
const flood = async (
  client: RawClient,
  bytes: Buffer | ((round: number) => Buffer),
  rounds: number,
): Promise<number> => {
  let sent = 0
  for (; sent < rounds && !client.isClosed; sent++) await client.sent(typeof bytes === 'function' ? bytes(sent) : bytes)
  return sent
}

const calm = ErrorCode.ENHANCE_YOUR_CALM
const many = (bytes: Buffer, count: number): Buffer => Buffer.concat(Array(count).fill(bytes))

const floods: readonly (readonly [name: string, frames: Buffer])[] = [
  ['PING', many(frame(FrameType.PING, 0, 0, Buffer.alloc(8)), 1000)],
  ['SETTINGS', many(SETTINGS, 1000)],
  [
    'SETTINGS that change every window',
    many(frame(FrameType.SETTINGS, 0, 0, Buffer.from('000400001000', 'hex')), 1000),
  ],
  ['PRIORITY', many(frame(FrameType.PRIORITY, 0, 1, Buffer.from('0000000310', 'hex')), 1000)],
  ['WINDOW_UPDATE', many(frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(1)), 1000)],
  ['unknown frames', many(frame(77, 0, 0), 1000)],
  ['SETTINGS that acknowledge nothing', many(SETTINGS_ACK, 1000)],
]

for (const [name, frames] of floods) {
  t.test(`a flood of ${name} ends its connection and does not affect others`, async (t) => {
    const { port, unharmed } = await attacked(t)
    const attacker = await RawClient.greeted(port)
    await flood(attacker, frames, 100)
    t.equal(await attacker.goAwayCode(), calm)
    await unharmed(12)
    attacker.destroy()
  })
}

t.test('a flood of empty DATA frames ends its connection', async (t) => {
  const { port, unharmed } = await attacked(t)
  const attacker = await RawClient.greeted(port)
  attacker.write(frame(FrameType.HEADERS, 4, 1, requestBlock(`/${BYTES}/Write`)))
  await flood(attacker, many(frame(FrameType.DATA, 0, 1), 1000), 100)
  t.equal(await attacker.goAwayCode(), calm)
  await unharmed(12)
})

t.test('pings whose answers are not read hold at most the bound of the output', async (t) => {
  const { port, unharmed } = await attacked(t, { idleFrames: { burst: 1e9, perSecond: 1e9 } })
  const attacker = await RawClient.greeted(port)
  attacker.socket.pause()
  const pings = many(frame(FrameType.PING, 0, 0, Buffer.alloc(8)), 4000)
  let taken = 0
  for (let round = 0; round < 1000; round++) attacker.socket.write(pings, () => void taken++)
  for (let quiet = 0, before = -1; quiet < 50; quiet = taken === before ? quiet + 1 : 0) {
    before = taken
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.ok(taken < 500, `${taken} of a thousand lots of 68 kB were taken`)
  await unharmed(12)
  attacker.destroy()
})

t.test(
  'rapid reset: streams reset immediately end their connection, and the number of handlers stays within the limit of streams',
  async (t) => {
    const { port, begun, unharmed } = await attacked(t, { maxConcurrentStreams: 100 })
    const attacker = await RawClient.greeted(port)
    const block = requestBlock(`/${BYTES}/QueryWriteStatus`)
    const cancel = uint32(ErrorCode.CANCEL)
    const lot = (round: number): Buffer =>
      Buffer.concat(
        Array.from({ length: 100 }, (_, at) => {
          const id = 2 * (100 * round + at) + 1
          return Buffer.concat([
            frame(FrameType.HEADERS, 4, id, block),
            frame(FrameType.DATA, 1, id, message()),
            frame(FrameType.RST_STREAM, 0, id, cancel),
          ])
        }),
      )
    await flood(attacker, lot, 1000)
    t.equal(await attacker.goAwayCode(), calm)
    t.ok(begun.hanging <= 100, `${begun.hanging} handlers`)
    await unharmed(12)
  },
)

t.test('endless CONTINUATION frames are bounded by size, and by number if they are empty', async (t) => {
  const { port, unharmed } = await attacked(t)
  for (const fragment of [Buffer.alloc(16_000), Buffer.alloc(0)]) {
    const attacker = await RawClient.greeted(port)
    attacker.write(frame(FrameType.HEADERS, 0, 1, requestBlock(`/${GET}`)))
    await flood(attacker, frame(FrameType.CONTINUATION, 0, 1, fragment), 1000)
    t.equal(await attacker.goAwayCode(), calm)
  }
  await unharmed(12)
})

t.test('an HPACK bomb is refused with 431, and the connection continues', async (t) => {
  const { port, unharmed } = await attacked(t)
  const attacker = await RawClient.greeted(port)
  const literal = encodeFields([['x-bomb', 'x'.repeat(3900)]])
  literal[0] = 0x40
  const bomb = Buffer.concat([requestBlock(`/${GET}`), literal, Buffer.alloc(12_000, 0xbe)])
  for (let round = 0; round < 100; round++) {
    const block = round === 0 ? bomb : Buffer.concat([requestBlock(`/${GET}`), Buffer.alloc(12_000, 0xbe)])
    await attacker.sent(frame(FrameType.HEADERS, 5, 2 * round + 1, block))
  }
  const last = await attacker.until(({ type, streamId }) => type === FrameType.HEADERS && streamId === 199)
  t.equal(last?.fields[':status'], '431')
  await unharmed(12)
  attacker.destroy()
})

t.test('slow greetings: no preface, half a preface, no settings, no acknowledgement', async (t) => {
  const { port, clock, unharmed } = await attacked(t)
  const slow = await Promise.all([
    RawClient.open(port, Buffer.alloc(0)),
    RawClient.open(port, PREFACE.subarray(0, 10)),
    RawClient.open(port, PREFACE),
    RawClient.open(port, PREFACE, SETTINGS),
  ])
  await slow[3]?.until(({ type }) => type === FrameType.SETTINGS)
  // Two sweeps, because a connection that was told to go away is freed by the next sweep.
  clock.advance(9_000)
  t.notOk(slow.some(({ isClosed }) => isClosed))
  clock.advance(4_000)
  await Promise.all(slow.map((client) => client.closed()))
  await unharmed(12)
})

t.test('a header block that never ends closes the connection', async (t) => {
  const { port, clock, unharmed } = await attacked(t)
  const attacker = await RawClient.greeted(port)
  attacker.write(frame(FrameType.HEADERS, 0, 1, requestBlock(`/${GET}`)))
  attacker.write(frame(FrameType.PING, 0, 0, Buffer.alloc(8)).subarray(0, 3))
  await attacker.until(({ type }) => type === FrameType.SETTINGS)
  for (let second = 0; second < 14; second++) {
    clock.advance(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await attacker.closed()
  await unharmed(12)
})

t.test(
  'zero window: the answers for one client are bounded by its backlog, and all arrive once it reads',
  async (t) => {
    const { port, begun, unharmed } = await attacked(t, { maxBacklogBytes: 2 * MIB })
    const noWindow = frame(FrameType.SETTINGS, 0, 0, Buffer.from('000400000000', 'hex'))
    const attacker = await RawClient.greeted(port, noWindow)
    const block = requestBlock('/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs')
    const asked = 100
    const requests = Array.from({ length: asked }, (_, count) => {
      const id = 2 * count + 1
      return Buffer.concat([frame(FrameType.HEADERS, 4, id, block), frame(FrameType.DATA, 1, id, message())])
    })
    await attacker.sent(Buffer.concat(requests))
    await attacker.until(({ type, streamId }) => type === FrameType.HEADERS && streamId === 1)
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    t.ok(begun.answers >= 2 && begun.answers < 40, `${begun.answers} answers were made`)
    await unharmed(12)
    const windows = requests.map((_, count) => frame(FrameType.WINDOW_UPDATE, 0, 2 * count + 1, uint32(2 ** 22)))
    attacker.write(frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)), ...windows)
    const answered = (): number => attacker.heard.filter(({ fields }) => fields['grpc-status'] === '0').length
    await until(
      () => answered() === asked || attacker.isClosed,
      () => `${answered()} answers`,
    )
    t.equal(begun.answers, asked)
    attacker.destroy()
  },
)

t.test('clients that do not read hold little memory each, and are disconnected after some time', async (t) => {
  const { port, begun, clock, unharmed } = await attacked(t)
  const attacker = await RawClient.greeted(port)
  const block = requestBlock(`/${BYTES}/Read`)
  for (let count = 0; count < 200; count++) {
    const id = 2 * count + 1
    await attacker.sent(
      Buffer.concat([frame(FrameType.HEADERS, 4, id, block), frame(FrameType.DATA, 1, id, message())]),
    )
  }
  await until(() => begun.reads >= 200)
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  await unharmed(50)
  for (let second = 0; second < 130; second++) {
    clock.advance(1000)
    if (second % 10 === 0) attacker.write(frame(FrameType.PING, 1, 0, Buffer.alloc(8)))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await attacker.closed()
  await unharmed(50)
})

t.test(
  'slow bodies: no memory is held for bytes that have not arrived, and a large message does not wait for a window',
  async (t) => {
    const { port, unharmed } = await attacked(t)
    const attacker = await RawClient.greeted(port)
    const block = requestBlock(`/${GET}`)
    const sixteen = message(Buffer.alloc(0))
    sixteen.writeUInt32BE(16 * MIB, 1)
    for (let count = 0; count < 1000; count++) {
      const id = 2 * count + 1
      await attacker.sent(
        Buffer.concat([frame(FrameType.HEADERS, 4, id, block), frame(FrameType.DATA, 0, id, sixteen)]),
      )
    }
    await unharmed(12)
    attacker.destroy()
  },
)

t.test('requests beyond the memory bound of the process are refused, and others continue', async (t) => {
  const { port, unharmed } = await attacked(t, {}, { requests: 4 * MIB })
  const attacker = await RawClient.greeted(port)
  const block = requestBlock(`/${GET}`)
  const head = message(Buffer.alloc(0))
  head.writeUInt32BE(8 * MIB, 1)
  for (let count = 0; count < 40; count++) {
    const id = 2 * count + 1
    await attacker.sent(frame(FrameType.HEADERS, 4, id, block))
    for (const bytes of [head, ...Array(14).fill(Buffer.alloc(16_000))]) {
      await attacker.sent(frame(FrameType.DATA, 0, id, bytes))
    }
  }
  const refused = await attacker.until(({ fields }) => fields['grpc-status'] === '8')
  t.match(refused?.fields, { 'grpc-message': /no memory left for requests/ })
  await unharmed(12)
  attacker.destroy()
})

t.test('uploads beyond the limit are RESOURCE_EXHAUSTED, and accepted again once others have ended', async (t) => {
  const { port, unharmed } = await attacked(t, {}, { uploads: 20 * UPLOAD_BYTES })
  const attacker = await RawClient.greeted(port)
  const block = requestBlock(`/${BYTES}/Write`)
  for (let count = 0; count < 11; count++) attacker.write(frame(FrameType.HEADERS, 4, 2 * count + 1, block))
  const refused = await attacker.until(({ fields }) => fields['grpc-status'] === '8')
  t.equal(refused?.streamId, 21)
  attacker.write(frame(FrameType.RST_STREAM, 0, 1, uint32(ErrorCode.CANCEL)))
  await attacker.sent(frame(FrameType.PING, 0, 0, Buffer.alloc(8)))
  await attacker.until(({ type }) => type === FrameType.PING)
  await new Promise((resolve) => setImmediate(resolve))
  attacker.write(frame(FrameType.HEADERS, 4, 23, block), frame(FrameType.PING, 0, 0, Buffer.alloc(8, 1)))
  await attacker.until(({ type, payload }) => type === FrameType.PING && payload[0] === 1)
  t.notOk(attacker.heard.some(({ streamId }) => streamId === 23))
  await unharmed(12)
  attacker.destroy()
})

t.test('incomplete requests end after their timeout, and complete ones continue', async (t) => {
  const { port, clock, begun, unharmed } = await attacked(t, { requestMs: 30_000 })
  const attacker = await RawClient.greeted(port)
  const head = message()
  head.writeUInt32BE(1000, 1)
  const incomplete = [
    [frame(FrameType.HEADERS, 4, 1, requestBlock(`/${GET}`))],
    [frame(FrameType.HEADERS, 4, 3, requestBlock(`/${GET}`)), frame(FrameType.DATA, 0, 3, head)],
    [frame(FrameType.HEADERS, 4, 5, requestBlock(`/${GET}`)), frame(FrameType.DATA, 0, 5, message())],
  ]
  const hanging = [
    frame(FrameType.HEADERS, 4, 7, requestBlock(`/${BYTES}/QueryWriteStatus`)),
    frame(FrameType.DATA, 1, 7, message()),
  ]
  attacker.write(...incomplete.flat(), ...hanging, frame(FrameType.PING, 0, 0, Buffer.alloc(8, 1)))
  await attacker.until(({ type, payload }) => type === FrameType.PING && payload[0] === 1)
  clock.advance(29_000)
  t.notOk(attacker.heard.some(({ type }) => type === FrameType.HEADERS))
  clock.advance(3_000)
  for (const id of [1, 3, 5]) {
    const ended = await attacker.until(({ streamId, fields }) => streamId === id && 'grpc-status' in fields)
    t.match(ended?.fields, { 'grpc-status': '4', 'grpc-message': /not complete within 30 s/ })
  }
  t.equal(begun.hanging, 1)
  t.notOk(
    attacker.heard.some(({ streamId }) => streamId === 7),
    'a request that is complete',
  )
  await unharmed(12)
  attacker.destroy()
})

t.test(
  'compressed messages wait for room before they are decompressed, also for methods without authentication',
  async (t) => {
    const { port, unharmed, held } = await attacked(t, {}, { unpacked: 32 * MIB })
    const attacker = await RawClient.greeted(port)
    const packed = message(gzipSync(Buffer.alloc(15 * MIB)))
    packed[0] = 1
    const block = requestBlock(`/${GET}`, [['grpc-encoding', 'gzip']])
    for (let id = 1; id < 400; id += 2)
      attacker.write(frame(FrameType.HEADERS, 4, id, block), frame(FrameType.DATA, 0, id, packed))
    let most = 0
    await until(() => held('unpacked') !== 0)
    for (let round = 0; round < 200; round++) {
      most = Math.max(most, held('unpacked'))
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.ok(most > 0 && most <= 16 * MIB, `a connection has half of the bound: ${most}`)
    await unharmed(50)
    attacker.destroy()
    await until(() => !(held('unpacked') > 0 || held('requests') > 0))
  },
)

t.test('a silent client is pinged, and disconnected without an answer', async (t) => {
  const { port, clock } = await attacked(t)
  const [alive, dead] = [await RawClient.greeted(port), await RawClient.greeted(port)]
  for (const client of [alive, dead])
    await client.until(({ type, flags }) => type === FrameType.SETTINGS && flags === 1)
  clock.advance(62_000)
  for (const client of [alive, dead]) await client.until(({ type }) => type === FrameType.PING)
  await alive.sent(frame(FrameType.PING, 1, 0, alive.heard.find(({ type }) => type === FrameType.PING)?.payload))
  await alive.sent(frame(FrameType.PING, 0, 0, Buffer.alloc(8, 9)))
  await alive.until(({ payload }) => payload[0] === 9)
  clock.advance(22_000)
  await dead.closed()
  t.notOk(alive.isClosed)
  alive.destroy()
})

t.test('idle connections: hundreds of them hold little memory each, and others are served', async (t) => {
  const { port, clock, unharmed } = await attacked(t)
  const idle = await Promise.all(Array.from({ length: 500 }, () => RawClient.greeted(port)))
  const isGreeted = ({ type, flags }: { readonly type: number; readonly flags: number }): boolean =>
    type === FrameType.SETTINGS && flags === 1
  await Promise.all(idle.map((client) => client.until(isGreeted)))
  await unharmed(50)
  // They answer no pings, so they are disconnected.
  clock.advance(62_000)
  await Promise.all(idle.map((client) => client.until(({ type }) => type === FrameType.PING)))
  clock.advance(22_000)
  await Promise.all(idle.map((client) => client.closed()))
  await unharmed(50)
})

t.test('slow senders: requests that arrive byte by byte are answered, and so are others', async (t) => {
  const { port, unharmed } = await attacked(t)
  const slow = await Promise.all(Array.from({ length: 50 }, () => RawClient.greeted(port)))
  const request = Buffer.concat([
    frame(FrameType.HEADERS, 4, 1, requestBlock(`/${GET}`)),
    ...[...message(Buffer.from([0x0a, 4, ...Buffer.from('main')]))].map((byte) =>
      frame(FrameType.DATA, 0, 1, Buffer.from([byte])),
    ),
    frame(FrameType.DATA, 1, 1),
  ])
  for (let at = 0; at < request.length - 1; at++) {
    await Promise.all(slow.map((client) => client.sent(request.subarray(at, at + 1))))
    if (at % 100 === 0) await unharmed(12)
  }
  t.notOk(slow.some(({ isClosed, heard }) => isClosed || heard.some(({ type }) => type === FrameType.HEADERS)))
  for (const client of slow) client.write(request.subarray(-1))
  for (const client of slow) {
    const answered = await client.until(({ fields }) => fields['grpc-status'] !== undefined)
    t.equal(answered?.fields['grpc-status'], '0')
    client.destroy()
  }
  await unharmed(12)
})

t.test('streams beyond the limit are refused, also while handlers of reset streams still run', async (t) => {
  const { port, begun, unharmed } = await attacked(t, { maxConcurrentStreams: 10 })
  const attacker = await RawClient.greeted(port)
  const block = requestBlock(`/${BYTES}/QueryWriteStatus`)
  const begin = (id: number): Buffer =>
    Buffer.concat([frame(FrameType.HEADERS, 4, id, block), frame(FrameType.DATA, 1, id, message())])
  for (let count = 0; count < 30; count++) attacker.write(begin(2 * count + 1))
  const refusal = ({ type, payload }: { readonly type: number; readonly payload: Buffer }): boolean =>
    type === FrameType.RST_STREAM && payload.readUInt32BE() === ErrorCode.REFUSED_STREAM
  await attacker.until((heard) => refusal(heard) && heard.streamId === 59)
  t.same(
    attacker.heard.filter(refusal).map(({ streamId }) => streamId),
    Array.from({ length: 20 }, (_, at) => 2 * (at + 10) + 1),
  )
  t.equal(begun.hanging, 10)
  attacker.write(frame(FrameType.RST_STREAM, 0, 1, uint32(ErrorCode.CANCEL)), begin(61))
  attacker.write(frame(FrameType.PING, 0, 0, Buffer.alloc(8, 1)))
  await attacker.until(({ type, payload }) => type === FrameType.PING && payload[0] === 1)
  t.ok(attacker.heard.some((heard) => refusal(heard) && heard.streamId === 61))
  t.equal(begun.hanging, 10)
  await unharmed(12)
  attacker.destroy()
})

t.test('a message with an announced length above the limit is refused before it arrives', async (t) => {
  const { port, unharmed } = await attacked(t)
  const attacker = await RawClient.greeted(port)
  const head = message()
  head.writeUInt32BE(0xffffffff, 1)
  attacker.write(frame(FrameType.HEADERS, 4, 1, requestBlock(`/${GET}`)), frame(FrameType.DATA, 0, 1, head))
  const refused = await attacker.until(({ fields }) => fields['grpc-status'] !== undefined)
  t.equal(refused?.fields['grpc-status'], '8', 'RESOURCE_EXHAUSTED')
  await unharmed(12)
  attacker.destroy()
})
