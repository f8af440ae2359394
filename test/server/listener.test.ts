import { EventEmitter, once } from 'node:events'
import { request } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import type { ServiceError } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { bytesAnswer, textAnswer } from '../../src/http/answer.js'
import { type HttpHandler, pageRoute } from '../../src/http/request.js'
import type { Service } from '../../src/rpc/rpc.js'
import { DEFAULT_LIMITS } from '../../src/server/http2/limits.js'
import { type ListenOptions, listen } from '../../src/server/listener.js'
import { until } from '../until.js'
import { TestClient } from './client.js'

const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
const GET = `${CAPABILITIES}/GetCapabilities`
const capabilities: Service = { name: CAPABILITIES, unary: { GetCapabilities: async () => ({}) } }

const listening = async (t: Test, options: Partial<ListenOptions> = {}) => {
  const listener = await listen({ address: '127.0.0.1:0', services: [capabilities], ...options })
  const client = new TestClient(listener.address)
  t.teardown(async () => {
    client.close()
    await listener.close(0)
  })
  const port = Number(listener.address.split(':').at(-1))
  return { listener, client, port }
}

const ask = async (port: number, method: string, path: string) => {
  const sent = request({ port, host: '127.0.0.1', method, path }).end()
  const [response] = await once(sent, 'response')
  let body = ''
  for await (const chunk of response) body += chunk
  return { status: response.statusCode, headers: response.headers, body }
}

const raw = async (port: number, ...writes: (string | Buffer)[]): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  for (const bytes of writes) socket.write(bytes)
  return socket
}

/** Everything that the server sends until it closes the connection. */
const untilClosed = async (socket: Socket): Promise<string> => {
  let said = ''
  socket.on('data', (chunk) => {
    said += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('close', resolve))
  return said
}

t.test('one port serves gRPC and plain HTTP', async (t) => {
  let failing = false
  const status: HttpHandler = async () => {
    if (failing) throw new Error('secret')
    return bytesAnswer(503, 'application/json', Buffer.from('["ä"]'))
  }
  const { client, port } = await listening(t, { routes: [pageRoute('/status', status, 'open')] })
  t.ok(await client.unary(GET, {}).response)
  t.match(await ask(port, 'GET', '/status'), {
    status: 503,
    body: '["ä"]',
    headers: { 'content-type': 'application/json' },
  })
  t.match(await ask(port, 'GET', '/status?verbose'), { status: 503 })
  t.match(await ask(port, 'HEAD', '/status'), { status: 503, body: '', headers: { 'content-length': '6' } })
  t.match(await ask(port, 'GET', '/'), { status: 404 })
  t.match(await ask(port, 'POST', '/status'), { status: 405, headers: { allow: 'GET, HEAD' } })
  failing = true
  const failed = await ask(port, 'GET', '/status')
  t.equal(failed.status, 500)
  t.notMatch(failed.body, /secret/)
  t.ok(await client.unary(GET, {}).response)
})

t.test('an HTTP client that leaves aborts its signal', async (t) => {
  let left = (_: unknown): void => {}
  const gone = new Promise((resolve) => {
    left = resolve
  })
  let begun = (_: unknown): void => {}
  const begin = new Promise((resolve) => {
    begun = resolve
  })
  const slow: HttpHandler = ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        left(signal.reason)
        reject(signal.reason)
      })
      begun(undefined)
    })
  const { port } = await listening(t, { routes: [pageRoute('/slow', slow, 'open')] })
  const socket = await raw(port, 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n')
  await begin
  socket.destroy()
  t.match(await gone, { code: 1 })
})

