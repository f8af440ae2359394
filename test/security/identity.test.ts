import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { credentials, type Metadata } from '@grpc/grpc-js'
import { hashSync } from 'bcryptjs'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import t, { type Test } from 'tap'
import { RELOAD_PERIOD_MS } from '../../src/files/reloaded-files.js'
import { codec } from '../../src/proto/codec.js'
import { hashOf } from '../../src/security/identity/credential.js'
import { FrameType } from '../../src/server/http2/frame/frame.js'
import { TestClient } from '../server/client.js'
import { frame, message, RawClient, requestBlock } from '../server/http2/raw-client.js'
import { CAPABILITIES, failure } from '../service/harness.js'
import { Authority } from '../tls/authority.js'
import { bearer, startGuarded, withHeaders } from './server.js'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** What a caller may do of executing and writing results, or how it is refused. */
const told = async (client: TestClient, metadata?: Metadata): Promise<string> => {
  const sent = metadata === undefined ? {} : { metadata }
  const asked = client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName: 'main' }, sent).response
  try {
    const { cacheCapabilities, executionCapabilities } = await asked
    const writes = cacheCapabilities.actionCacheUpdateCapabilities.updateEnabled
    return [writes ? 'writes' : 'reads', ...(executionCapabilities.execEnabled ? ['executes'] : [])].join(', ')
  } catch {
    const { code, message } = await failure(asked)
    return `${code}: ${message}`
  }
}

const READ = ['read_cas', 'read_ac']
const WRITE = [...READ, 'write_cas', 'write_ac']

t.test('GetCapabilities reports what the caller itself may do', async (t) => {
  const tokens = [
    { name: 'ci', sha256: sha256('a'), groups: ['writers'] },
    { name: 'builder', sha256: sha256('b') },
    { name: 'guest', sha256: sha256('c') },
  ]
  const access = [
    { anonymous: true, may: READ },
    { groups: ['writ*'], may: WRITE },
    { names: ['build*'], instances: ['m*'], may: [...WRITE, 'execute'] },
  ]
  const { client, said } = await startGuarded(t, { identity: { tokens }, access })
  t.equal(await told(client), 'reads')
  t.equal(await told(client, bearer('a')), 'writes')
  t.equal(await told(client, bearer('b')), 'writes, executes')
  t.equal(await told(client, bearer('c')), 'reads')
  t.match(await told(client, bearer('d')), /^UNAUTHENTICATED: the bearer token is not known here/, 'not as nobody')
  t.match(await told(client, withHeaders({ authorization: 'Digest x' })), /^UNAUTHENTICATED/)
  t.match(said.text, /GetCapabilities.*identity="token builder"/, 'the log says who called')
})

t.test('without rules identified callers may use caches and execution, and others nothing', async (t) => {
  const { client } = await startGuarded(t, { identity: { tokens: [{ name: 'ci', sha256: sha256('a') }] } })
  t.equal(await told(client, bearer('a')), 'writes, executes')
  t.match(await told(client), /^UNAUTHENTICATED/)
})

t.test('a file of tokens is read again when it changes', async (t) => {
  const file = `${t.testdir()}/tokens`
  writeFileSync(file, `# who may\nold ${sha256('old')} writers\n`)
  const { client, clock, said } = await startGuarded(t, { identity: { tokens_file: file } })
  t.equal(await told(client, bearer('old')), 'writes, executes')
  writeFileSync(file, `new ${sha256('new')}\nbroken\n`)
  clock.advance(RELOAD_PERIOD_MS)
  await said.hears(/cannot be used.*tokens_file, line 2: expected NAME SHA256/)
  t.equal(await told(client, bearer('old')), 'writes, executes')
  writeFileSync(file, `new ${sha256('new')}\n`)
  clock.advance(RELOAD_PERIOD_MS)
  await said.hears(/were read again/)
  t.equal(await told(client, bearer('new')), 'writes, executes')
  t.match(await told(client, bearer('old')), /^UNAUTHENTICATED/)
})

