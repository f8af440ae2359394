import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { Duplex } from 'node:stream'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { StatusError } from '../../../src/base/status-error.js'
import { HttpError, textAnswer } from '../../../src/http/answer.js'
import { type HttpHandler, type HttpRequest, treeRoute } from '../../../src/http/request.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { type ListenOptions, listen } from '../../../src/server/listener.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { feedOf } from '../../store/blobs.js'
import { during } from '../../until.js'

const MIB = 1024 * 1024

/** Answers GET with as many bytes as the path says, PUT with the number of bytes it got. */
const echo: HttpHandler = async (asked) => {
  if (asked.method === 'PUT') {
    let bytes = 0
    const form = await asked.body.take()
    if (form.kind === 'feed') {
      await form.feed.into((chunk) => {
        bytes += chunk.length
        return undefined
      })
    } else if (form.kind === 'bytes') bytes = form.bytes.length
    return textAnswer(200, `${bytes}`)
  }
  return { status: 200, body: Blob.ofBytes(Buffer.alloc(Number(asked.rest), 'x')) }
}

/** Of an entry about a collection. */
interface Collected {
  readonly detail: { readonly kind: number; readonly flags: number }
}

const listening = async (t: Test, handler: HttpHandler, options: Partial<ListenOptions> = {}) => {
  const routes = [treeRoute('/c', handler, 'open')]
  const listener = await listen({ address: '127.0.0.1:0', services: [], routes, ...options })
  t.teardown(() => listener.close(0))
  return { listener, port: Number(listener.address.split(':').at(-1)) }
}

const answerTo = async (sent: ReturnType<typeof request>) => {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() }
}

const raw = async (port: number, text: string): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

const untilClosed = async (socket: Socket): Promise<string> => {
  let said = ''
  socket.on('data', (chunk) => {
    said += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('close', resolve))
  return said
}

/** What the server says until `pattern` has come. */
const until = async (socket: Socket, pattern: RegExp): Promise<string> => {
  let said = ''
  for await (const [chunk] of onData(socket)) {
    said += chunk.toString('latin1')
    if (pattern.test(said)) break
  }
  return said
}

async function* onData(socket: Socket) {
  // biome-ignore lint/plugin: its reader ends it
  for (;;) yield (await once(socket, 'data')) as [Buffer]
}

t.test('a connection is kept for many requests, with bodies of known and of unknown length', async (t) => {
  const { port } = await listening(t, echo)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const ports = new Set<number | undefined>()
  const ask = (method: string, path: string, headers = {}) => {
    const sent = request({ port, host: '127.0.0.1', method, path, agent, headers })
    sent.once('socket', (socket) => socket.once('connect', () => ports.add(socket.localPort)))
    return sent
  }
  t.match(await answerTo(ask('GET', '/c/3').end()), { status: 200, body: 'xxx', headers: { 'content-length': '3' } })
  t.match(await answerTo(ask('PUT', '/c', { 'content-length': 5 }).end('12345')), { body: '5' })
  const chunked = ask('PUT', '/c')
  for (let at = 0; at < 40; at++) chunked.write(Buffer.alloc(50_000))
  t.match(await answerTo(chunked.end()), { body: '2000000' })
  t.match(await answerTo(ask('HEAD', '/c/7').end()), { status: 200, body: '', headers: { 'content-length': '7' } })
  t.match(await answerTo(ask('GET', `/c/${3 * MIB}`).end()), { headers: { 'content-length': String(3 * MIB) } })
  t.equal(ports.size, 1)
})

t.test('a short body that came with its head is read at once, and short answers have every byte', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 512 }, (_, at) => at & 255))
  const { port } = await listening(t, async ({ body, method }) => {
    const form = await body.take()
    if (method === 'PUT' && form.kind !== 'bytes') throw new Error(form.kind)
    return { status: 200, headers: { 'x-more': 'yes' }, body: Blob.ofBytes(form.kind === 'bytes' ? form.bytes : bytes) }
  })
  const head = `PUT /c HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${bytes.length}\r\n\r\n`
  const socket = connect(port, '127.0.0.1')
  socket.write(Buffer.concat([Buffer.from(head), bytes]))
  const said = Buffer.from(await untilClosed(socket), 'latin1')
  t.match(said.toString('latin1'), /^HTTP\/1.1 200 OK\r\nx-more: yes\r\ncontent-length: 512\r\n/)
  t.ok(said.subarray(-bytes.length).equals(bytes))
})

