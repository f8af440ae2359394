/** What connections do to HTTP caches: TLS, certificates of clients, a thousand that are idle, and a proxy that was deceived. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, type RequestOptions, request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { scratchFolder } from '../../clients/scratch.js'
import { drawnBytes } from '../../drawn.js'
import { Authority, type Issued } from '../../tls/authority.js'
import { KIB, MIB, serveCaches, streamed } from './harness.js'

const ALL = ['read_cas', 'write_cas', 'read_ac', 'write_ac']
const CACHES = { '/c': { kind: 'opaque', instance_name: 'main' } }

const overTls = async (t: Test, clientCertificates: 'required' | 'optional') => {
  const authority = new Authority(join(await scratchFolder(t), 'authority'))
  const { certFile: cert_file, keyFile: key_file } = authority.issue('server', { alternativeNames: 'IP:127.0.0.1' })
  const tls = { cert_file, key_file, client_ca_file: authority.caFile, client_certificates: clientCertificates }
  const access = [
    { names: ['ann'], by: ['certificate'], may: ALL },
    { names: ['reader'], by: ['certificate'], may: ['read_cas', 'read_ac'] },
  ]
  const security = { identity: { client_certificates: {} }, access }
  const { address, said } = await serveCaches(t, CACHES, { listener: { tls }, security })
  const issue = (name: string): Issued => authority.issue(name, { subject: `/CN=${name}` })
  const port = Number(new URL(address).port)
  return {
    trust: { ca: await readFile(authority.caFile), host: '127.0.0.1', port },
    issue,
    said,
  }
}

const ask = async (options: RequestOptions, body?: Buffer | ReturnType<typeof streamed>) => {
  const sent = request(options)
  if (body === undefined || Buffer.isBuffer(body)) sent.end(body)
  else body.pipe(sent)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const { localPort } = response.socket
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, body: Buffer.concat(chunks), localPort }
}

t.test('over TLS with the certificate of the client: one connection, bodies of every length', async (t) => {
  const { trust, issue } = await overTls(t, 'required')
  const { cert, key } = issue('ann')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const ports = new Set<number | undefined>()
  for (const size of [0, 1, 5000, 300 * KIB, 5 * MIB]) {
    const bytes = drawnBytes(size)
    const options = { ...trust, cert, key, agent, path: `/c/${size}` }
    const put = await ask({ ...options, method: 'PUT', headers: { expect: '100-continue' } }, bytes)
    t.equal(put.status, 200)
    ports.add(put.localPort)
    t.equal((await ask({ ...options, method: 'PUT' }, streamed(bytes))).status, 200, 'without a length')
    t.ok((await ask(options)).body.equals(bytes), `${size} bytes`)
  }
  t.equal(ports.size, 1)
  const session = connectHttp2(`https://127.0.0.1:${trust.port}`, { ...trust, cert, key })
  t.teardown(() => session.destroy())
  const stream = session.request({ ':path': '/c/5000' })
  const [head] = await once(stream.end(), 'response')
  t.equal(head[':status'], 200, 'the same by HTTP/2, which the handshake chose')
})

t.test('a certificate says who may: none, one that may only read, one of another authority', async (t) => {
  const { trust, issue, said } = await overTls(t, 'optional')
  const put = (own: object) => ask({ ...trust, ...own, agent: false, method: 'PUT', path: '/c/k' }, Buffer.from('one'))
  const get = (own: object) => ask({ ...trust, ...own, agent: false, path: '/c/k' })
  const ofName = (name: string) => (({ cert, key }) => ({ cert, key }))(issue(name))
  t.equal((await put(ofName('ann'))).status, 200)
  const reader = ofName('reader')
  t.equal((await get(reader)).body.toString(), 'one')
  t.equal((await put(reader)).status, 403)
  t.equal((await get(ofName('bob'))).status, 403)
  t.equal((await get({})).status, 401)
  const stranger = new Authority(join(await scratchFolder(t), 'other')).issue('ann', { subject: '/CN=ann' })
  await t.rejects(get({ cert: stranger.cert, key: stranger.key }), 'no connection')
  t.match(said.text, /method="PUT \/c\/k".*identity="certificate ann"/)
})

t.test('without a certificate where one is required there is no connection', async (t) => {
  const { trust } = await overTls(t, 'required')
  await t.rejects(ask({ ...trust, agent: false, path: '/c/k' }))
})

const raw = async (port: number, text: string): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

t.test('a thousand connections that do nothing, half of them inside a request, hold nobody up', async (t) => {
  const { address, ask } = await serveCaches(t, CACHES)
  const port = Number(new URL(address).port)
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  const body = drawnBytes(MIB)
  t.equal((await ask('PUT', '/c/k', { body })).status, 200)
  for (let at = 0; at < 500; at++) {
    sockets.push(await raw(port, 'GET /c/none HTTP/1.1\r\nhost: x\r\n\r\n'), await raw(port, 'GET /c/k HTTP/1.1\r\nho'))
  }
  const idle = sockets.filter((_, at) => at % 2 === 0)
  await Promise.all(idle.map(async (socket) => t.match(String(await once(socket, 'data')), /^HTTP\/1.1 404/)))
  for (let at = 0; at < 20; at++) {
    t.equal((await ask('PUT', `/c/${at}`, { body })).status, 200)
    t.ok((await ask('GET', `/c/${at}`)).body.equals(body))
  }
  idle[499]?.write('GET /c/k HTTP/1.1\r\nhost: x\r\n\r\n')
  t.match(String(await once(idle[499] as Socket, 'data')), /^HTTP\/1.1 200/, 'an idle connection is served again')
  t.notOk(sockets.some(({ closed }) => closed))
})

t.test('a proxy that was deceived: its header cannot be sent twice, late, or in a second request', async (t) => {
  const security = {
    identity: { identity_header: { name: 'x-user', trusted: ['127.0.0.1'] } },
    access: [{ names: ['ann', 'root'], may: ALL }],
  }
  const { address, ask } = await serveCaches(t, CACHES, { security })
  const port = Number(new URL(address).port)
  const said = async (text: string): Promise<string> => {
    const socket = await raw(port, text)
    let all = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      all += chunk
    })
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('close', resolve))
    return all
  }
  const head = (method: string, ...lines: readonly string[]): string =>
    `${method} /c/k HTTP/1.1\r\nhost: x\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
  const own = 'x-user: ann'
  const smuggled = head('PUT', 'x-user: root', 'content-length: 3', 'connection: close')
  t.match(await said(`${head('PUT', own, 'content-length: 3', 'connection: close')}one`), /^HTTP\/1.1 200/)
  t.equal((await ask('DELETE', '/c/k', { headers: { 'x-user': 'ann' } })).status, 204)

  const close = 'connection: close'
  const length = 'content-length: 3'
  for (const [what, text, status] of [
    ['the header twice', `${head('PUT', own, 'x-user: root', length, close)}two`, 401],
    ['the header twice, in other letters', `${head('PUT', own, 'X-USER: root', length, close)}two`, 401],
    [
      'another authorization',
      `${head('PUT', 'authorization: Bearer a', 'authorization: Bearer b', length, close)}two`,
      401,
    ],
    ['an underscore for a dash', `${head('PUT', 'x_user: root', length, close)}two`, 401],
    ['a blank before the colon', `${head('PUT', 'x-user : root', length, close)}two`, 400],
    ['a line that goes on', `${head('PUT', 'x: y', ' x-user: root', length, close)}two`, 400],
    [
      'a trailer',
      `${head('PUT', 'transfer-encoding: chunked', 'trailer: x-user', close)}3\r\ntwo\r\n0\r\nx-user: root\r\n\r\n`,
      401,
    ],
    ['two lengths', `${head('PUT', own, length, 'content-length: 0')}${smuggled}two`, 400],
    ['a length and chunks', `${head('PUT', own, length, 'transfer-encoding: chunked')}0\r\n\r\n${smuggled}two`, 400],
    ['an unknown encoding', `${head('PUT', own, 'transfer-encoding: xchunked')}0\r\n\r\n${smuggled}two`, 400],
    ['chunks that are not last', `${head('PUT', own, 'transfer-encoding: chunked, gzip')}0\r\n\r\n${smuggled}two`, 400],
    [
      'a chunk with a wrong end',
      `${head('PUT', 'transfer-encoding: chunked')}3\r\ntwoX\r\n0\r\n\r\n${smuggled}two`,
      400,
    ],
    ['lines that end with LF alone', `${head('PUT', own, 'x: y\nx-user: root', length, close)}two`, 400],
    ['NUL in a header', `${head('PUT', 'x-user: ann\0root', length, close)}two`, 400],
  ] as const) {
    const answer = await said(text)
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), what)
    t.equal(answer.match(/HTTP\/1\.1 \d/g)?.length, 1, `${what}: one answer`)
    t.equal((await ask('GET', '/c/k', { headers: { 'x-user': 'ann' } })).status, 404, `${what}: nothing is stored`)
  }
})
