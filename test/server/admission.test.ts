import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import { limitsOf } from '../../src/assembly/listener-limits.js'
import { ManualClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import type { LogFields } from '../../src/log/log.js'
import { silentLog } from '../../src/log/log.js'
import { AllConnections } from '../../src/server/admission.js'
import { FrameType, PREFACE } from '../../src/server/http2/frame/frame.js'
import { type ListenOptions, listen } from '../../src/server/listener.js'
import { DEFAULT_TRANSPORT_LIMITS } from '../../src/server/transport/transport.js'
import { certificate } from './certificate.js'
import { frame, RawClient, SETTINGS } from './http2/raw-client.js'

const opened = async (t: Test, options: Partial<ListenOptions>) => {
  const refusals: LogFields[] = []
  const log = { ...silentLog, warn: (_: string, fields: LogFields = {}) => void refusals.push(fields) }
  const listener = await listen({ address: '127.0.0.1:0', services: [], log, ...options })
  const port = Number(listener.address.split(':').at(-1))
  const sockets: Socket[] = []
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await listener.close(0)
  })
  /** True if the server greets, false if it closes the connection. */
  const isServed = async (localAddress = '127.0.0.1'): Promise<boolean> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write(Buffer.concat([PREFACE, SETTINGS]))
    return new Promise((resolve) => socket.once('data', () => resolve(true)).once('close', () => resolve(false)))
  }
  /** A connection that sends nothing to the server. */
  const opens = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
  }
  const leave = async (index: number): Promise<void> => {
    const socket = sockets[index] as Socket
    socket.destroy()
    await once(socket, 'close')
  }
  return { isServed, opens, leave, refusals, sockets, port }
}

/** Waits, because the server notices the end of a connection a moment later. */
const soon = async (isSo: () => Promise<boolean>): Promise<boolean> => {
  for (let attempt = 0; attempt < 1000; attempt++) if (await isSo()) return true
  return false
}

for (const transport of ['remexec', 'grpc-js'] as const) {
  t.test(`${transport}: connections beyond the bound are closed and logged, until others have closed`, async (t) => {
    const connections = { maxConnections: 3, maxConnectionsPerAddress: 0 }
    const { isServed, leave, refusals } = await opened(t, { transport, connections })
    for (let count = 0; count < 3; count++) t.ok(await isServed())
    t.notOk(await isServed())
    t.same(refusals, [{ peer: '127.0.0.1', reason: 'the listener has 3 connections' }])
    await leave(1)
    t.ok(await soon(isServed))
    t.notOk(await isServed())
  })

  t.test(`${transport}: connections of one address are bounded, and other addresses can still connect`, async (t) => {
    const connections = { maxConnections: 0, maxConnectionsPerAddress: 2 }
    const { isServed, leave, refusals } = await opened(t, { transport, connections })
    t.ok(await isServed())
    t.ok(await isServed())
    t.notOk(await isServed())
    t.match(refusals, [{ reason: 'the address has 2 connections' }])
    t.ok(await isServed('127.0.0.2'))
    await leave(0)
    t.ok(await soon(isServed))
  })
}

for (const transport of ['remexec', 'grpc-js'] as const) {
  t.test(`${transport}: connections in the TLS handshake count too`, async (t) => {
    const { key, cert } = certificate(t.testdir())
    const connections = { maxConnections: 2, maxConnectionsPerAddress: 0 }
    const { opens, refusals, sockets, port } = await opened(t, { transport, connections, tls: { key, cert } })
    const shakes = async (): Promise<boolean> => {
      const socket = connectTls({ port, host: '127.0.0.1', ca: cert, ALPNProtocols: ['h2'], servername: 'localhost' })
      sockets.push(socket)
      return new Promise((resolve) => {
        socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false))
      })
    }
    await opens()
    t.ok(await shakes(), 'one beside it')
    t.notOk(await shakes(), 'a third')
    t.same(refusals, [{ peer: '127.0.0.1', reason: 'the listener has 2 connections' }])
    const [silent, served] = sockets as [Socket, Socket]
    silent.destroy()
    t.ok(await soon(shakes), 'once the silent one has left')
    served.destroy()
    t.ok(await soon(shakes), 'once a served one has left')
    t.notOk(await shakes(), 'no more than that')
  })
}

