import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { ErrorCode, FrameType, PREFACE } from '../../src/server/http2/frame/frame.js'
import { encodeFields } from '../../src/server/http2/hpack/encoder.js'
import { zstdCompress } from '../../src/stream/compression/zstd.js'
import { heldBytes } from '../held-memory.js'
import { RawHttp1, statusesIn } from '../server/http/raw-http1.js'
import { frame, message, RawClient, requestBlock, SETTINGS_ACK, uint32 } from '../server/http2/raw-client.js'
import { until } from '../until.js'
import { Caller, windowOf } from './calls.js'
import { GRPC_DOORS, HTTP_DOORS, type HttpDoor } from './doors.js'
import { serveEverything } from './doors-server.js'

// Every door of the server, by every way in, a few times each: what clients leave open is given back when they go, and another
// client is answered meanwhile. What one door may cost at most is for attacks.ts.

const [ATTACKER, BYSTANDER] = ['127.0.0.2', '127.0.0.3'] as const
const MIB = 1024 * 1024
const CONNECTIONS = 8
const STREAMS = 40
/** Of the whole test process, both ends: what every door together may keep. */
const MOST_KEPT_MIB = 80
/** What of the ledger stays when a client has gone: what may be resumed or asked for later. */
const KEPT = new Set(['parked', 'outcomes'])

