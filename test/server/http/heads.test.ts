import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { treeRoute } from '../../../src/http/request.js'
import type { Log, LogFields } from '../../../src/log/log.js'
import { silentLog } from '../../../src/log/log.js'
import { listen } from '../../../src/server/listener.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { RawHttp1, statusesIn } from './raw-http1.js'

/** Heads that no answer may have, by the path that gives them. */
const bad: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'a second line': { 'x-a': 'b\r\nx-b: c' },
  'a line feed': { 'x-a': 'b\nx' },
  NUL: { 'x-a': 'b\0' },
  'no Latin-1': { 'x-a': '\u20ac' },
  'a name with a space': { 'x y': '1' },
  'an empty name': { '': '1' },
  'a name in upper case': { 'X-A': '1' },
  'a pseudo field': { ':status': '200' },
  'a second length': { 'content-length': '5' },
  'a transfer coding': { 'transfer-encoding': 'chunked' },
  'a connection': { connection: 'close' },
  null: { 'x-a': null },
  'a number': { 'x-a': 1 },
}

const serving = async () => {
  const names = Object.keys(bad)
  const routes = [
    treeRoute(
      '/c',
      async ({ rest }) => ({
        status: 200,
        headers: (bad[names[Number(rest)] ?? ''] ?? { 'x-good': '\u00e9\t' }) as Record<string, string>,
        body: Blob.ofBytes(Buffer.from('0123456789')),
      }),
      'open',
    ),
    {
      ...treeRoute(
        '/ruled',
        async ({ rest }) => ({
          status: 200,
          headers: { 'content-type': decodeURIComponent(rest), 'x-kept': '1', 'x-fixed': 'mine' },
          body: Blob.ofBytes(Buffer.from('<script>')),
        }),
        'open',
        ['GET'],
      ),
      answers: { headers: { 'x-fixed': 'ours' }, contentTypes: new Set(['text/plain']) },
    },
  ]
  const listener = await listen({ address: '127.0.0.1:0', services: [], routes })
  return { listener, port: Number(listener.address.split(':').at(-1)), names }
}

t.test('a head that a handler may not give is answered with 500 over HTTP/1, and the connection goes on', async (t) => {
  const { listener, port, names } = await serving()
  t.teardown(() => listener.close(0))
  for (const [at, name] of names.entries()) {
    const end = 'GET /c/good HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
    const client = await RawHttp1.open(port, `GET /c/${at} HTTP/1.1\r\nhost: x\r\n\r\n${end}`)
    const said = await client.closed()
    t.same(statusesIn(said), [500, 200], name)
    t.notMatch(said, /x-b: c|x y|chunked/, name)
    t.equal(said.match(/content-length/g)?.length, 2, name)
  }
})

t.test('and over HTTP/2, where its stream only is concerned', async (t) => {
  const { listener, port, names } = await serving()
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  t.teardown(async () => {
    session.destroy()
    await listener.close(0)
  })
  for (const [at, name] of [...names, 'good'].entries()) {
    const asked = session.request({ ':path': `/c/${at}` })
    const [headers] = (await once(asked, 'response')) as [Record<string, string | number>]
    t.equal(headers[':status'], name === 'good' ? 200 : 500, name)
    t.notOk('x-b' in headers || 'x-a' in headers, name)
    asked.resume()
    await once(asked, 'close')
  }
})

t.test(
  'the rules of a route hold for all its answers: its headers replace those of the handler, errors too',
  async (t) => {
    const { listener, port } = await serving()
    t.teardown(() => listener.close(0))
    const ask = async (method: string, type: string): Promise<string> => {
      const head = `${method} /ruled/${encodeURIComponent(type)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`
      return (await RawHttp1.open(port, head)).closed()
    }
    t.match(
      await ask('GET', 'text/plain; charset=utf-8'),
      /content-type: text\/plain; charset=utf-8\r\nx-kept: 1\r\nx-fixed: ours\r\n/,
    )
    t.match(await ask('GET', 'text/html'), /content-type: application\/octet-stream\r\n/)
    t.match(await ask('GET', 'TEXT/HTML ;x'), /content-type: application\/octet-stream\r\n/)
    t.match(await ask('PUT', 'x'), /^HTTP\/1.1 405 [\s\S]*x-fixed: ours\r\n/)
  },
)

