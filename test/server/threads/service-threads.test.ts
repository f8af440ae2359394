import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:http2'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { credentials } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { textAnswer } from '../../../src/http/answer.js'
import { pageRoute, treeRoute } from '../../../src/http/request.js'
import type { Gate } from '../../../src/rpc/gate.js'
import type { RpcCall } from '../../../src/rpc/rpc.js'
import { type ListenOptions, listen } from '../../../src/server/listener.js'
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

  t.test('HTTP/1: pages and bodies in both directions, larger than what may be on its way', async (t) => {
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
    const port = Number(listener.address.split(':').at(-1))
    const ask = async (method: string, path: string, body?: Buffer): Promise<string> => {
      const asked = request({ port, host: '127.0.0.1', method, path })
      asked.end(body)
      const [response] = await once(asked, 'response')
      let text = ''
      for await (const chunk of response) text += chunk
      return text
    }
    t.equal(await ask('GET', '/page'), large.toString())
    t.equal(await ask('PUT', '/put/it', large), 'taken')
    t.same(taken, [large.length])
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

t.test('a thread that ends before it serves fails the start, and the others stop', async (t) => {
  const program = `
    import { parentPort } from 'node:worker_threads'
    parentPort.postMessage('ready')
    parentPort.on('message', ({ kind }) => { if (kind === 'end') throw new Error('a fault of the thread') })
  `
  const threads = await ServiceThreads.start({
    count: 2,
    program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
    data: undefined,
    onMessage: () => {},
  })
  const listener = threads.listener({} as ThreadListenerOptions)
  const started = threads.started(new Promise(() => {}))
  threads.tell((thread) => ({ message: { kind: thread === 1 ? 'end' : 'stay' }, ports: [] }))
  await t.rejects(started, {
    message: 'service thread 2 of 2 cannot start',
    cause: { message: 'a fault of the thread' },
  })
  const closed = listener.close(1000)
  await threads.stop()
  await closed
})

t.test('a thread whose program fails fails the start', async (t) => {
  const program = new URL(`data:text/javascript,${encodeURIComponent('throw new Error("no program")')}`)
  const options = { count: 3, program, data: undefined, onMessage: () => {} }
  const threads = await ServiceThreads.start(options)
  await t.rejects(threads.started(Promise.resolve()), {
    message: /service thread \d of 3 cannot start/,
    cause: { message: 'no program' },
  })
  await threads.stop()
})
