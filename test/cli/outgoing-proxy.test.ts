/** A server behind a proxy of its company: the keys of an issuer are asked for through it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createIssuer } from 'node:https'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { bearer } from '../security/server.js'
import { TestClient } from '../server/client.js'
import { CAS, failure } from '../service/harness.js'
import { Authority } from '../tls/authority.js'
import { listening, startProxy } from './connect-proxy.js'
import { serve } from './program.js'

/** A name that nobody but the proxy knows. */
const HOST = 'issuer.invalid'
const ISSUER = `https://${HOST}`

/** An issuer, and a proxy that leads to it. */
const startIssuer = async (t: Test, folder: string) => {
  const authority = new Authority(join(folder, 'authority'))
  const { certFile, keyFile } = authority.issue('issuer', { alternativeNames: `DNS:${HOST}` })
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig' }] })
  const found = JSON.stringify({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` })
  const issuer = createIssuer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, ({ url }, response) => {
    response.setHeader('content-type', 'application/json').end(url === '/keys' ? keys : found)
  })
  const issuerPort = await listening(t, issuer)
  const { asked, address } = await startProxy(t, () => issuerPort)
  const signed = new SignJWT({ sub: 'ann' }).setProtectedHeader({ alg: 'ES256' }).setIssuer(ISSUER).setAudience('x')
  const token = await signed.setIssuedAt().setExpirationTime('1h').sign(privateKey)
  return { asked, token, address, env: { NODE_EXTRA_CA_CERTS: authority.caFile } }
}

const CONFIG = JSON.stringify({
  stores: { CAS: { memory: {} } },
  security: {
    identity: { jwt: [{ issuer: ISSUER, audiences: ['x'] }] },
    access: [{ may: ['write_cas'], by: ['jwt'] }],
  },
  servers: [
    {
      name: 'public',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: { cas: [{ cas_store: 'CAS' }] },
    },
  ],
})

const answerOf = async (t: Test, config: string, token: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const server = serve(t, config, `${config}.data`, env)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const call = client.unary(`${CAS}/FindMissingBlobs`, {}, { metadata: bearer(token) }).response
  return call.then(
    () => 'admitted',
    async () => (await failure(call)).code,
  )
}

t.test('HTTPS_PROXY is used, and NO_PROXY names exceptions', async (t) => {
  const folder = t.testdir()
  const config = join(folder, 'c.json')
  writeFileSync(config, CONFIG)
  const { asked, token, address, env } = await startIssuer(t, folder)
  const proxied = { ...env, HTTPS_PROXY: address }
  t.equal(await answerOf(t, config, token, proxied), 'admitted')
  t.same(new Set(asked), new Set([`${HOST}:443`]))
  asked.length = 0
  t.equal(await answerOf(t, config, token, { ...proxied, NO_PROXY: '.invalid' }), 'UNAVAILABLE')
  t.equal(await answerOf(t, config, token, env), 'UNAVAILABLE', 'without a proxy nobody knows the issuer')
  t.same(asked, [])
})

t.test('a proxy that cannot be used ends the start', async (t) => {
  const server = serve(t, `${t.testdir({ 'c.json': CONFIG })}/c.json`, t.testdirName, { https_proxy: 'proxy:3128' })
  t.equal((await server.ended).code, 1)
  t.match(server.said(), /the variable https_proxy is no URL of a proxy: expected http:\/\/host:port/)
})