t.test('names and passwords of an htpasswd file', async (t) => {
  const file = `${t.testdir()}/htpasswd`
  writeFileSync(file, `ann:${hashSync('secret:1', 4)}\n`)
  const { client, clock, said } = await startGuarded(t, { identity: { htpasswd_file: file } })
  const basic = (text: string) => withHeaders({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  t.equal(await told(client, basic('ann:secret:1')), 'writes, executes')
  t.equal(await told(client, basic('ann:secret:1')), 'writes, executes', 'and again, from memory')
  const wrong = await told(client, basic('ann:secret'))
  t.match(wrong, /^UNAUTHENTICATED: the name or the password is wrong/)
  t.equal(await told(client, basic('bob:secret:1')), wrong, 'it does not show which names exist')
  writeFileSync(file, `ann:${hashSync('another', 4)}\n`)
  clock.advance(RELOAD_PERIOD_MS)
  await said.hears(/were read again/)
  t.match(await told(client, basic('ann:secret:1')), /^UNAUTHENTICATED/)
  writeFileSync(file, 'ann:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n')
  await t.rejects(startGuarded(t, { identity: { htpasswd_file: file } }), /htpasswd_file, line 1: expected NAME:HASH/)
  t.notMatch(said.text, /secret/, 'passwords are not in the log')
})

for (const transport of ['remexec', 'grpc-js']) {
  t.test(`${transport}: a client certificate, by its subject and by an alternative name`, async (t) => {
    const authority = new Authority(`${t.testdir()}/authority`)
    const server = authority.issue('server')
    const wishes = { subject: '/O=here/OU=writers/CN=ann', alternativeNames: 'DNS:ann.example,URI:spiffe://here/ann' }
    const ann = authority.issue('ann', wishes)
    const tls = { cert_file: server.certFile, key_file: server.keyFile, client_ca_file: authority.caFile }
    const http = { transport, tls: { ...tls, client_certificates: 'optional' } }
    const ask = async (client_certificates: object, rule: object, own = ann) => {
      const access = [{ ...rule, by: ['certificate'], may: READ }]
      const { port } = await startGuarded(t, { identity: { client_certificates }, access }, http)
      const secured = credentials.createSsl(authority.ca, own.key, own.cert)
      const client = new TestClient(`localhost:${port}`, {}, secured)
      t.teardown(() => client.close())
      return told(client)
    }
    t.equal(await ask({}, { names: ['ann'], groups: ['writers'] }), 'reads')
    t.equal(
      await ask({ name: 'uri', groups: 'organization' }, { names: ['spiffe://here/*'], groups: ['here'] }),
      'reads',
    )
    t.equal(await ask({ name: 'dns' }, { names: ['ann.example'] }), 'reads')
    t.match(await ask({ name: 'email' }, {}), /^UNAUTHENTICATED: the client certificate has no email/)
    t.match(await ask({}, { names: ['bob'] }), /^INVALID_ARGUMENT/)
  })
}

t.test('a header of a proxy, from trusted addresses only', async (t) => {
  const identity_header = { name: 'X-User', groups_name: 'x-groups', trusted: ['127.0.0.0/8', '::1'] }
  const access = [{ names: ['ann'], groups: ['ops'], by: ['header'], may: READ }]
  const headers = withHeaders({ 'x-user': 'ann', 'x-groups': 'dev, ops' })
  const near = await startGuarded(t, { identity: { identity_header }, access })
  t.equal(await told(near.client, headers), 'reads')
  t.match(await told(near.client, withHeaders({ 'x-user': 'bob' })), /^INVALID_ARGUMENT/)
  const far = await startGuarded(t, {
    identity: { identity_header: { ...identity_header, trusted: ['10.1.2.3'] } },
    access,
  })
  t.match(await told(far.client, headers), /^UNAUTHENTICATED/, 'nothing from others')
})

t.test('of several credentials the first decides: header, token, certificate', async (t) => {
  const folder = t.testdir()
  const authority = new Authority(`${folder}/authority`)
  const server = authority.issue('server')
  const own = authority.issue('ann', { subject: '/CN=ann' })
  writeFileSync(`${folder}/htpasswd`, `ben:${hashSync('secret', 4)}\n`)
  const tls = { cert_file: server.certFile, key_file: server.keyFile, client_ca_file: authority.caFile }
  const identity = {
    identity_header: { name: 'x-user', trusted: ['127.0.0.1', '::1'] },
    tokens: [{ name: 'ci', sha256: sha256('a') }],
    htpasswd_file: `${folder}/htpasswd`,
    client_certificates: {},
  }
  // The permissions show the identity.
  const access = [
    { by: ['header'], may: ['read_cas', 'execute'] },
    { by: ['token'], may: WRITE },
    { by: ['basic'], may: [...WRITE, 'execute'] },
    { by: ['certificate'], may: READ },
  ]
  const { port } = await startGuarded(t, { identity, access }, { tls })
  const client = new TestClient(`localhost:${port}`, {}, credentials.createSsl(authority.ca, own.key, own.cert))
  t.teardown(() => client.close())
  const basic = `Basic ${Buffer.from('ben:secret').toString('base64')}`
  const asks = (headers: Readonly<Record<string, string>>) => told(client, withHeaders(headers))
  t.equal(await asks({}), 'reads', 'the certificate')
  t.equal(await asks({ authorization: 'Bearer a' }), 'writes', 'the token before it')
  t.equal(await asks({ authorization: basic }), 'writes, executes', 'and so a password')
  t.equal(await asks({ 'x-user': 'zoe', authorization: 'Bearer a' }), 'reads, executes', 'the header before all')
  t.match(await asks({ authorization: 'Bearer b' }), /^UNAUTHENTICATED/, 'wrong credentials never count as none')
  t.match(await asks({ authorization: 'Bearer' }), /^UNAUTHENTICATED: the bearer token is empty/)
})

/** An issuer that issues tokens with the client credentials grant. */
const startIssuer = async (t: Test) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: 'one' }] },
    clients: [
      {
        client_id: 'ci',
        client_secret: 'of ci',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          scope: 'build',
          audience,
          accessTokenFormat: 'jwt' as const,
          accessTokenTTL: 600,
        }),
      },
    },
    extraTokenClaims: () => ({ groups: ['writers'], ref: 'refs/heads/main' }),
  })
  const asked: string[] = []
  server.on('request', (request, response) => {
    asked.push(String(request.url))
    provider.callback()(request, response)
  })
  const token = async (resource: string): Promise<string> => {
    const authorization = `Basic ${Buffer.from('ci:of%20ci').toString('base64')}`
    const body = new URLSearchParams({ grant_type: 'client_credentials', resource, scope: 'build' })
    const response = await fetch(`${issuer}/token`, { method: 'POST', headers: { authorization }, body })
    const { access_token } = (await response.json()) as { access_token: string }
    return access_token
  }
  return { issuer, token, asked, stop: () => server.close() }
}

