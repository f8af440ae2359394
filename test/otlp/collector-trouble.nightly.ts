import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { DEFAULT, type Program, serve } from '../cli/program.js'
import { certificate } from '../server/certificate.js'
import { TestClient } from '../server/client.js'
import { blobOf, CAS, wire } from '../service/harness.js'

// For changes in: src/otlp

const STORED = blobOf(Buffer.from('a blob'))

/** Runs calls against a server whose collector behaves as given. */
const servesMeanwhile = async (t: Test, program: Program): Promise<void> => {
  const [, address = ''] = await program.hears(
    /serving grpc:\/\/(\S+?)"? .*public|"?remexec serving grpc:\/\/([^"]+)".*public/,
  )
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const asked = { blobDigests: [wire(STORED.digest)] }
  for (let call = 0; call < 50; call++) {
    const { missingBlobDigests } = await client.unary(`${CAS}/FindMissingBlobs`, asked).response
    t.equal(missingBlobDigests.length, 1)
  }
}

const port = async (t: Test, server: ReturnType<typeof createServer>): Promise<number> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

const ends = async (t: Test, program: Program): Promise<void> => {
  program.child.kill('SIGTERM')
  t.equal((await program.ended).code, 143)
}

for (const protocol of ['grpc', 'http/protobuf']) {
  const env = { OTEL_EXPORTER_OTLP_PROTOCOL: protocol, OTEL_METRIC_EXPORT_INTERVAL: '100' }

  t.test(`an unreachable collector is one log line and fails no call (${protocol})`, async (t) => {
    // The first export starts at once, and may time out after 100 ms without a rejection.
    const away = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_METRIC_EXPORT_INTERVAL: '10000' }
    const program = serve(t, DEFAULT, t.testdir(), { ...env, ...away })
    await servesMeanwhile(t, program)
    await program.hears(/metrics do not reach the collector.*ECONNREFUSED/)
    await ends(t, program)
    t.equal(program.said().match(/do not reach/g)?.length, 1, 'once')
  })

  t.test(`a silent collector delays neither calls nor the shutdown (${protocol})`, async (t) => {
    const silent = await port(t, createServer())
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${silent}`, OTEL_EXPORTER_OTLP_TIMEOUT: '300' }
    const program = serve(t, DEFAULT, t.testdir(), { ...env, ...endpoint })
    await servesMeanwhile(t, program)
    await program.hears(/metrics do not reach the collector/)
    await ends(t, program)
  })

  const traces = { ...env, OTEL_METRICS_EXPORTER: 'none', OTEL_TRACES_EXPORTER: 'otlp', OTEL_BSP_SCHEDULE_DELAY: '20' }

  t.test(`an unreachable trace collector is one log line and fails no call (${protocol})`, async (t) => {
    // The export is retried until its timeout.
    const away = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '2000' }
    const program = serve(t, DEFAULT, t.testdir(), { ...traces, ...away })
    await servesMeanwhile(t, program)
    await program.hears(/traces do not reach the collector.*ECONNREFUSED/)
    await ends(t, program)
    t.equal(program.said().match(/do not reach/g)?.length, 1, 'once')
  })

  t.test(`a silent trace collector delays neither calls nor the shutdown (${protocol})`, async (t) => {
    const silent = await port(t, createServer())
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${silent}`, OTEL_EXPORTER_OTLP_TIMEOUT: '300' }
    const program = serve(t, DEFAULT, t.testdir(), { ...traces, ...endpoint })
    await servesMeanwhile(t, program)
    await program.hears(/traces do not reach the collector/)
    await ends(t, program)
  })

  t.test(`a collector with an untrusted certificate is logged (${protocol})`, async (t) => {
    const tls = await port(t, createTlsServer(certificate(t.testdir())))
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `https://127.0.0.1:${tls}` }
    const program = serve(t, DEFAULT, t.testdir({ data: {} }), { ...env, ...endpoint })
    await program.hears(/metrics do not reach the collector.*certificate/)
    await ends(t, program)
  })
}

t.test('invalid variables are logged at start, and the server still starts', async (t) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317', OTEL_METRIC_EXPORT_INTERVAL: 'soon' }
  const program = serve(t, DEFAULT, t.testdir(), env)
  await program.hears(/OTEL_EXPORTER_OTLP_ENDPOINT.*expected http:\/\/host:port/)
  await program.hears(/OTEL_METRIC_EXPORT_INTERVAL.*expected milliseconds/)
  await servesMeanwhile(t, program)
})
