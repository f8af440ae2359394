import { EventEmitter, once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { get } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { connect } from 'node:tls'
import { Client, credentials } from '@grpc/grpc-js'
import t from 'tap'
import { textAnswer } from '../../src/http/answer.js'
import { pageRoute } from '../../src/http/request.js'
import { textLog } from '../../src/log/log.js'
import { listen } from '../../src/server/listener.js'
import { certificate } from './certificate.js'

const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
const asItIs = (bytes: Buffer): Buffer => bytes

for (const transport of ['remexec', 'grpc-js'] as const) {
  t.test(`TLS: gRPC by ALPN, and HTTP/1.1 on the same port (${transport})`, async (t) => {
    const { key, cert } = certificate(t.testdir())
    const services = [
      { name: CAPABILITIES, unary: { GetCapabilities: async () => ({ highApiVersion: { major: 2 } }) } },
    ]
    const routes = [pageRoute('/status', async () => textAnswer(200, 'fine'), 'open')]
    const listener = await listen({ address: '127.0.0.1:0', transport, services, routes, tls: { key, cert } })
    const port = Number(listener.address.split(':').at(-1))
    const client = new Client(`localhost:${port}`, credentials.createSsl(cert))
    t.teardown(async () => {
      client.close()
      await listener.close(0)
    })
    const answer = await new Promise<Buffer | undefined>((resolve, reject) => {
      const path = `/${CAPABILITIES}/GetCapabilities`
      client.makeUnaryRequest(path, asItIs, asItIs, Buffer.alloc(0), (error, bytes) =>
        error ? reject(error) : resolve(bytes),
      )
    })
    t.ok(answer !== undefined && answer.length > 0)

    const [response] = await once(get({ port, host: 'localhost', path: '/status', ca: cert }), 'response')
    t.equal(response.statusCode, 200)
    response.resume()

    const session = connectHttp2(`https://localhost:${port}`, { ca: cert })
    await once(session, 'connect')
    t.equal(session.alpnProtocol, 'h2')
    session.destroy()

    const stranger = connect({ port, host: 'localhost', ca: cert, ALPNProtocols: ['spdy/3'] })
    t.match(await once(stranger, 'error'), [{ code: /ALPN|ECONNRESET|SSL/ }], 'an unknown protocol is refused')
  })
}

t.test('a client that does not speak TLS is in the log, and a probe that only connects is not', async (t) => {
  const { key, cert } = certificate(t.testdir())
  const lines: string[] = []
  const told = new EventEmitter()
  const log = textLog('warn', (line) => {
    lines.push(line)
    told.emit('line')
  })
  const listener = await listen({ address: '127.0.0.1:0', services: [], tls: { key, cert }, log })
  t.teardown(() => listener.close(0))
  const port = Number(listener.address.split(':').at(-1))
  const probe = connectTcp(port, '127.0.0.1')
  await once(probe, 'connect')
  probe.resetAndDestroy()
  const plain = connectTcp(port, '127.0.0.1', () => plain.write('GET / HTTP/1.1\r\n\r\n'))
  plain.on('error', () => {})
  if (lines.length === 0) await once(told, 'line')
  t.equal(lines.length, 1)
  t.match(lines[0], /a TLS handshake failed .*peer=127\.0\.0\.1 reason=/)
})
