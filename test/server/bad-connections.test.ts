import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import type { Service } from '../../src/rpc/rpc.js'
import { listen, type TransportName } from '../../src/server/listener.js'
import { until } from '../until.js'
import { TestClient } from './client.js'

const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
const EACH = 25

/** An HTTP/2 frame (RFC 9113, 4.1). `lengthBytes` overrides the length in its header. */
const frame = (
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
  lengthBytes = payload.length,
) => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(lengthBytes, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION] = [0, 1, 3, 4, 6, 8, 9]
const END_HEADERS = 4
const greeting = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0)])

/** Literal fields that are not added to the table (RFC 7541, 6.2.2). */
const literals = (fields: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]),
  )

const watch = frame(
  HEADERS,
  END_HEADERS,
  1,
  literals({
    ':method': 'POST',
    ':scheme': 'http',
    ':path': '/grpc.health.v1.Health/Watch',
    ':authority': 'x',
    'content-type': 'application/grpc',
    te: 'trailers',
  }),
)
const watched = frame(DATA, 1, 1, Buffer.alloc(5))

const bad: Readonly<Record<string, Buffer>> = {
  'DATA on stream 0': frame(DATA, 0, 0, Buffer.from('x')),
  'a PING of 3 bytes': frame(PING, 0, 0, Buffer.alloc(3)),
  'a frame of 16 MiB': frame(DATA, 0, 1, Buffer.alloc(0), 0xffffff),
  'invalid HPACK': frame(HEADERS, END_HEADERS + 1, 1, Buffer.alloc(8, 0xff)),
  'SETTINGS of 5 bytes': frame(SETTINGS, 0, 0, Buffer.alloc(5)),
  'a window update of 0': frame(WINDOW_UPDATE, 0, 0, Buffer.alloc(4)),
  'CONTINUATION without HEADERS': frame(CONTINUATION, END_HEADERS, 1, Buffer.alloc(4)),
  'a reset of an idle stream': frame(RST_STREAM, 0, 7, Buffer.alloc(4)),
  'DATA on stream 0 while a call is open': Buffer.concat([watch, watched, frame(DATA, 0, 0, Buffer.from('x'))]),
}

const ends = { FIN: 'end', RST: 'resetAndDestroy' } as const

const descriptors = (): number => readdirSync('/proc/self/fd').length

const leavesNothing = async (t: Test, transport: TransportName): Promise<void> => {
  const service: Service = { name: CAPABILITIES, unary: { GetCapabilities: async () => ({}) } }
  const limits = { keepAliveMs: 500, keepAliveTimeoutMs: 500 }
  const listener = await listen({ address: '127.0.0.1:0', services: [service], transport, limits })
  const client = new TestClient(listener.address)
  t.teardown(async () => {
    client.close()
    await listener.close(0)
  })
  const ask = () => client.unary(`${CAPABILITIES}/GetCapabilities`, {}).response
  await ask()
  const port = Number(listener.address.split(':').at(-1))

  /** Resolves once the server has answered the frame and the connection is closed on this side. */
  const breakOne = async (bytes: Buffer, end: 'end' | 'resetAndDestroy', isLate: boolean): Promise<void> => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    socket.write(isLate ? greeting : Buffer.concat([greeting, bytes]))
    await once(socket, 'data')
    if (isLate) {
      socket.write(bytes)
      await Promise.race([once(socket, 'data'), once(socket, 'close')])
    }
    socket[end]()
    socket.destroy()
  }

  // One wait for all frames, because grpc-js keeps each connection for a moment.
  for (const [name, end] of Object.entries(ends)) {
    const before = descriptors()
    for (const bytes of Object.values(bad)) {
      for (let count = 0; count < EACH; count++) await breakOne(bytes, end, count % 2 === 1)
    }
    await until(
      () => descriptors() <= before,
      () =>
        `no descriptor more after ${Object.keys(bad).join(', ')}, ${EACH} of each, then ${name}: ${descriptors() - before} more`,
    )
  }
  t.ok(await ask(), 'other clients are served')
}

for (const transport of ['remexec', 'grpc-js'] as const) {
  t.test(`a connection that breaks HTTP/2 leaves no descriptor behind, whatever its end: ${transport}`, (t) =>
    leavesNothing(t, transport),
  )
}