t.test('bodies arrive as they were sent on many connections at once, whenever their handlers look', async (t) => {
  const { port } = await listening(t, async (asked) => {
    const expected = Number(asked.rest)
    let bytes = 0
    const form = await asked.body.take()
    if (form.kind !== 'feed') throw new Error(form.kind)
    await form.feed.into(async (chunk) => {
      // The bytes belong to the taker until its promise resolves.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
      if (chunk.some((byte) => byte !== expected)) throw new Error('bytes of another connection')
      bytes += chunk.length
    })
    return textAnswer(200, `${bytes}`)
  })
  const puts = Array.from({ length: 12 }, (_, at) => {
    const headers = at % 2 === 0 ? { 'content-length': MIB } : {}
    const sent = request({ port, host: '127.0.0.1', method: 'PUT', path: `/c/${at}`, headers, agent: false })
    for (let left = MIB; left > 0; left -= MIB / 16) sent.write(Buffer.alloc(MIB / 16, at))
    return answerTo(sent.end())
  })
  for (const answer of await Promise.all(puts)) t.match(answer, { status: 200, body: String(MIB) })
})

t.test('the parser of Node copies the bodies that it passes on', async (t) => {
  // src/server/transport/http1-stream.ts uses one buffer for what all connections bring.
  const bytes = Buffer.allocUnsafeSlow(100)
  const length = bytes.write('PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello')
  const server = createServer()
  const stream = new Duplex({ read: () => {}, write: (_, __, done) => done() })
  t.teardown(() => stream.destroy())
  server.emit('connection', stream)
  const seen = once(server, 'request').then(async ([asked]) => (await once(asked, 'data'))[0])
  stream.push(bytes.subarray(0, length))
  const body: Buffer = await seen
  t.equal(body.toString(), 'hello')
  t.not(body.buffer, bytes.buffer)
})