t.test('0 is no bound', async (t) => {
  const { isServed } = await opened(t, { connections: { maxConnections: 0, maxConnectionsPerAddress: 0 } })
  for (let count = 0; count < 20; count++) t.ok(await isServed())
})

const configured = (http2: string) => {
  const { config } = parseConfig(
    `{ stores: { A: { memory: {} } }, servers: [{ listener: { http: { socket_address: ':9', advanced_http: ${http2} } }, services: { cas: { '': { cas_store: 'A' } } } }] }`,
    'test.json5',
    { env: {} },
  )
  const [server] = config?.servers ?? []
  if (server === undefined) throw new Error('the configuration is not valid')
  return limitsOf(server.listener)
}

t.test('a connection follows the HTTP/2 settings of the configuration', async (t) => {
  const clock = new ManualClock()
  const limits = configured(`{
    http2_keep_alive_interval: 5, experimental_http2_keep_alive_timeout_s: 3,
    experimental_http2_max_concurrent_streams: 7, experimental_http2_initial_stream_window_size: 20000,
    experimental_http2_initial_connection_window_size: 100000, experimental_http2_max_header_list_size: 9000,
    experimental_http2_max_send_buf_size: 30000, experimental_http2_max_pending_accept_reset_streams: 10
  }`)
  t.match(limits, { outputBytes: 30_000, resets: { burst: 10 } })
  const { port } = await opened(t, { clock, limits })
  const client = await RawClient.greeted(port)
  const settings = await client.until(({ type, flags }) => type === FrameType.SETTINGS && flags === 0)
  t.equal(settings?.payload.toString('hex'), '000300000007000400004e20000600002328')
  const widened = await client.until(({ type }) => type === FrameType.WINDOW_UPDATE)
  t.equal(widened?.payload.readUInt32BE(0), 100_000 - 65_535)
  await client.sent(frame(FrameType.PING, 0, 0, Buffer.alloc(8, 1)))
  await client.until(({ type, flags }) => type === FrameType.PING && flags === 1)
  clock.advance(7000)
  t.ok(await client.until(({ type, flags }) => type === FrameType.PING && flags === 0), 'asked for a sign of life')
  clock.advance(5000)
  await client.closed()
})

t.test('without HTTP/2 settings the defaults apply, and 0 turns keepalive off', async (t) => {
  const limits = configured('{}')
  for (const [key, value] of Object.entries(limits))
    t.same(value, DEFAULT_TRANSPORT_LIMITS[key as keyof typeof DEFAULT_TRANSPORT_LIMITS], key)
  t.equal(configured('{ http2_keep_alive_interval: 0 }').keepAliveMs, Number.POSITIVE_INFINITY)
})

t.test(
  'the connections of all listeners are bounded together, and one address has at most three quarters',
  async (t) => {
    const allConnections = new AllConnections(4)
    const first = await opened(t, { allConnections })
    const second = await opened(t, { allConnections })
    t.ok(await first.isServed())
    t.ok(await first.isServed())
    t.ok(await first.isServed())
    t.notOk(await first.isServed(), 'a fourth of one address')
    t.match(first.refusals, [{ reason: 'the address has 3 of the 4 connections that the limit of open files allows' }])
    t.ok(await second.isServed('127.0.0.2'))
    t.notOk(await second.isServed('127.0.0.3'))
    t.match(second.refusals, [
      { reason: /the listeners have 4 connections, as many as the limit of open files allows/ },
    ])
    await first.leave(0)
    t.ok(await soon(() => second.isServed('127.0.0.3')), 'once one has left')
  },
)