t.test('tokens of an OIDC issuer, found by its discovery document', async (t) => {
  const { issuer, token, asked } = await startIssuer(t)
  const jwt = [{ issuer, audiences: ['urn:remexec'] }]
  const access = [{ names: ['ci'], groups: ['writers'], claims: { ref: 'refs/heads/*' }, by: ['jwt'], may: WRITE }]
  const { client, clock } = await startGuarded(t, { identity: { jwt }, access })
  const mine = await token('urn:remexec')
  t.equal(await told(client, bearer(mine)), 'writes')
  t.equal(await told(client, bearer(mine)), 'writes')
  t.equal(await told(client, bearer(await token('urn:remexec'))), 'writes')
  t.equal(asked.filter((path) => path === '/jwks').length, 1, 'the keys are kept')
  const elsewhere = await told(client, bearer(await token('urn:elsewhere')))
  t.match(elsewhere, /^UNAUTHENTICATED: the bearer token is not accepted: .*"aud"/)
  const [head, body, signature = ''] = mine.split('.')
  const forged = `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  t.match(await told(client, bearer(forged)), /^UNAUTHENTICATED: .*signature/)
  clock.advance(700_000)
  t.match(await told(client, bearer(mine)), /^UNAUTHENTICATED: .*"exp"/, 'no longer than it says')
})

t.test('keys in a file, several issuers, and invalid tokens', async (t) => {
  const folder = t.testdir()
  const [one, two] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')]
  const write = async (pair: typeof one) =>
    writeFileSync(`${folder}/jwks`, JSON.stringify({ keys: [await exportJWK(pair.publicKey)] }))
  await write(one)
  const jwt = [
    { issuer: 'us', audiences: ['a', 'b'], jwks_file: `${folder}/jwks`, name_claim: 'email' },
    { issuer: 'https://127.0.0.1:1', audiences: ['a'] },
  ]
  const { client, clock, said } = await startGuarded(t, { identity: { jwt } })
  const signed = (pair: typeof one, claims: object, issuer = 'us') =>
    new SignJWT({ email: 'ann@here', ...claims })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(issuer)
      .setAudience('b')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(pair.privateKey)
  const mine = await signed(one, {})
  t.equal(await told(client, bearer(mine)), 'writes, executes')
  t.match(await told(client, bearer(await signed(one, { email: 3 }))), /^UNAUTHENTICATED: .*claim email/)
  t.match(await told(client, bearer(await signed(two, {}))), /^UNAUTHENTICATED/)
  t.match(await told(client, bearer(await signed(one, {}, 'them'))), /^UNAUTHENTICATED/)
  t.match(
    await told(client, bearer(await signed(one, {}, 'https://127.0.0.1:1'))),
    /^UNAVAILABLE: the keys of the issuer/,
  )
  const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${mine.split('.')[1]}.`
  t.match(await told(client, bearer(none)), /^UNAUTHENTICATED/, 'alg none')
  const secret = Buffer.from(JSON.stringify(await exportJWK(one.publicKey)))
  const symmetric = new SignJWT({ email: 'x' }).setProtectedHeader({ alg: 'HS256' }).setIssuer('us').setAudience('a')
  t.match(await told(client, bearer(await symmetric.setExpirationTime('1h').sign(secret))), /^UNAUTHENTICATED/, 'HS256')
  await write(two)
  clock.advance(RELOAD_PERIOD_MS)
  await said.hears(/were read again/)
  t.match(await told(client, bearer(mine)), /^UNAUTHENTICATED/, 'a removed key, even for a cached token')
  t.equal(await told(client, bearer(await signed(two, {}))), 'writes, executes')
})