t.test('the buffers of a long body are freed on the way, by collections of the young generation', async (t) => {
  const BODY_MIB = 64
  const { port } = await listening(t, echo)
  const forced: number[] = []
  const see = (entries: readonly PerformanceEntry[]): void => {
    for (const { detail } of entries as unknown as readonly Collected[])
      if ((detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) forced.push(detail.kind)
  }
  const observer = new PerformanceObserver((list) => see(list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  t.teardown(() => observer.disconnect())
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const sent = request({ port, agent, method: 'PUT', path: '/c', headers: { 'content-length': BODY_MIB * MIB } })
  const answer = answerTo(sent)
  const piece = Buffer.alloc(MIB)
  for (let at = 0; at < BODY_MIB; at++) if (!sent.write(piece)) await once(sent, 'drain')
  sent.end()
  t.equal((await answer).body, `${BODY_MIB * MIB}`)
  see(observer.takeRecords())
  t.ok(forced.length >= 6, 'one for each 8 MiB')
  t.ok(forced.every((kind) => kind === constants.NODE_PERFORMANCE_GC_MINOR))
  t.notOk('gc' in globalThis)
})

t.test('requests sent ahead are answered one at a time, in order', async (t) => {
  let running = 0
  const { port } = await listening(t, async ({ rest }) => {
    running += 1
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(running, 1)
    running -= 1
    return textAnswer(200, `answer ${rest}`)
  })
  const get = (at: number, more = '') => `GET /c/${at} HTTP/1.1\r\nhost: x\r\n${more}\r\n`
  const said = await untilClosed(await raw(port, `${get(1)}${get(2)}${get(3, 'connection: close\r\n')}`))
  t.same(said.match(/answer \d/g), ['answer 1', 'answer 2', 'answer 3'])
})

t.test('a client that waits for 100 Continue gets it when its body is wanted, and the refusal before', async (t) => {
  const { port } = await listening(t, async (asked) => {
    if (asked.rest === 'no') throw new HttpError(413, 'too large')
    return echo(asked)
  })
  const head = (path: string) => `PUT ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\nexpect: 100-continue\r\n\r\n`
  const socket = await raw(port, head('/c/yes'))
  t.match(await until(socket, /\r\n\r\n/), /^HTTP\/1.1 100 Continue/)
  socket.write('abc')
  t.match(await until(socket, /3$/), /^HTTP\/1.1 200 OK/)
  socket.destroy()
  const refused = await untilClosed(await raw(port, head('/c/no')))
  t.match(refused, /^HTTP\/1.1 413 [\s\S]*connection: close[\s\S]*too large/i)
  t.notMatch(refused, /100 Continue/)
})

t.test('a client that is refused while it sends still sees the answer, and goes on with its connection', async (t) => {
  const { port } = await listening(t, async ({ method }) => {
    if (method === 'PUT') throw new StatusError('UNAUTHENTICATED', 'who are you?')
    return textAnswer(200, 'fine')
  })
  const socket = await raw(port, `PUT /c HTTP/1.1\r\nhost: x\r\ncontent-length: ${MIB}\r\n\r\n`)
  t.match(await until(socket, /who are you/), /^HTTP\/1.1 401 [\s\S]*www-authenticate: Basic/i)
  socket.write(Buffer.alloc(MIB))
  socket.write('GET /c HTTP/1.1\r\nhost: x\r\n\r\n')
  t.match(await until(socket, /fine/), /^HTTP\/1.1 200/)
  socket.destroy()
})

t.test('a body that ends early fails its handler, and a handler that leaves aborts nothing of others', async (t) => {
  let failed = (_: unknown): void => {}
  const failure = new Promise((resolve) => {
    failed = resolve
  })
  const { port } = await listening(t, (asked) =>
    echo(asked).catch((error) => {
      failed(error)
      throw error
    }),
  )
  const socket = await raw(port, 'PUT /c HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc')
  await untilClosed(socket.end())
  t.match(await failure, { code: 1 })
})

t.test('requests that could be read in two ways are refused', async (t) => {
  const { port } = await listening(t, echo)
  const heads = [
    'content-length: 3\r\ncontent-length: 4',
    'content-length: 3\r\ntransfer-encoding: chunked',
    'content-length: +3',
    'transfer-encoding: gzip, identity',
    'content-length: 3\r\n x: folded',
    'content-length : 3',
    `x: ${'y'.repeat(20_000)}`,
  ]
  for (const head of heads) {
    const said = await untilClosed(await raw(port, `PUT /c HTTP/1.1\r\nhost: x\r\n${head}\r\n\r\nabc`))
    t.match(said, /^HTTP\/1.1 4(00|31) /, head.slice(0, 40))
  }
  t.match(await untilClosed(await raw(port, 'GET /c/1 HTTP/1.1\r\n\r\n')), /^HTTP\/1.1 400 /, 'without a host')
  const surplus = 'PUT /c HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nabcdef\r\n\r\n'
  t.match(await untilClosed(await raw(port, surplus)), /HTTP\/1.1 400 /, 'a body longer than said')
  const long = await untilClosed(await raw(port, `GET /c/${'y'.repeat(5000)} HTTP/1.0\r\n\r\n`))
  t.match(long, /^HTTP\/1.1 414 /)
})

t.test('an answer that fails ends the connection before its last byte', async (t) => {
  const { port } = await listening(t, async () => {
    const feed = feedOf(async (taker) => {
      await taker(Buffer.from('half'))
      throw new StatusError('DATA_LOSS', 'damaged')
    })
    return { status: 200, body: Blob.ofFeed(feed, { sizeBytes: 8 }) }
  })
  const said = await untilClosed(await raw(port, 'GET /c HTTP/1.1\r\nhost: x\r\n\r\n'))
  t.match(said, /content-length: 8[\s\S]*half$/i)
})

t.test('slow heads, slow bodies, slow readers and idle connections are closed', async (t) => {
  const clock = new ManualClock()
  let began = (): void => {}
  const begun = () =>
    new Promise<void>((resolve) => {
      began = resolve
    })
  const handler = (asked: HttpRequest) => {
    began()
    return echo(asked)
  }
  const { port } = await listening(t, handler, { clock, limits: { requestMs: 60_000 } })
  const advance = (ms: number) => {
    for (let at = 0; at < ms; at += 1000) clock.advance(1000)
  }
  /** Lets time pass until something happens. */
  const passing = <T>(work: Promise<T>): Promise<T> => during(work, () => clock.advance(1000))
  let start = begun()
  const body = await raw(port, 'PUT /c HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\nabc')
  await start
  t.match(await passing(untilClosed(body)), /^HTTP\/1.1 504 [\s\S]*too slowly/)

  start = begun()
  const reader = await raw(port, `GET /c/${64 * MIB} HTTP/1.1\r\nhost: x\r\n\r\n`)
  reader.pause()
  await start
  const isClosed = once(reader, 'close')
  // It reads at most what lies in its buffers when it begins to, which is after the minute.
  for (let at = 0; at < 200; at++) {
    clock.advance(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  let readBytes = 0
  reader.on('data', ({ length }) => {
    readBytes += length
  })
  reader.on('error', () => {}).resume()
  await isClosed
  t.ok(readBytes < 64 * MIB)

  const idle = await raw(port, 'GET /c/1 HTTP/1.1\r\nhost: x\r\n\r\n')
  await until(idle, /x$/)
  advance(100_000)
  idle.write('GET /c/2 HTTP/1.1\r\nhost: x\r\n\r\n')
  await until(idle, /xx$/)
  idle.write('GET /c/2 HTTP/1.1\r\n')
  t.equal(await passing(untilClosed(idle)), '', 'half a head')
})

t.test('a server that stops ends idle connections at once, and others with their answer', async (t) => {
  let answer = (): void => {}
  let began = (): void => {}
  const begun = new Promise<void>((resolve) => {
    began = resolve
  })
  const { port, listener } = await listening(t, async ({ rest }) => {
    if (rest === 'slow')
      await new Promise<void>((resolve) => {
        answer = resolve
        began()
      })
    return textAnswer(200, 'done')
  })
  const idle = await raw(port, 'GET /c HTTP/1.1\r\nhost: x\r\n\r\n')
  await until(idle, /done/)
  const slow = await raw(port, 'GET /c/slow HTTP/1.1\r\nhost: x\r\n\r\n')
  await begun
  const ended = untilClosed(slow)
  const idleEnded = untilClosed(idle)
  const closing = listener.close(10_000)
  await idleEnded
  answer()
  t.match(await ended, /connection: close[\s\S]*done/i)
  await closing
})

t.test('the same routes over HTTP/2', async (t) => {
  const { port } = await listening(t, echo)
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  t.teardown(() => session.destroy())
  const ask = async (headers: object, body?: Buffer) => {
    const stream = session.request(headers as never)
    stream.end(body)
    const [head] = await once(stream, 'response')
    let text = ''
    for await (const chunk of stream) text += chunk
    return { head, text }
  }
  t.equal((await ask({ ':path': '/c/5' })).text, 'xxxxx')
  t.equal((await ask({ ':path': `/c/${3 * MIB}` })).text.length, 3 * MIB)
  const put = { ':path': '/c', ':method': 'PUT' }
  t.equal((await ask(put, Buffer.alloc(3 * MIB))).text, String(3 * MIB))
  t.equal((await ask({ ...put, 'content-length': 4 }, Buffer.from('abcd'))).text, '4')
  t.equal((await ask({ ':path': '/c/5', ':method': 'HEAD' })).head['content-length'], '5')
  t.equal((await ask({ ':path': '/nowhere' })).head[':status'], 404)
})

t.test('open uploads are bounded by the ledger', async (t) => {
  const { port } = await listening(t, echo, { ledger: new Ledger({ uploads: 1000 }) })
  const sent = request({ port, host: '127.0.0.1', method: 'PUT', path: '/c' }).end('abc')
  t.match(await answerTo(sent), { status: 503, body: /too many open uploads/ })
})
