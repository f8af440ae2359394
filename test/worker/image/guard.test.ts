import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTls } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { internalCall } from '../../../src/rpc/call.js'
import { Authority } from '../../tls/authority.js'
import { SYSTEM, setUpImages, whyNot } from './set-up.js'

const skip = await whyNot()
const named = (value: string) => [{ name: 'container-image', value }]

/** A proxy of the network, which leads to one address whatever it is asked for. */
const proxyTo = async (t: Test, port: () => number): Promise<{ readonly url: string; readonly asked: string[] }> => {
  const asked: string[] = []
  const server: Server = createServer()
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    const upstream = connect(port(), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    for (const one of [socket, upstream]) one.on('error', () => one.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

t.test('a registry that nobody listed cannot lead the worker to its own network', { skip }, async (t) => {
  const { registry, images } = await setUpImages(t, { registries: [] })
  const authority = new Authority(join(t.testdir({}), 'ca'))
  const issued = authority.issue('registry', {
    subject: '/CN=registry.example',
    alternativeNames: 'DNS:registry.example',
  })
  // The connection closes behind each answer, whose last bytes are still under way then.
  const secure = createTls(issued, (request, response) => {
    response.shouldKeepAlive = false
    registry.answer(request, response)
  })
  const secret: string[] = []
  const secretServer = createServer((request, response) => {
    secret.push(request.url ?? '')
    response.end('secret')
  })
  for (const server of [secure, secretServer]) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
  }
  const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port
  const proxy = await proxyTo(t, () => portOf(secure))
  const before = { ...process.env }
  // The machine of the test may have a proxy of its own, or names that are reached without one.
  for (const name of Object.keys(before)) if (/_proxy$/i.test(name)) delete process.env[name]
  Object.assign(process.env, { HTTPS_PROXY: proxy.url, SSL_CERT_FILE: authority.caFile })
  t.teardown(() => {
    for (const name of Object.keys(process.env)) delete process.env[name]
    Object.assign(process.env, before)
  })

  const first = registry.push('a', '1', { layers: [SYSTEM] })
  const image = `docker://registry.example/a@${first}`
  const used = await images.use(named(image), internalCall())
  t.equal(used?.digest, first, 'fetched by the proxy of the network')
  used?.release()
  t.same(new Set(proxy.asked), new Set(['registry.example:443']))

  const second = registry.push('a', '2', { layers: [SYSTEM, [{ path: 'second', content: 'x' }]] })
  const target = `docker://registry.example/a@${second}`
  for (const [to, expected] of [
    [`http://127.0.0.1:${portOf(secretServer)}/latest/meta-data`, { code: 14 }],
    [`http://localhost:${portOf(secretServer)}/latest/meta-data`, { code: 14 }],
    ['https://10.1.2.3/internal', { code: 9, message: /leads elsewhere, and 10\.1\.2\.3 is no public address/ }],
    ['http://169.254.169.254/latest/meta-data', { code: 9, message: /leads elsewhere/ }],
  ] as const) {
    registry.fault = (request, response) => {
      if (request.url?.includes('/blobs/') !== true) return false
      response.writeHead(307, { location: to }).end()
      return true
    }
    await t.rejects(images.use(named(target), internalCall()), expected, to)
  }
  t.same(secret, [], 'nobody asked the service of this machine')
  t.same(new Set(proxy.asked), new Set(['registry.example:443']), 'nor, by the proxy, one of its network')

  for (const host of ['127.0.0.1:1', '10.0.0.1', '[::1]:5000', 'localhost:5000', '169.254.169.254'])
    await t.rejects(
      images.use(named(`docker://${host}/a:1`), internalCall()),
      { code: 9, message: /no public address/ },
      host,
    )
})