t.test('the page for people needs administer, the page for probes is open', async (t) => {
  const file = `${t.testdir()}/htpasswd`
  writeFileSync(file, `ann:${hashSync('a', 4)}\nbob:${hashSync('b', 4)}\n`)
  const access = [{ names: ['ann'], may: ['administer'] }]
  const { port } = await startGuarded(t, { identity: { htpasswd_file: file }, access })
  const statusOf = (path: string, auth?: string) =>
    new Promise<string>((resolve, reject) => {
      const request = httpRequest({ port, host: '127.0.0.1', path, ...(auth && { auth }) }, (response) => {
        response.resume()
        resolve(`${response.statusCode} ${response.headers['www-authenticate'] ?? ''}`.trim())
      })
      request.on('error', reject).end()
    })
  t.equal(await statusOf('/status'), '200')
  t.equal(await statusOf('/'), '401 Basic realm="remexec", charset="UTF-8"')
  t.equal(await statusOf('/', 'bob:b'), '403')
  t.equal(await statusOf('/', 'ann:a'), '200')
})

t.test('a browser sends a token as its password, under any name', async (t) => {
  const access = [{ names: ['ann'], may: ['administer'] }]
  const { port } = await startGuarded(t, { identity: { tokens: [{ name: 'ann', sha256: hashOf('t:1') }] }, access })
  const get = async (login: string) => {
    const authorization = `Basic ${Buffer.from(login).toString('base64')}`
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { authorization } })
    return `${answer.status} ${answer.status === 200 ? '' : await answer.text()}`.trim()
  }
  t.equal(await get('whoever:t:1'), '200')
  t.equal(await get(':t:1'), '200')
  t.equal(await get('t:1'), '401 the password is no token that is known here')
  t.equal(await get('ann:t'), '401 the password is no token that is known here')
})

t.test('unusable settings are reported at start by key, without secrets', async (t) => {
  const folder = t.testdir({ tokens: 'x y\n', jwks: '{}' })
  const fails = (identity: object, message: RegExp) => t.rejects(startGuarded(t, { identity }), { message })
  await fails({ tokens: [{ name: 'ci', sha256: 'my-token' }] }, /security.identity: tokens has no SHA-256 .*"ci"$/)
  await fails(
    { tokens_file: `${folder}/absent` },
    /security.identity: tokens_file: cannot open .*absent: there is no such/,
  )
  await fails({ tokens_file: `${folder}/tokens` }, /tokens_file, line 1: expected NAME SHA256/)
  await fails({ htpasswd_file: `${folder}/absent` }, /htpasswd_file: cannot open/)
  await fails(
    { jwt: [{ issuer: 'us', audiences: ['a'], jwks_file: `${folder}/jwks` }] },
    /jwks_file .* is not a JSON Web Key Set/,
  )
  await fails({ identity_header: { name: 'x', trusted: ['10.0.0.0/99'] } }, /"10.0.0.0\/99" is not an address/)
})

