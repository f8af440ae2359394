import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { isAlive, openCandidate } from '../../conformance/candidate.js'
import type { Check } from '../../conformance/check.js'
import { runChecks } from '../../conformance/runner.js'
import { frame } from '../../conformance/wire.js'
import { codec } from '../../src/proto/codec.js'

// Servers that are none, real sockets: the suite must say in one line what is there, and never wait for long.

t.jobs = 12

const settings = {
  instanceName: '',
  properties: [],
  headers: {},
  tls: {},
}

const listening = async (t: Test, server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

const refusal = async (address: string): Promise<string> => {
  try {
    const candidate = await openCandidate({ ...settings, address })
    candidate.client.close()
    return 'a candidate'
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'TargetError') throw error
    return error.message
  }
}

const CASES: readonly [string, () => Server, string, RegExp][] = [
  ['an HTTP/1 server', () => createHttpServer((_, response) => response.end('hi')), 'grpc', /an HTTP\/1 server/],
  ['a TLS server asked in plaintext', () => createTlsServer(), 'grpc', /try grpcs:\/\//],
  ['a plaintext server asked over TLS', () => createHttpServer(), 'grpcs', /does not speak TLS there: try grpc:/],
  ['a server that never speaks', () => createServer(), 'grpc', /keeps silent/],
  ['a server that never answers a TLS hello', () => createServer(), 'grpcs', /no TLS handshake within 5 s/],
  ['a server that hangs up', () => createServer((socket) => socket.destroy()), 'grpc', /closed the connection/],
  ['a server that talks garbage', () => createServer((socket) => socket.end('SSH-2.0-OpenSSH_9')), 'grpc', /SSH-2\.0/],
  [
    'an HTTP/2 server without gRPC',
    () => createHttp2Server((_, answer) => answer.writeHead(404).end()),
    'grpc',
    /GetCap/,
  ],
]

for (const [name, create, scheme, expected] of CASES) {
  t.test(name, async (t) => {
    const server = create()
    // The suite leaves as soon as it knows enough, and Node tells the server so.
    server.on('connection', (socket) => socket.on('error', () => {}))
    server.on('tlsClientError', () => {})
    const message = await refusal(`${scheme}://127.0.0.1:${await listening(t, server)}`)
    t.match(message, expected)
    t.notMatch(message, /\n/, 'one line')
  })
}

t.test('an address where nothing listens', async (t) => {
  const server = createServer()
  const port = await listening(t, server)
  server.close()
  await once(server, 'close')
  t.match(await refusal(`grpc://127.0.0.1:${port}`), /connection refused/)
})

t.test('an address that is none', async (t) => {
  for (const address of ['127.0.0.1:50051', 'http://127.0.0.1:1', 'grpc://', 'grpc://host:99999']) {
    t.match(await refusal(address), /expected grpc:\/\/host:port/, address)
  }
  t.match(await refusal('grpc://no-such-host.invalid:1'), /does not resolve/)
})

t.test('a file that is not there', async (t) => {
  const failing = openCandidate({ ...settings, tls: { ca: 'no/such.pem' }, address: 'grpcs://127.0.0.1:1' })
  await t.rejects(failing, { name: 'TargetError', message: /--tls-ca no\/such\.pem: ENOENT/ })
})

const capabilities = codec('build.bazel.remote.execution.v2.ServerCapabilities').encode({
  cacheCapabilities: { digestFunctions: [1] },
})

/** Answers GetCapabilities with these bytes, and leaves everything else to `rest`. */
const fakeServer = (answer: Buffer, rest: (stream: ServerHttp2Stream) => void) => {
  const server = createHttp2Server()
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    if (!String(headers[':path']).endsWith('/GetCapabilities')) {
      rest(stream)
      return
    }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(answer)
  })
  return server
}

t.test('a server whose capabilities do not decode, and one that gives none', async (t) => {
  const garbage = await listening(
    t,
    fakeServer(frame(Buffer.alloc(20, 0xff)), () => {}),
  )
  t.match(await refusal(`grpc://127.0.0.1:${garbage}`), /GetCapabilities did not succeed: its answer does not decode/)
  const none = await listening(
    t,
    fakeServer(Buffer.alloc(0), () => {}),
  )
  t.match(await refusal(`grpc://127.0.0.1:${none}`), /it ended without an answer/)
})

const check = (id: string, run: Check['run']): Check => ({ id, sends: `a check of ${id} that stands for others`, run })

/** Runs these checks, one after the other, against a server that does `rest` with every call but GetCapabilities. */
const examined = async (t: Test, rest: (stream: ServerHttp2Stream, stop: () => void) => void, checks: Check[]) => {
  const server = fakeServer(frame(capabilities), (stream) =>
    rest(stream, () => {
      server.close()
      stream.session?.destroy()
    }),
  )
  const address = `grpc://127.0.0.1:${await listening(t, server)}`
  const candidate = await openCandidate({ ...settings, address })
  t.teardown(() => candidate.client.close())
  const run = await runChecks(checks, candidate, {
    concurrency: 1,
    missing: () => undefined,
    isAlive: () => isAlive(candidate),
    onResult: () => {},
  })
  return { ...run, verdicts: run.results.map(({ verdict }) => verdict) }
}

t.test('a check that gets no answer ends at its deadline, and the others go on', async (t) => {
  const silent: Check = {
    ...check('FMB-01', async (exam) => void (await exam.missing([exam.digest(exam.random(5))]))),
    deadlineMs: 300,
  }
  const { verdicts, results, isGone } = await examined(t, () => {}, [silent, check('FMB-02', async () => {})])
  t.same(verdicts, ['fail', 'pass'])
  t.match(results[0]?.reason, /within 300 ms; found none: the server kept silent/)
  t.equal(isGone, false)
})

t.test('a server that dies ends the exam', async (t) => {
  const asking = async (exam: Parameters<Check['run']>[0]) => void (await exam.missing([exam.digest(exam.random(5))]))
  const { verdicts, isGone } = await examined(t, (_, stop) => stop(), [
    check('FMB-01', asking),
    check('FMB-02', asking),
    check('FMB-04', asking),
  ])
  t.same(verdicts, ['fail', 'skip', 'skip'])
  t.equal(isGone, true)
})

t.test('streams that are reset, and answers that do not decode, are findings', async (t) => {
  const asking = async (exam: Parameters<Check['run']>[0]) => void (await exam.missing([exam.digest(exam.random(5))]))
  const reset = await examined(t, (stream) => stream.close(2), [check('FMB-01', asking)])
  t.same(reset.verdicts, ['fail'])
  const garbage = await examined(
    t,
    (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.end(frame(Buffer.alloc(9, 0xff)))
    },
    [check('FMB-01', asking)],
  )
  t.match(garbage.results[0]?.reason, /expected responses that decode/)
})

t.test('a slip of the suite is told as such', async (t) => {
  const broken = check('FMB-01', async () => {
    throw new TypeError('undefined is not a function')
  })
  const { results } = await examined(t, () => {}, [broken, check('FMB-02', async () => {})])
  t.match(results, [{ verdict: 'broken', reason: 'TypeError: undefined is not a function' }, { verdict: 'pass' }])
})
