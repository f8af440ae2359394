import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { isAlive, openCandidate } from '../../conformance/exam/candidate.js'
import type { ReportDocument } from '../../conformance/report/document.js'
import type { Check } from '../../conformance/requirements/check.js'
import { runChecks } from '../../conformance/run/runner.js'
import { frame } from '../../conformance/wire/bare-call.js'
import { codec } from '../../src/proto/codec.js'
import { conformance } from './program.js'

// Servers that are none, real sockets: the suite must say in one line what is there, and never wait for long.
// For changes in: conformance, src/proto

t.jobs = 12

/** A server that keeps silent is waited for in real time. */
const PATIENCE = 0.2

const settings = {
  patience: PATIENCE,
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

/** Gives a byte every 100 ms for as long as it is taken. */
const trickle = (take: (byte: Buffer) => unknown): void => {
  const timer = setInterval(() => {
    if (take(Buffer.from('x')) === false) clearInterval(timer)
  }, 100)
  timer.unref()
}

const CASES: readonly [string, () => Server, string, RegExp][] = [
  ['an HTTP/1 server', () => createHttpServer((_, response) => response.end('hi')), 'grpc', /an HTTP\/1 server/],
  ['a TLS server asked in plaintext', () => createTlsServer(), 'grpc', /try grpcs:\/\//],
  ['a plaintext server asked over TLS', () => createHttpServer(), 'grpcs', /does not speak TLS there: try grpc:/],
  ['a server that never speaks', () => createServer(), 'grpc', /does not answer/],
  ['a server that never answers a TLS hello', () => createServer(), 'grpcs', /no TLS handshake within 1 s/],
  ['a server that hangs up', () => createServer((socket) => socket.destroy()), 'grpc', /closed the connection/],
  ['a server that talks garbage', () => createServer((socket) => socket.end('SSH-2.0-OpenSSH_9')), 'grpc', /SSH-2\.0/],
  ['a server that resets at connect', () => createServer((socket) => socket.resetAndDestroy()), 'grpc', /^\S+: \w/],
  [
    'a server that resets at the first bytes',
    () => createServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
    'grpc',
    /closed the connection after the preface/,
  ],
  [
    'a server that sends one byte at a time',
    () => createServer((socket) => trickle((byte) => socket.writable && socket.write(byte))),
    'grpc',
    /does not speak plaintext HTTP\/2|does not answer/,
  ],
  ['a server that hangs up on a TLS hello', () => createServer((socket) => socket.destroy()), 'grpcs', /closed|TLS/],
  [
    'an HTTP/2 server that never answers a call',
    () => createHttp2Server((request) => request.resume()),
    'grpc',
    /GetCapabilities did not succeed: DEADLINE_EXCEEDED/,
  ],
  [
    'an HTTP/2 server that resets every call',
    () => createHttp2Server((_, answer) => answer.stream.close(2)),
    'grpc',
    /GetCapabilities did not succeed: INTERNAL/,
  ],
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
    // The suite disconnects as soon as it knows enough.
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
const fakeServer = (answer: Buffer, rest: (stream: ServerHttp2Stream, path: string) => void) => {
  const server = createHttp2Server()
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    if (!String(headers[':path']).endsWith('/GetCapabilities')) {
      rest(stream, String(headers[':path']))
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
const examined = async (
  t: Test,
  rest: (stream: ServerHttp2Stream, stop: () => void) => void,
  checks: Check[],
  patience = PATIENCE,
) => {
  const server = fakeServer(frame(capabilities), (stream) =>
    rest(stream, () => {
      server.close()
      stream.session?.destroy()
    }),
  )
  const address = `grpc://127.0.0.1:${await listening(t, server)}`
  const candidate = await openCandidate({ ...settings, patience, address })
  t.teardown(() => candidate.client.close())
  const results = await runChecks(checks, candidate, {
    concurrency: 1,
    missing: () => undefined,
    isAlive: () => isAlive(candidate),
    onResult: () => {},
  })
  return { results, verdicts: results.map(({ verdict }) => verdict), reason: candidate.patience.reason }
}

t.test('a check that gets no answer ends at its deadline, and the others go on', async (t) => {
  const silent: Check = {
    ...check('FMB-01', async (exam) => void (await exam.missing([exam.digest(exam.random(5))]))),
    deadlineMs: 300,
  }
  const { verdicts, results, reason } = await examined(t, () => {}, [silent, check('FMB-02', async () => {})])
  t.same(verdicts, ['fail', 'pass'])
  t.match(results[0]?.reason, /within 60 ms; found none: the server did not answer/)
  t.equal(reason, undefined)
})

t.test('a server that dies ends the exam', async (t) => {
  const asking = async (exam: Parameters<Check['run']>[0]) => void (await exam.missing([exam.digest(exam.random(5))]))
  const { verdicts, reason } = await examined(t, (_, stop) => stop(), [
    check('FMB-01', asking),
    check('FMB-02', asking),
    check('FMB-05', asking),
  ])
  t.same(verdicts, ['crash', 'skip', 'skip'])
  t.match(reason, /stopped answering in mid-run/)
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

t.test('a server that never stops sending ends the call, not the memory', async (t) => {
  const message = frame(Buffer.concat([Buffer.from([0x52, 0x80, 0x80, 0x40]), Buffer.alloc(1 << 20)]))
  const { results } = await examined(
    t,
    (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      const fill = (): void => {
        while (!stream.destroyed && stream.write(message)) {}
      }
      stream.on('drain', fill)
      fill()
    },
    [
      check('BSR-01', async (exam) => {
        exam.expectCode(await exam.read('blobs/x/1'), 'OK')
      }),
    ],
    1,
  )
  t.match(results, [{ verdict: 'fail', reason: /responses that decode; found more than \d+ bytes/ }])
})

t.test('a server whose answer trickles in is cut off at the deadline', async (t) => {
  const { results } = await examined(
    t,
    (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      trickle((byte) => !stream.destroyed && stream.write(byte))
    },
    [
      check('BSR-01', async (exam) => {
        exam.expectCode(await exam.read('blobs/x/1', { deadlineMs: 700 }), 'OK')
      }),
    ],
  )
  t.match(results, [{ verdict: 'fail', reason: /expected OK; found/ }])
})

t.test('a server that answers GetCapabilities and hangs in all else', async (t) => {
  const server = fakeServer(frame(capabilities), () => {})
  const address = `grpc://127.0.0.1:${await listening(t, server)}`
  const { code, stdout, stderr } = await conformance(
    address,
    '--patience',
    `${PATIENCE}`,
    '--quiet',
    '--format',
    'json',
  )
  t.equal(code, 2)
  t.match(
    stderr,
    /^grpc:\S+: the server accepts connections and does not answer: \w+, [^\n]* did not answer in a row\n$/,
  )
  const { results } = JSON.parse(stdout) as ReportDocument
  t.ok(results.length > 300, 'the report is written all the same')
  t.ok(
    results.every(({ verdict, reason }) => verdict === 'skip' && reason !== ''),
    'and says why nothing was examined',
  )
})

t.test('a server that hangs in one method, and knows no other, is examined to the end', async (t) => {
  const server = fakeServer(frame(capabilities), (stream, path) => {
    if (!path.endsWith('/FindMissingBlobs')) {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true })
    }
  })
  const address = `grpc://127.0.0.1:${await listening(t, server)}`
  const { code, stdout } = await conformance(
    address,
    '--patience',
    `${PATIENCE}`,
    '--quiet',
    '--format',
    'json',
    '--only',
    'FMB,BRB,BSW,CAP',
  )
  t.equal(code, 1)
  const { results } = JSON.parse(stdout) as ReportDocument
  const verdicts = new Map(results.map(({ id, verdict }) => [id, verdict]))
  const reasons = new Map(results.map(({ id, reason }) => [id, reason]))
  // FMB-01 and BRB-01 both upload first, and the method for that is missing once.
  for (const id of ['FMB-01', 'BSW-01']) t.equal(verdicts.get(id), 'fail', id)
  t.equal(verdicts.get('BRB-01'), 'skip')
  t.match(reasons.get('BRB-01'), /BatchUpdateBlobs is not implemented; see FMB-01/)
  t.ok(
    results.some(({ verdict, reason }) => verdict === 'fail' && /DEADLINE_EXCEEDED|did not answer/.test(reason)),
    'what hangs is told too',
  )
  t.equal(verdicts.get('CAP-02'), 'chosen')
})

t.test('a run that takes too long ends with the results so far', async (t) => {
  const server = fakeServer(frame(capabilities), () => {})
  const address = `grpc://127.0.0.1:${await listening(t, server)}`
  const { code, stdout, stderr } = await conformance(address, '--only', 'FMB', '--time-limit', '1')
  t.equal(code, 2)
  t.match(stderr, /: the run took more than 1 s \(--time-limit\)\n$/)
  t.match(stdout, /checks in/)
})

t.test('an error of the suite itself is reported as such', async (t) => {
  const broken = check('FMB-01', async () => {
    throw new TypeError('undefined is not a function')
  })
  const { results } = await examined(t, () => {}, [broken, check('FMB-02', async () => {})])
  t.match(results, [{ verdict: 'broken', reason: 'TypeError: undefined is not a function' }, { verdict: 'pass' }])
})