for (const transport of ['remexec', 'grpc-js']) {
  t.test(
    `${transport}: over HTTP/1 callers are identified by certificate and proxy too, and guesses are limited by address`,
    async (t) => {
      const folder = t.testdir()
      const authority = new Authority(`${folder}/authority`)
      const server = authority.issue('server')
      const ann = authority.issue('ann', { subject: '/CN=ann' })
      const tls = { cert_file: server.certFile, key_file: server.keyFile, client_ca_file: authority.caFile }
      const http = { transport, tls: { ...tls, client_certificates: 'optional' } }
      const identity_header = { name: 'x-user', trusted: ['127.0.0.1'] }
      const access = [{ names: ['ann'], may: ['administer'] }]
      const request_limits = [{ anonymous: true, requests_per_s: 0.001, burst: 2 }]
      const identity = { client_certificates: {}, identity_header }
      const { port } = await startGuarded(t, { identity, access, request_limits }, http)
      const page = (options: object) =>
        new Promise<number | undefined>((resolve, reject) => {
          const url = { port, host: 'localhost', path: '/', ca: authority.ca, family: 4, agent: false, ...options }
          httpsRequest(url, (response) => resolve(response.resume().statusCode))
            .on('error', reject)
            .end()
        })
      t.equal(await page({ key: ann.key, cert: ann.cert }), 200, 'by certificate')
      t.equal(await page({ headers: { 'x-user': 'ann' } }), 200, 'by a proxy')
      t.equal(await page({ headers: { 'x-user': 'bob' } }), 403)
      t.equal(await page({ headers: { 'x-user': ['ann', 'bob'] } }), 401, 'two headers identify no caller')
      const guess = (localAddress: string) => page({ localAddress, headers: { authorization: 'Bearer wrong' } })
      // Two more than the burst: of the three tries of one address the last is not judged at all.
      const answers = [await guess('127.0.0.2'), await guess('127.0.0.2'), await guess('127.0.0.2')]
      t.same(answers, [401, 401, 429])
      t.equal(await guess('127.0.0.3'), 401, 'another address has a bucket of its own')
    },
  )
}

t.test('two authorization headers, or two proxy headers, are refused', async (t) => {
  const tokens = [{ name: 'ci', sha256: sha256('a') }]
  const identity_header = { name: 'x-user', groups_name: 'x-groups', trusted: ['127.0.0.1'] }
  const { port } = await startGuarded(t, { identity: { tokens, identity_header } })
  const request = Buffer.from(
    codec('build.bazel.remote.execution.v2.GetCapabilitiesRequest').encode({ instanceName: 'main' }),
  )
  const ask = async (...headers: readonly (readonly [string, string])[]): Promise<string> => {
    const raw = await RawClient.greeted(port)
    raw.write(
      frame(FrameType.HEADERS, 4, 1, requestBlock(`/${CAPABILITIES}/GetCapabilities`, headers)),
      frame(FrameType.DATA, 1, 1, message(request)),
    )
    const heard = await raw.until(({ fields }) => 'grpc-status' in fields)
    raw.destroy()
    return `${heard?.fields['grpc-status']} ${decodeURIComponent(heard?.fields['grpc-message'] ?? '')}`.trim()
  }
  t.equal(await ask(['authorization', 'Bearer a']), '0')
  t.equal(await ask(['x-user', 'ann']), '0')
  const two = (name: string) => `16 the request has several ${name} headers, expected one`
  t.equal(await ask(['authorization', 'Bearer a'], ['authorization', 'Bearer b']), two('authorization'))
  t.equal(await ask(['authorization', 'Bearer a'], ['authorization', 'Bearer a']), two('authorization'))
  t.equal(await ask(['x-user', 'ann'], ['x-user', 'bob']), two('x-user'))
  t.equal(await ask(['x-user', 'ann'], ['x-groups', 'a'], ['x-groups', 'b']), two('x-groups'))
})
