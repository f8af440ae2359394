import { once } from 'node:events'
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { get as httpsGet } from 'node:https'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { Client, credentials } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { ManualClock, systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { RELOAD_PERIOD_MS } from '../../src/files/reloaded-files.js'
import { silentLog } from '../../src/log/log.js'
import { expiryMs, openListenerTls } from '../../src/tls/listener-tls.js'
import { Authority } from './authority.js'
import { Lines } from './lines.js'

const CAPABILITIES = '/build.bazel.remote.execution.v2.Capabilities/GetCapabilities'

const asItIs = (bytes: Buffer): Buffer => bytes

/** A configured server with its own clock and log. */
const serve = async (t: Test, tls: object, transport: string) => {
  const text = JSON.stringify({
    stores: { CAS: { memory: { eviction_policy: { max_bytes: '1mb' } } }, AC: { noop: {} } },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0', transport, tls } },
        services: { cas: { '': { cas_store: 'CAS' } }, ac: { '': { ac_store: 'AC' } }, health: {} },
      },
    },
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const clock = new ManualClock(Date.now())
  const said = new Lines()
  const running = await assemble(config, { clock, log: said.log })
  t.teardown(() => running.close())
  const [first] = running.addresses
  return { port: Number(first?.address.split(':').at(-1)), clock, said, isSecure: first?.isSecure }
}

const capabilities = (client: Client): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(CAPABILITIES, asItIs, asItIs, Buffer.alloc(0), { deadline: Date.now() + 20_000 }, (e, b) =>
      e ? reject(e) : resolve(b),
    )
  })

/** Resolves with the connection once the server has responded on it; rejects if the server rejects it. */
const greeted = (port: number, options: ConnectionOptions): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: 'localhost', ALPNProtocols: ['h2'], ...options })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('closed')))
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0')
    socket.once('data', () => resolve(socket))
  })

