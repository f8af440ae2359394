import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:http2'
import { createServer, connect as netConnect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { textAnswer } from '../../../src/http/answer.js'
import { pageRoute, treeRoute } from '../../../src/http/request.js'
import type { Gate } from '../../../src/rpc/gate.js'
import type { RpcCall } from '../../../src/rpc/rpc.js'
import { type ListenOptions, listen } from '../../../src/server/listener.js'
import type { ThreadChannel } from '../../../src/server/threads/channel.js'
import { descriptorTaker } from '../../../src/server/threads/descriptor.js'
import { ServiceThreads } from '../../../src/server/threads/service-threads.js'
import type { ThreadListenerOptions } from '../../../src/server/threads/thread-listener.js'
import { pour } from '../../../src/stream/blob/pour.js'
import { loader, programAt } from '../../built.js'
import { until } from '../../until.js'
import { certificate } from '../certificate.js'
import { TestClient } from '../client.js'
import { startThreads } from '../threads.js'

const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
const GET = `${CAPABILITIES}/GetCapabilities`

t.test('service threads', async (t) => {
  const threaded = await startThreads(2)
  t.teardown(() => threaded.stop())

  const serving = async (t: Test, options: Partial<ListenOptions> = {}) => {
    const calls: RpcCall[] = []
    const answer = async (_: object, call: RpcCall) => {
      calls.push(call)
      return { highApiVersion: { major: 2 } }
    }
    const services = [{ name: CAPABILITIES, unary: { GetCapabilities: answer } }]
    const listener = await listen({ address: '127.0.0.1:0', services, ...threaded.options, ...options })
    t.teardown(() => listener.close(1000))
    return { listener, calls }
  }

  const connected = async (t: Test, address: string, count: number): Promise<TestClient[]> => {
    const clients: TestClient[] = []
    for (let opened = 0; opened < count; opened++) {
      const client = new TestClient(address, { 'grpc.use_local_subchannel_pool': 1 })
      t.teardown(() => client.close())
      await client.unary(GET, {}).response
      clients.push(client)
    }
    return clients
  }

  t.test('a new connection goes to the thread with the fewest', async (t) => {
    const { listener } = await serving(t)
    const clients = await connected(t, listener.address, 8)
    t.same(threaded.options.threads.connectionCounts, [4, 4])
    // Those of one thread leave.
    for (const client of clients.filter((_, at) => at % 2 === 0)) client.close()
    await until(() => threaded.options.threads.connectionCounts.reduce((sum, count) => sum + count) <= 4)
    await connected(t, listener.address, 4)
    t.same(threaded.options.threads.connectionCounts, [4, 4])
  })

  t.test('the memory of a connection is given back when it is closed', async (t) => {
    const { listener } = await serving(t)
    const [client] = await connected(t, listener.address, 1)
    client?.close()
    await until(() => !threaded.options.threads.connectionCounts.some((count) => count > 0))
    const { kinds } = threaded.options.ledger
    t.same(
      Object.values(kinds).map(({ heldBytes }) => heldBytes),
      Object.values(kinds).map(() => 0),
    )
  })

  t.test('an answer of the owner that waits for the client is counted once', async (t) => {
    const sizeBytes = 2 * 1024 * 1024
    const large = async () => ({ highApiVersion: { prerelease: 'x'.repeat(sizeBytes) } })
    const { listener } = await serving(t, { services: [{ name: CAPABILITIES, unary: { GetCapabilities: large } }] })
    const session = connect(`http://${listener.address}`, { settings: { initialWindowSize: 0 } })
    t.teardown(() => session.destroy())
    const headers = { 'content-type': 'application/grpc', te: 'trailers' }
    const asked = session.request({ ':method': 'POST', ':path': `/${GET}`, ...headers })
    asked.end(Buffer.alloc(5))
    // The thread has the whole answer now.
    await once(asked, 'response')
    const { answers } = threaded.options.ledger.kinds
    await until(
      () => answers.heldBytes <= 1.2 * sizeBytes,
      () => `${answers.heldBytes} bytes for an answer of ${sizeBytes}`,
    )
    t.ok(answers.heldBytes >= sizeBytes, `${answers.heldBytes} bytes`)
  })

  t.test('the owner sees the address and the certificate of a client', async (t) => {
    const folder = t.testdir({ renewed: {} })
    const { key, cert } = certificate(folder)
    const tls = { key, cert, ca: cert, requestCert: true, rejectUnauthorized: false }
    const subjects: (string | undefined)[] = []
    const visitor = { identity: 'x', nameInResults: undefined, may: () => true, maySeeOrigins: () => true }
    const trusted = { scopeIn: () => undefined }
    const known = { ...visitor, ...trusted, isOperator: true, forwards: true, demand: () => {}, check: () => {} }
    const gate: Gate = {
      admit: (_, { clientCertificate }) => {
        subjects.push(clientCertificate?.subject)
        return known
      },
      admitCaller: () => known,
      admitOperator: async () => known,
    }
    const { listener, calls } = await serving(t, { tls, gate })
    const address = listener.address.replace('127.0.0.1', 'localhost')
    const client = new TestClient(address, {}, credentials.createSsl(cert, key, cert))
    t.teardown(() => client.close())
    await client.unary(GET, {}).response
    t.match(calls[0]?.peer, /^127\.0\.0\.1:\d+$/)
    const renewed = certificate(`${folder}/renewed`)
    listener.renewTls({ key: renewed.key, cert: renewed.cert })
    await turn()
    const other = new TestClient(address, {}, credentials.createSsl(renewed.cert))
    t.teardown(() => other.close())
    await other.unary(GET, {}).response
    t.same(subjects, ['CN=localhost', undefined])
    t.equal(calls.length, 2, 'new handshakes show the new certificate')
  })

  /** A client with a connection of its own. It tries again while the server has too many. */
  const clientOf = (t: Test, address: string, trust?: ChannelCredentials): TestClient => {
    const options = { 'grpc.use_local_subchannel_pool': 1, 'grpc.initial_reconnect_backoff_ms': 100 }
    const client = new TestClient(address, options, trust)
    t.teardown(() => client.close())
    return client
  }

  const patient = (): { readonly metadata: Metadata } => {
    const metadata = new Metadata()
    metadata.setOptions({ waitForReady: true })
    return { metadata }
  }

  const portOf = ({ address }: { readonly address: string }): number => Number(address.split(':').at(-1))

  t.test('HTTP/1 is served by the owner, and gRPC of the same listener in threads', async (t) => {
    const large = Buffer.alloc(3 * 1024 * 1024, 'x')
    const taken: number[] = []
    const routes = [
      pageRoute('/page', async () => textAnswer(200, large.toString()), 'open'),
      treeRoute(
        '/put',
        async (asked) => {
          let bytes = 0
          const take = async (chunk: Buffer): Promise<void> => {
            bytes += chunk.length
          }
          await pour(await asked.body.take(), take, asked.signal)
          taken.push(bytes)
          return textAnswer(200, 'taken')
        },
        'open',
      ),
    ]
    const { listener } = await serving(t, { routes })
    const port = portOf(listener)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    const ask = async (method: string, path: string, body?: Buffer): Promise<string> => {
      const asked = request({ port, host: '127.0.0.1', method, path, agent })
      asked.end(body)
      const [response] = await once(asked, 'response')
      let text = ''
      for await (const chunk of response) text += chunk
      return text
    }
    t.equal(await ask('GET', '/page'), large.toString())
    t.equal(await ask('PUT', '/put/it', large), 'taken')
    t.same(taken, [large.length])
    t.same(threaded.options.threads.connectionCounts, [0, 0], 'no thread has the connection')
    await connected(t, listener.address, 2)
    t.same(threaded.options.threads.connectionCounts, [1, 1])
  })

  const serveTls = async (t: Test, options: Partial<ListenOptions> = {}) => {
    const { key, cert } = certificate(t.testdir())
    const routes = [pageRoute('/page', async () => textAnswer(200, 'a page'), 'open')]
    return { ...(await serving(t, { routes, tls: { key, cert }, ...options })), ca: cert }
  }

  t.test('over TLS, threads have the clients that offer HTTP/2 alone, and all get what they ask for', async (t) => {
    const { listener, ca } = await serveTls(t)
    const port = portOf(listener)
    const over = async (ALPNProtocols: string[] | undefined): Promise<TLSSocket> => {
      const socket = tlsConnect({ port, host: 'localhost', ca, ...(ALPNProtocols && { ALPNProtocols }) })
      t.teardown(() => socket.destroy())
      await once(socket, 'secureConnect')
      return socket
    }
    const inThreads = (): number => threaded.options.threads.connectionCounts.reduce((sum, count) => sum + count)
    const pageOver1 = async (socket: TLSSocket): Promise<string> => {
      socket.write('GET /page HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
      let text = ''
      for await (const chunk of socket) text += chunk
      return text
    }
    const over2 = async (socket: TLSSocket): Promise<readonly (number | undefined)[]> => {
      const session = connect(`https://localhost:${port}`, { createConnection: () => socket })
      t.teardown(() => session.destroy())
      const headers = { ':method': 'POST', ':path': `/${GET}`, 'content-type': 'application/grpc', te: 'trailers' }
      const [page, call] = [session.request({ ':path': '/page' }), session.request(headers)]
      call.end(Buffer.alloc(5))
      const answers = await Promise.all([page, call].map((each) => once(each, 'response')))
      const trailers = once(call, 'trailers')
      call.resume()
      const [{ 'grpc-status': status }] = (await trailers) as [{ 'grpc-status': string }]
      return [...answers.map(([head]) => head[':status']), Number(status)]
    }
    t.match(await pageOver1(await over(undefined)), /200 OK.*a page/s)
    t.match(await pageOver1(await over(['http/1.1'])), /200 OK.*a page/s)
    t.same(await over2(await over(['h2', 'http/1.1'])), [200, 200, 0])
    t.equal(inThreads(), 0, 'browsers, and build tools that speak both')
    t.same(await over2(await over(['h2'])), [200, 200, 0])
    t.equal(inThreads(), 1)
    for (const offered of [['h2'], ['h2', 'http/1.1']])
      t.equal(
        await pageOver1(await over(offered)).catch(() => ''),
        '',
        'who agreed on HTTP/2 and speaks HTTP/1 is closed',
      )
  })

  t.test('first bytes that come one by one', async (t) => {
    const { listener } = await serving(t)
    const trickled = async (text: string): Promise<Buffer> => {
      const socket = netConnect(portOf(listener), '127.0.0.1')
      t.teardown(() => socket.destroy())
      socket.setNoDelay(true)
      const answer = once(socket, 'data')
      for (const byte of Buffer.from(text, 'latin1')) {
        socket.write(Buffer.from([byte]))
        await turn()
      }
      return (await answer)[0] as Buffer
    }
    const settings = '\0\0\0\u0004\0\0\0\0\0'
    t.equal((await trickled(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settings}`)).readUInt8(3), 4, 'settings of HTTP/2')
    t.match((await trickled('GET /none HTTP/1.1\r\nhost: x\r\n\r\n')).toString(), /^HTTP\/1\.1 404/)
  })

  t.test('connections whose first bytes do not come are closed, and counted no more', async (t) => {
    const hello = Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252])
    const preface = Buffer.from('PRI * HT')
    const bounds = { firstBytesMs: 200, connections: { maxConnections: 2, maxConnectionsPerAddress: 0 } }
    const plain = await serving(t, bounds)
    const overTls = await serveTls(t, bounds)
    for (const [{ listener }, begun] of [[plain, preface] as const, [overTls, hello] as const]) {
      const begin = (bytes: Buffer) => {
        const socket = netConnect(portOf(listener), '127.0.0.1')
        socket
          .on('error', () => {})
          .resume()
          .write(bytes)
        return once(socket, 'close')
      }
      await Promise.all([begin(Buffer.alloc(0)), begin(begun)])
      await begin(Buffer.alloc(100))
      const trust = listener === plain.listener ? undefined : credentials.createSsl(overTls.ca)
      const address = listener.address.replace('127.0.0.1', 'localhost')
      for (const client of [clientOf(t, address, trust), clientOf(t, address, trust)])
        await client.unary(GET, {}, patient()).response
    }
  })

  t.test('a client that leaves after its first bytes is counted no more', async (t) => {
    const { listener } = await serving(t, { connections: { maxConnections: 2, maxConnectionsPerAddress: 0 } })
    for (const text of ['', 'PRI * HT', 'GET / HTT', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'nonsense'])
      for (const leave of ['end', 'resetAndDestroy'] as const) {
        const socket = netConnect(portOf(listener), '127.0.0.1').on('error', () => {})
        await once(socket, 'connect')
        socket.write(text)
        const closed = once(socket.resume(), 'close')
        socket[leave]()
        await closed
      }
    await until(() => threaded.options.threads.connectionCounts.every((count) => count === 0))
    for (const client of [clientOf(t, listener.address), clientOf(t, listener.address)])
      await client.unary(GET, {}, patient()).response
  })

  t.test('a stop closes connections that have said nothing', async (t) => {
    const { listener } = await serving(t, { firstBytesMs: 600_000 })
    const socket = netConnect(portOf(listener), '127.0.0.1')
    await once(socket, 'connect')
    const gone = once(socket.resume(), 'close')
    // It is accepted before the next one.
    await connected(t, listener.address, 1)
    await Promise.all([listener.close(600_000), gone])
  })

  t.test('a listener on a unix socket', async (t) => {
    // The path of a socket is short.
    const folder = mkdtempSync(join(tmpdir(), 'remexec-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const { listener, calls } = await serving(t, { address: `unix:${folder}/socket` })
    const client = new TestClient(listener.address)
    t.teardown(() => client.close())
    await client.unary(GET, {}).response
    t.equal(calls[0]?.peer, 'unix')
  })

  t.test('connections beyond the bound of the listener are refused', async (t) => {
    const { listener } = await serving(t, { connections: { maxConnections: 2, maxConnectionsPerAddress: 0 } })
    const [first] = await connected(t, listener.address, 2)
    const third = new TestClient(listener.address, { 'grpc.use_local_subchannel_pool': 1 })
    t.teardown(() => third.close())
    await t.rejects(third.unary(GET, {}).response, { code: 14 })
    first?.close()
    await until(() => threaded.options.threads.connectionCounts.reduce((sum, count) => sum + count) <= 1)
    await connected(t, listener.address, 1)
  })

  t.test('drain: a call in progress ends, and its connection is closed', async (t) => {
    let go = (): void => {}
    let begun = (): void => {}
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const slow = async () => {
      await new Promise<void>((resolve) => {
        go = resolve
        begun()
      })
      return {}
    }
    const { listener } = await serving(t, { services: [{ name: CAPABILITIES, unary: { GetCapabilities: slow } }] })
    const client = new TestClient(listener.address)
    t.teardown(() => client.close())
    const { response } = client.unary(GET, {})
    await hasBegun
    const closed = listener.close(5000)
    go()
    await response
    await closed
    t.same(threaded.options.threads.connectionCounts, [0, 0])
  })
})

t.test('the descriptor of a client that has left is not taken', async (t) => {
  const server = createServer({ pauseOnConnect: true })
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  const asked = request({ port, host: '127.0.0.1' }).on('error', () => {})
  const [socket] = await once(server, 'connection')
  socket.destroy()
  await once(socket, 'close')
  t.equal(descriptorTaker()(socket), undefined)
  asked.destroy()
})

for (const [how, end, text] of [
  ['an error that nobody catches', 'throw new Error("a fault of the thread")', /a fault of the thread/],
  ['process.exit', 'process.exit(3)', /it ended with code 3/],
] as const)
  t.test(`a thread that ends by ${how} ends the process`, async (t) => {
    const program = programAt(new URL('losing-threads.ts', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, [...loader, program, end], {
      encoding: 'utf8',
      timeout: 30_000,
    })
    t.equal(status, 1)
    t.match(stderr, /a service thread ended, and the process with it/)
    t.match(stderr, text)
  })

t.test('a thread that ends or fails before it serves fails the start, and the others stop', async (t) => {
  const program = `
    import { parentPort } from 'node:worker_threads'
    const failure = { code: 13, message: 'internal error', details: [], cause: { message: 'no room', stack: '' } }
    const exhausted = { ...failure, cause: { message: 'Out of memory: 1 byte', stack: '' } }
    parentPort.on('message', ([kind, question]) => {
      if (kind === 'end') throw new Error('a fault of the thread')
      if (kind === 'fail') parentPort.postMessage([1, question, 1, failure])
      if (kind === 'exhaust') parentPort.postMessage([1, question, 1, exhausted])
    })
  `
  const cannot = 'service thread 2 of 2 cannot start'
  for (const [kind, error] of [
    ['end', { message: cannot, cause: { message: 'a fault of the thread' } }],
    ['fail', { message: cannot, cause: { message: 'no room' } }],
    [
      'exhaust',
      { code: 8, message: /^service thread 2 of 2 cannot start: .* no more memory \(Out of memory: 1 byte\)/ },
    ],
  ] as const) {
    const channels: ThreadChannel<Ending>[] = []
    const threads = await ServiceThreads.start<object, Ending>({
      count: 2,
      program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
      data: undefined,
      hear: (thread) => {
        channels.push(thread)
        return {}
      },
    })
    const started = threads.started(async (thread) => channels[thread]?.ask(thread === 1 ? kind : 'stay'))
    await t.rejects(started, error)
    const listener = threads.listener({} as ThreadListenerOptions)
    const closed = listener.close(1000)
    await threads.stop()
    await closed
  }
})

interface Ending {
  end(): Promise<void>
  fail(): Promise<void>
  exhaust(): Promise<void>
  stay(): Promise<void>
}

t.test('a thread whose program fails fails the start', async (t) => {
  const program = new URL(`data:text/javascript,${encodeURIComponent('throw new Error("no program")')}`)
  const threads = await ServiceThreads.start({ count: 3, program, data: undefined, hear: () => ({}) })
  await t.rejects(
    threads.started(() => new Promise(() => {})),
    { message: /service thread \d of 3 cannot start/, cause: { message: 'no program' } },
  )
  await threads.stop()
})