t.test('two hosts, and codings that are not undone, are refused', async (t) => {
  const { listener, port } = await serving()
  t.teardown(() => listener.close(0))
  const ask = async (head: string, body = ''): Promise<readonly number[]> =>
    statusesIn(
      await (await RawHttp1.open(port, `${head}\r\n\r\n${body}GET /c/smuggled HTTP/1.1\r\nhost: x\r\n\r\n`)).closed(),
    )
  t.same(await ask('GET /c/x HTTP/1.1\r\nHost: a\r\nhost: b'), [400])
  t.same(await ask('GET /c/x HTTP/1.1\r\nHost: a\r\nhost: a'), [400])
  for (const coding of ['gzip, chunked', 'GZIP,chunked'])
    t.same(
      await ask(`PUT /c/x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: ${coding}`, '3\r\nabc\r\n0\r\n\r\n'),
      [501],
      coding,
    )
})

t.test('gRPC over HTTP/1.1 hears that it needs HTTP/2, and the log says so once a minute', async (t) => {
  const warned: LogFields[] = []
  const log: Log = {
    ...silentLog,
    warn: (message, fields) => void (message.startsWith('gRPC came') && warned.push(fields ?? {})),
  }
  const clock = new ManualClock()
  const listener = await listen({ address: '127.0.0.1:0', services: [], log, clock })
  t.teardown(() => listener.close(0))
  const port = Number(listener.address.split(':').at(-1))
  const path = 'build.bazel.remote.execution.v2.Capabilities/GetCapabilities'
  const ask = async (type: string): Promise<string> =>
    (
      await RawHttp1.open(
        port,
        `POST /${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: 0\r\n\r\n`,
      )
    ).closed()
  t.match(await ask('application/grpc'), /^HTTP\/1.1 505 [\s\S]*gRPC needs HTTP\/2: a proxy in front speaks HTTP\/1\.1/)
  t.match(await ask('application/grpc-web+proto'), /^HTTP\/1.1 505 /)
  t.match(warned, [{ peer: /^127\.0\.0\.1:/, method: `/${path}` }])
  clock.advance(60_000)
  await ask('application/grpc')
  t.equal(warned.filter(({ peer }) => peer !== undefined).length, 2)
})

t.test('a head that is a constant of its handler is checked for the rules of each route that gives it', async (t) => {
  const constant = Object.freeze({ 'content-type': 'text/html', 'x-a': '1', 'x-fixed': 'mine' })
  const changing: Record<string, string> = { 'x-count': '0' }
  const broken = Object.freeze({ 'x-a': 'b\r\nx-b: c' })
  const body = () => Blob.ofBytes(Buffer.from('1'))
  const plain = treeRoute('/plain', async () => ({ status: 200, headers: constant, body: body() }), 'open')
  const answers = { headers: { 'x-fixed': 'ours' }, contentTypes: new Set(['text/plain']) }
  const count = async () => {
    changing['x-count'] = String(Number(changing['x-count']) + 1)
    return { status: 200, headers: changing, body: body() }
  }
  const fault = async () => ({ status: 200, headers: broken, body: body() })
  const routes = [
    plain,
    { ...plain, path: '/ruled', answers },
    treeRoute('/changing', count, 'open'),
    treeRoute('/broken', fault, 'open'),
  ]
  const listener = await listen({ address: '127.0.0.1:0', services: [], routes })
  t.teardown(() => listener.close(0))
  const port = Number(listener.address.split(':').at(-1))
  const ask = async (path: string): Promise<string> =>
    (await RawHttp1.open(port, `GET /${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)).closed()
  for (const round of [1, 2]) {
    t.match(await ask('plain'), /content-type: text\/html\r\nx-a: 1\r\nx-fixed: mine\r\n/)
    t.match(await ask('ruled'), /content-type: application\/octet-stream\r\nx-a: 1\r\nx-fixed: ours\r\n/)
    t.match(await ask('changing'), new RegExp(`x-count: ${round}\r\n`), 'what may change is read each time')
    t.match(await ask('broken'), /^HTTP\/1.1 500 /)
  }
})