/** Bytes of HTTP/1.1, by name. Nothing of it is waited for. */
const waysOfHttp1 = ({ path, method, upload }: HttpDoor): Readonly<Record<string, Buffer>> => {
  const whole = `${method} ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
  const head = (more: string): string => `${upload} ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n\r\n`
  const zstd = zstdCompress(Buffer.alloc(MIB))
  const ways: Record<string, string | Buffer> = {
    'one request': whole,
    'half a head': whole.slice(0, -2),
    'one byte': whole.slice(0, 1),
    'requests sent ahead': whole.repeat(300),
    ...(upload !== undefined && {
      'a body that does not go on': `${head('content-length: 100000')}abc`,
      'a body announced larger than everything': head('content-length: 1099511627776'),
      'chunks without an end': `${head('transfer-encoding: chunked')}3\r\nabc\r\n`,
      'a client that waits to be told': head('expect: 100-continue\r\ncontent-length: 100000'),
      'half of a zstd body': Buffer.concat([
        Buffer.from(head(`content-encoding: zstd\r\ncontent-length: ${zstd.length}`)),
        zstd.subarray(0, zstd.length - 4),
      ]),
    }),
  }
  return Object.fromEntries(Object.entries(ways).map(([name, bytes]) => [name, Buffer.from(bytes)]))
}

const blockOf = (method: string, path: string): Buffer =>
  encodeFields([
    ...([
      [':method', method],
      [':scheme', 'http'],
      [':path', path],
      [':authority', 'x'],
    ] as [string, string][]),
  ])

type Frames = (id: number) => readonly Buffer[]

const waysOfHttp2 = ({ path, method, upload = 'PUT' }: HttpDoor): Readonly<Record<string, Frames>> => ({
  'an answer that nobody reads': (id) => [frame(FrameType.HEADERS, 5, id, blockOf(method, path))],
  'a body that does not go on': (id) => [
    frame(FrameType.HEADERS, 4, id, blockOf(upload, path)),
    frame(FrameType.DATA, 0, id, Buffer.alloc(1000)),
  ],
  'a request that is reset': (id) => [
    frame(FrameType.HEADERS, 4, id, blockOf(upload, path)),
    frame(FrameType.RST_STREAM, 0, id, uint32(ErrorCode.CANCEL)),
  ],
})

const gzip = message(gzipSync(Buffer.alloc(MIB)))
gzip[0] = 1

const waysOfGrpc = (path: string): Readonly<Record<string, Frames>> => {
  const head = (id: number, more: readonly (readonly [string, string])[] = []): Buffer =>
    frame(FrameType.HEADERS, 4, id, requestBlock(path, more))
  return {
    'a request without a message': (id) => [head(id)],
    'half a message': (id) => [head(id), frame(FrameType.DATA, 0, id, message(Buffer.alloc(1000)).subarray(0, 500))],
    'an empty message, answered to nobody': (id) => [head(id), frame(FrameType.DATA, 0, id, message())],
    'a message that unpacks to a thousand times its length': (id) => [
      head(id, [['grpc-encoding', 'gzip']]),
      frame(FrameType.DATA, 1, id, gzip),
    ],
    'a call that is reset': (id) => [
      head(id),
      frame(FrameType.DATA, 0, id, message()),
      frame(FrameType.RST_STREAM, 0, id, uint32(ErrorCode.CANCEL)),
    ],
  }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

type Served = Awaited<ReturnType<typeof serveEverything>>

/** Runs one way in on several connections, while another client is answered, and looks for what is left of it. */
const attackOf = async (t: Test, { ledger, port }: Served) => {
  const small = await Caller.from(BYSTANDER, port)
  const http = await RawHttp1.open(port, '', BYSTANDER)
  t.teardown(() => {
    small.close()
    http.socket.destroy()
  })
  const left = (): string =>
    Object.values(ledger.kinds)
      .flatMap(({ name, heldBytes }) => (heldBytes === 0 || KEPT.has(name) ? [] : [`${name} ${heldBytes}`]))
      .join(', ')
  return async (t: Test, name: string, begin: () => Promise<() => void>): Promise<void> => {
    const end = await begin()
    const { status } = await small.call('build.bazel.remote.execution.v2.Capabilities/GetCapabilities', Buffer.alloc(0))
    http.said = ''
    http.write('GET /status/live HTTP/1.1\r\nhost: x\r\n\r\n')
    await http.answered(1)
    const served = [status, ...statusesIn(http.said)]
    end()
    await until(
      () => left() === '',
      () => `${name}: ${left()} is held`,
    )
    t.same(served, ['0', 200], name)
  }
}

/** Every door of a protocol: a bystander is answered, and nothing is held once the clients have gone. */
export const everyDoor = async (t: Test, protocol: 'HTTP' | 'gRPC', threads = 1): Promise<void> => {
  const served = await serveEverything(t, { threads })
  const { port, routes, methods } = served
  const attack = await attackOf(t, served)
  const overHttp2 = (frames: Frames) => async () => {
    // The windows of the client are closed.
    const client = await RawClient.from(ATTACKER, port, PREFACE, windowOf(0), SETTINGS_ACK)
    client.write(...Array.from({ length: STREAMS }, (_, at) => frames(2 * at + 1)).flat())
    client.write(frame(FrameType.PING, 0, 0, Buffer.alloc(8)))
    await client.until(({ type }) => type === FrameType.PING || type === FrameType.GOAWAY)
    return () => client.destroy()
  }
  const overHttp1 = (bytes: Buffer) => async () => {
    const clients: RawHttp1[] = []
    for (let at = 0; at < CONNECTIONS; at++) clients.push(await RawHttp1.open(port, '', ATTACKER))
    for (const { socket } of clients) socket.pause().write(bytes)
    await turns(20)
    return () => {
      for (const { socket } of clients) socket.destroy()
    }
  }
  const listed = Object.entries(GRPC_DOORS).flatMap(([service, names]) => names.map((name) => `${service}/${name}`))
  t.same([...methods].sort(), [...listed].sort(), 'each gRPC method is in the table, and no other')
  t.same(
    routes.map(({ path }) => path).sort(),
    Object.keys(HTTP_DOORS).sort(),
    'each route is in the table, and no other',
  )
  const beforeBytes = heldBytes()
  for (const { path } of protocol === 'HTTP' ? routes : []) {
    t.test(`HTTP ${path}`, async (t) => {
      const door = HTTP_DOORS[path]
      if (door === undefined) return
      for (const [way, bytes] of Object.entries(waysOfHttp1(door)))
        await attack(t, `HTTP/1.1: ${way}`, overHttp1(bytes))
      for (const [way, frames] of Object.entries(waysOfHttp2(door)))
        await attack(t, `HTTP/2: ${way}`, overHttp2(frames))
    })
  }
  for (const path of protocol === 'gRPC' ? methods : []) {
    t.test(`gRPC ${path}`, async (t) => {
      for (const [way, frames] of Object.entries(waysOfGrpc(path))) await attack(t, way, overHttp2(frames))
    })
  }
  t.test('memory', async (t) => {
    const grownMib = (heldBytes() - beforeBytes) / MIB
    t.ok(grownMib < MOST_KEPT_MIB, `${Math.round(grownMib)} MiB more, expected at most ${MOST_KEPT_MIB}`)
  })
}