for (const transport of ['remexec', 'grpc-js']) {
  t.test(`${transport}: gRPC, the health page and HTTP/2 with the configured certificate`, async (t) => {
    const authority = new Authority(t.testdir())
    const { certFile, keyFile } = authority.issue('server')
    const { port, isSecure } = await serve(t, { cert_file: certFile, key_file: keyFile }, transport)
    t.equal(isSecure, true)
    const client = new Client(`localhost:${port}`, credentials.createSsl(authority.ca))
    t.teardown(() => client.close())
    t.ok(((await capabilities(client)) ?? '').length > 10)
    const request = httpsGet({ port, host: 'localhost', path: '/status', ca: authority.ca, agent: false })
    const [response] = await once(request, 'response')
    t.equal(response.statusCode, 200)
    response.resume()
    const old = greeted(port, { ca: authority.ca, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' })
    await t.rejects(old, 'TLS 1.1 is not spoken')
  })

  t.test(`${transport}: a client without a valid certificate of the authority is rejected`, async (t) => {
    const folder = t.testdir()
    const authority = new Authority(`${folder}/own`)
    const [server, friend, foe] = ['server', 'friend', 'foe'].map((name) => authority.issue(name))
    const stranger = new Authority(`${folder}/other`).issue('stranger')
    if (!server || !friend || !foe) throw new Error('not issued')
    authority.revoke(foe)
    authority.writeRevocationList(`${folder}/crl.pem`)
    const files = { cert_file: server.certFile, key_file: server.keyFile, client_ca_file: authority.caFile }
    const tls = { ...files, client_crl_file: `${folder}/crl.pem` }
    const { port, said, clock } = await serve(t, tls, transport)
    const { ca } = authority
    const socket = await greeted(port, { ca, cert: friend.cert, key: friend.key })
    t.teardown(() => socket.destroy())
    await t.rejects(greeted(port, { ca }), 'none')
    await t.rejects(greeted(port, { ca, cert: stranger.cert, key: stranger.key }), 'of another authority')
    await t.rejects(greeted(port, { ca, cert: foe.cert, key: foe.key }), 'revoked')
    await said.hears(/a TLS handshake failed.*CERT_REVOKED/)

    authority.revoke(friend)
    authority.writeRevocationList(`${folder}/crl.pem`)
    clock.advance(RELOAD_PERIOD_MS)
    await said.hears(/certificates of server main were read again/)
    const session = socket.getSession()
    await t.rejects(greeted(port, { ca, cert: friend.cert, key: friend.key }), 'revoked since')
    await t.rejects(greeted(port, { ca, cert: friend.cert, key: friend.key, session }), 'nor by resuming its session')
  })

  t.test(`${transport}: with optional certificates a client may have none, but no invalid one`, async (t) => {
    const folder = t.testdir()
    const authority = new Authority(`${folder}/own`)
    const server = authority.issue('server')
    const stranger = new Authority(`${folder}/other`).issue('stranger')
    const files = { cert_file: server.certFile, key_file: server.keyFile, client_ca_file: authority.caFile }
    const { port } = await serve(t, { ...files, client_certificates: 'optional', min_version: '1.3' }, transport)
    const { ca } = authority
    for (const own of [{}, { cert: server.cert, key: server.key }]) {
      const socket = await greeted(port, { ca, ...own })
      socket.destroy()
    }
    await t.rejects(greeted(port, { ca, cert: stranger.cert, key: stranger.key }))
    await t.rejects(greeted(port, { ca, maxVersion: 'TLSv1.2' }), 'min_version')
  })

  t.test(`${transport}: new connections get a rotated certificate, open ones continue`, async (t) => {
    const folder = t.testdir()
    const [before, after] = [new Authority(`${folder}/before`), new Authority(`${folder}/after`)]
    const [cert_file, key_file] = [`${folder}/cert.pem`, `${folder}/key.pem`]
    const rotate = (authority: Authority): void => {
      const { certFile, keyFile } = authority.issue('server')
      copyFileSync(certFile, cert_file)
      copyFileSync(keyFile, key_file)
    }
    rotate(before)
    const { port, said, clock } = await serve(t, { cert_file, key_file }, transport)
    const client = new Client(`localhost:${port}`, credentials.createSsl(before.ca))
    t.teardown(() => client.close())
    await capabilities(client)

    copyFileSync(after.issue('half').certFile, cert_file)
    clock.advance(RELOAD_PERIOD_MS)
    await said.hears(/have changed and cannot be used.*key_file is not the key of the first certificate/)
    await capabilities(client)
    rotate(after)
    clock.advance(RELOAD_PERIOD_MS)
    await said.hears(/certificates of server main were read again/)
    await capabilities(client)
    t.equal(client.getChannel().getConnectivityState(false), 2, 'on the connection it had')
    t.notMatch(said.text, /handshake failed/)
    const fresh = await greeted(port, { ca: after.ca })
    fresh.destroy()
    await t.rejects(greeted(port, { ca: before.ca }))
  })
}

const startFailure = async (t: Test, tls: object): Promise<string> => {
  try {
    await serve(t, tls, 'remexec')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'it started'
}

t.test('unusable files are reported with their configuration key', async (t) => {
  const folder = t.testdir()
  const authority = new Authority(`${folder}/own`)
  const { certFile: cert_file, keyFile: key_file } = authority.issue('server')
  const other = authority.issue('other')
  const nonsense = `${folder}/nonsense.pem`
  writeFileSync(nonsense, 'no PEM')
  const of = 'server main: listener.http.tls'
  const absent = await startFailure(t, { cert_file: `${folder}/absent.pem`, key_file })
  t.match(absent, `${of}: cert_file: cannot open ${folder}/absent.pem: there is no such file`)
  t.match(await startFailure(t, { cert_file, key_file: other.keyFile }), `${of}: key_file is not the key of the first`)
  t.match(await startFailure(t, { cert_file, key_file: cert_file }), `${of}: key_file holds no PEM key`)
  t.match(await startFailure(t, { cert_file: nonsense, key_file }), `${of}: cert_file holds no PEM certificate`)
  const files = { cert_file, key_file }
  t.match(await startFailure(t, { ...files, client_ca_file: nonsense }), `${of}: client_ca_file holds no PEM cert`)
  const lists = { client_ca_file: authority.caFile, client_crl_file: nonsense }
  t.match(await startFailure(t, { ...files, ...lists }), `${of}: client_crl_file holds no PEM revocation list`)
})

t.test('the end of a certificate is known, and that of the next one after a change', async (t) => {
  const authority = new Authority(t.testdir())
  const { certFile: cert_file, keyFile: key_file } = authority.issue('server', { days: 40 })
  const parts = { of: 'server main', clock: systemClock, log: silentLog }
  const tls = { cert_file, key_file, client_certificates: 'optional', min_version: '1.2' } as const
  const open = async () => {
    const files = await openListenerTls({ ...parts, tls })
    files.close()
    return ((expiryMs(files.current) ?? 0) - Date.now()) / (24 * 3600 * 1000)
  }
  t.ok(Math.abs((await open()) - 40) < 0.1)
  const next = authority.issue('server', { days: 90 })
  await Promise.all([copyFile(next.certFile, cert_file), copyFile(next.keyFile, key_file)])
  t.ok(Math.abs((await open()) - 90) < 0.1)
  t.equal(expiryMs({}), undefined)
})

t.test('an expired certificate, and a key that everybody can read, cause warnings', async (t) => {
  const authority = new Authority(t.testdir())
  const { certFile: cert_file, keyFile: key_file } = authority.issue('server', { days: -1 })
  chmodSync(key_file, 0o644)
  const { said } = await serve(t, { cert_file, key_file }, 'remexec')
  t.match(said.text, /warn.*the certificate in cert_file has expired on/)
  t.match(said.text, /warn.*every user of this machine can read key_file: chmod o-r/)
})