t.test('garbage, silence and half a greeting do not affect other connections', async (t) => {
  const { client, port } = await listening(t, { firstBytesMs: 500 })
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  t.equal(await untilClosed(await raw(port, Buffer.alloc(100_000, 0xff))), '')
  t.equal(await untilClosed(await raw(port, Buffer.from('160301020001000', 'hex'))), '', 'a TLS greeting')
  t.equal(await untilClosed(await raw(port, 'HELLO THERE\r\n\r\n')), '', 'a preface of something else')
  t.match(await untilClosed(await raw(port, 'PRI * HTTP/9\r\n\r\n')), /^HTTP\/1.1 400/)
  t.equal(await untilClosed(await raw(port)), '', 'silence')
  t.equal(await untilClosed(await raw(port, 'PRI * HT')), '', 'half a greeting')
  const ended = await raw(port, 'PRI')
  ended.end()
  t.equal(await untilClosed(ended), '')
  const reset = await raw(port, 'PRI')
  reset.resetAndDestroy()
  await untilClosed(await raw(port, preface, Buffer.alloc(1000, 0xff)))
  t.ok(await client.unary(GET, {}).response)

  const slow = await raw(port)
  slow.setNoDelay()
  for (const byte of preface) {
    slow.write(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  slow.write(Buffer.from('000000040000000000', 'hex'))
  const [settings] = await once(slow, 'data')
  t.equal(settings[3], 4, 'the answer is a SETTINGS frame')
  slow.destroy()
})

const http2 = async (t: Test, port: number): Promise<ClientHttp2Session> => {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  t.teardown(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

t.test('windows are raised: on the stream by a setting, on the connection by an update', async (t) => {
  const { port } = await listening(t)
  const session = await http2(t, port)
  t.equal(session.remoteSettings.initialWindowSize, DEFAULT_LIMITS.streamWindowBytes)
  t.ok((session.remoteSettings.maxConcurrentStreams ?? 0) >= 100)
  await until(() => (session.state.remoteWindowSize ?? 0) >= DEFAULT_LIMITS.streamWindowBytes)
  t.pass('the connection window is open')
})

t.test('pings are answered and never end the connection', async (t) => {
  const { port } = await listening(t)
  const session = await http2(t, port)
  session.on('goaway', () => t.fail('goaway'))
  for (let sent = 0; sent < 500; sent++) {
    await new Promise((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve(undefined))))
  }
  t.notOk(session.destroyed)
})

t.test('a request of HTTP/2 that is neither gRPC nor for a page is 404', async (t) => {
  const { port } = await listening(t)
  const session = await http2(t, port)
  const stream = session.request({ ':path': '/status' })
  const [headers] = await once(stream, 'response')
  t.equal(headers[':status'], 404)
})

t.test('addresses', async (t) => {
  const { listener } = await listening(t)
  await t.rejects(listen({ address: listener.address, services: [] }), { code: 14, message: /in use/ })
  for (const address of ['nonsense', '127.0.0.1', '127.0.0.1:99999', '::1:50051', '[::1]']) {
    await t.rejects(listen({ address, services: [] }), { code: 3, message: /expected host:port/ })
  }
  const everywhere = await listen({ address: ':0', services: [] })
  t.match(everywhere.address, /:\d+$/)
  await everywhere.close()
  await everywhere.close()
})

/** A service whose calls wait until the test releases them. */
const waiting = () => {
  const signals: AbortSignal[] = []
  let letGo = (): void => {}
  let begun = (): void => {}
  const begin = new Promise<void>((resolve) => {
    begun = resolve
  })
  const service: Service = {
    name: CAPABILITIES,
    unary: {
      GetCapabilities: (_, { signal }) =>
        new Promise((resolve, reject) => {
          signals.push(signal)
          letGo = () => resolve({})
          signal.addEventListener('abort', () => reject(signal.reason))
          begun()
        }),
    },
  }
  return { service, signals, begin, letGo: () => letGo() }
}

t.test('close waits for calls, accepts no new ones, and does not wait for idle connections', async (t) => {
  const { service, begin, letGo, signals } = waiting()
  const { listener, client, port } = await listening(t, { services: [service] })
  const idleEnds = untilClosed(await raw(port))
  const watching = client.serverStream('grpc.health.v1.Health/Watch', {})
  watching.on('error', () => {})
  t.match(await once(watching, 'data'), [{ status: 1 }])
  const { response } = client.unary(GET, {})
  await begin
  const closed = listener.close(20_000)
  t.match(await once(watching, 'data'), [{ status: 2 }], 'health says not serving')
  const late = connect(port, '127.0.0.1')
  t.match(await once(late, 'error'), [{ code: 'ECONNREFUSED' }])
  letGo()
  t.ok(await response)
  await closed
  t.equal(signals[0]?.aborted, false)
  await idleEnds
})

t.test('close refuses calls that have not begun with UNAVAILABLE, and begins none of them', async (t) => {
  let begun = 0
  const service: Service = {
    name: CAPABILITIES,
    unary: {
      GetCapabilities: (_, { signal }) =>
        new Promise((_, reject) => {
          begun += 1
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    },
  }
  const limits = { maxBacklogBytes: 2 * 64 * 1024 }
  const { listener, client } = await listening(t, { services: [service], limits })
  const codes = Array.from({ length: 5 }, () => client.unary(GET, {}).response.catch((error: ServiceError) => error))
  await until(() => begun === 2)
  // Behind the others: the server has taken all of them.
  const { response } = client.unary('grpc.health.v1.Health/Check', {}, { options: { deadline: Date.now() + 500 } })
  await t.rejects(response, { code: 4 }, 'the health check waits too')
  await listener.close(20)
  for (const error of await Promise.all(codes)) {
    t.match(error, { code: 14, details: 'the server is shutting down' })
  }
  t.equal(begun, 2)
})

t.test('close ends calls that outlast the drain with UNAVAILABLE', async (t) => {
  const { service, begin, signals } = waiting()
  const { listener, client } = await listening(t, { services: [service] })
  const { response } = client.unary(GET, {})
  const failed = t.rejects(response, { code: 14 })
  await begin
  await listener.close(20)
  t.equal(signals[0]?.aborted, true)
  await failed
})

t.test(
  'a server that drains closes connections that said nothing, and answers a request that came before',
  async (t) => {
    const events = new EventEmitter()
    const slow: HttpHandler = async () => {
      events.emit('begun')
      await once(events, 'answer')
      return textAnswer(200, 'late')
    }
    const { listener, port } = await listening(t, { routes: [pageRoute('/slow', slow, 'open')] })
    const silent = await raw(port)
    const begun = once(events, 'begun')
    const asked = ask(port, 'GET', '/slow')
    await begun
    const closed = listener.close(60_000)
    await once(silent, 'close')
    events.emit('answer')
    t.match(await asked, { status: 200, body: 'late' })
    await closed
  },
)
