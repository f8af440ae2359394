import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { credentials, Metadata } from '@grpc/grpc-js'
import { hashSync } from 'bcryptjs'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { ManualClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { RELOAD_PERIOD_MS } from '../../src/files/reloaded-files.js'
import { silentLog } from '../../src/log/log.js'
import type { Caller } from '../../src/rpc/gate.js'
import { readCredential } from '../../src/security/identity/credential.js'
import type { Identity } from '../../src/security/identity/identity.js'
import { Security } from '../../src/security/security.js'
import { KnownCallers } from '../../src/security/thread-gate.js'
import { Resources } from '../../src/work/resources.js'
import { TestClient } from '../server/client.js'
import { failure } from '../service/harness.js'
import { Authority } from '../tls/authority.js'
import { until } from '../until.js'
import { bearer, withHeaders } from './server.js'

// The same access control at every number of threads: some callers are admitted in a service thread, the others by the owner.

const REAPI = 'build.bazel.remote.execution.v2'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hash = sha256('a blob')
const digest = { hash, sizeBytes: 6 }

const SECURITY = {
  identity: {
    tokens: [
      { name: 'reader', sha256: sha256('token-of-reader') },
      { name: 'writer', sha256: sha256('token-of-writer'), groups: ['ci'] },
      { name: 'limited', sha256: sha256('token-of-limited') },
    ],
    identity_header: { name: 'x-user', groups_name: 'x-groups', trusted: ['127.0.0.1'] },
  },
  access: [
    { anonymous: true, may: ['read_ac'], instances: ['open'] },
    { names: ['reader', 'limited', 'filed', 'user'], may: ['read_cas', 'read_ac'], instances: ['main'] },
    { groups: ['ci'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac'] },
    { by: ['certificate'], may: ['read_cas'], instances: ['main'] },
  ],
  request_limits: [{ names: ['limited'], requests_per_s: 0.001, burst: 5 }],
}

const configOf = (
  folder: string,
  threads: number,
  security: object | undefined,
  http: object = {},
  instances: readonly object[] = [],
) => {
  const store = (name: string) => ({ filesystem: { content_path: `${folder}/${name}`, temp_path: `${folder}/temp` } })
  const each = (options: object) => ({ main: options, open: options })
  const text = JSON.stringify({
    global: { threads },
    stores: { CAS: store('cas'), AC: store('ac') },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0', ...http } },
        services: {
          cas: each({ cas_store: 'CAS' }),
          ac: each({ ac_store: 'AC' }),
          bytestream: { main: { cas_store: 'CAS' } },
        },
      },
    },
    ...{ instances, security },
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  return config
}

const start = async (t: Test, folder: string, threads: number, security: object, http?: object) => {
  const config = configOf(folder, threads, security, http)
  const clock = new ManualClock(Date.now())
  const running = await assemble(config, { clock, log: silentLog })
  const address = running.addresses[0]?.address ?? ''
  const client = new TestClient(address)
  t.teardown(async () => {
    client.close()
    await running.close()
  })
  return { client, clock, address, running }
}

const CALLS: Readonly<
  Record<string, (client: TestClient, metadata: Metadata, instanceName: string) => Promise<unknown>>
> = {
  find: (client, metadata, instanceName) =>
    client.unary(
      `${REAPI}.ContentAddressableStorage/FindMissingBlobs`,
      { instanceName, blobDigests: [digest] },
      {
        metadata,
      },
    ).response,
  update: (client, metadata, instanceName) =>
    client.unary(
      `${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`,
      { instanceName, requests: [{ digest, data: Buffer.from('a blob') }] },
      { metadata },
    ).response,
  result: (client, metadata, instanceName) =>
    client.unary(`${REAPI}.ActionCache/GetActionResult`, { instanceName, actionDigest: digest }, { metadata }).response,
  status: (client, metadata, instanceName) =>
    client.unary(
      'google.bytestream.ByteStream/QueryWriteStatus',
      { resourceName: `${instanceName}/uploads/00000000-0000-4000-8000-000000000000/blobs/${hash}/6` },
      { metadata },
    ).response,
  capabilities: (client, metadata, instanceName) =>
    client.unary(`${REAPI}.Capabilities/GetCapabilities`, { instanceName }, { metadata }).response,
}

const basic = (name: string, password: string): Metadata =>
  withHeaders({ authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` })
const twice = bearer('token-of-writer')
twice.add('authorization', 'Bearer token-of-reader')

const CALLERS: Readonly<Record<string, Metadata>> = {
  nobody: new Metadata(),
  reader: bearer('token-of-reader'),
  writer: bearer('token-of-writer'),
  'one of the file': bearer('token-of-filed'),
  'a token as password': basic('any', 'token-of-reader'),
  'a wrong token': bearer('wrong'),
  'a password': basic('user', 'secret'),
  'a wrong password': basic('user', 'wrong'),
  'a proxy': withHeaders({ 'x-user': 'someone', 'x-groups': 'ci, others' }),
  'a proxy for nobody': withHeaders({ 'x-user': '' }),
  'two tokens': twice,
  limited: bearer('token-of-limited'),
}

t.test('callers, instances and methods are judged the same with one thread and with several', async (t) => {
  const root = t.testdir({ 1: {}, 2: {} })
  const answers = async (threads: number): Promise<{ rows: string[]; audited: string[] }> => {
    const folder = `${root}/${threads}`
    const files = { tokens_file: `${folder}/tokens`, htpasswd_file: `${folder}/htpasswd` }
    writeFileSync(files.tokens_file, `filed ${sha256('token-of-filed')}\n`)
    writeFileSync(files.htpasswd_file, `user:${hashSync('secret', 4)}\n`, { mode: 0o600 })
    const audit = `${folder}/audit`
    const security = { ...SECURITY, identity: { ...SECURITY.identity, ...files }, audit_log: { path: audit } }
    const { client, running } = await start(t, folder, threads, security)
    const rows: string[] = []
    for (const [who, metadata] of Object.entries(CALLERS))
      for (const instance of ['main', 'open', 'none'])
        for (const [call, ask] of Object.entries(CALLS)) {
          const { code, message } = await failure(ask(client, metadata, instance))
          rows.push(`${who} ${instance} ${call}: ${code} ${message}`.replace(/\d+ ms/, 'N ms'))
        }
    client.close()
    await running.close()
    const audited = readFileSync(audit, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { time: _, peer: __, ...about } = JSON.parse(line)
        return JSON.stringify(about).replace(/\d+ ms/, 'N ms')
      })
    return { rows, audited }
  }
  const [one, several] = [await answers(1), await answers(2)]
  t.same(several.rows, one.rows)
  // Those of a thread and those of the owner may pass each other.
  t.same(several.audited.sort(), one.audited.sort())
  t.ok(one.rows.some((row) => row.startsWith('writer main update: OK')))
  t.ok(one.rows.some((row) => row.startsWith('limited') && row.includes('RESOURCE_EXHAUSTED')))
  t.equal(new Set(one.rows.map((row) => row.split(' ').at(4))).size > 4, true)
})

t.test('a thread admits callers by token, proxy and certificate, and leaves all others to the owner', (t) => {
  const { security } = configOf(t.testdirName, 2, SECURITY)
  if (security === undefined) throw new Error('there is access control')
  const { identity, access, scopes, request_limits: limits, callers_in_results: callersInResults } = security
  const tokens = [
    new Map(identity.tokens.map(({ name, sha256: key, groups }) => [key, { kind: 'token', name, groups }])),
  ]
  const share = { header: identity.identity_header, certificates: undefined, access, scopes, limits, callersInResults }
  const verified = { jwt: [], passwords: [] }
  const callers = new KnownCallers({ ...share, verified, tokens: tokens as never, audit: undefined }, new ManualClock())
  const known = (): readonly string[] =>
    Object.entries(CALLERS).flatMap(([who, sent]) => {
      const metadata = new Map(Object.entries(sent.getMap()))
      const repeats = (name: string): boolean => sent.get(name).length > 1
      const caller: Caller = { metadata, repeats, peer: '127.0.0.1:1', clientCertificate: undefined }
      return callers.has(caller) ? [who] : []
    })
  const before = ['nobody', 'reader', 'writer', 'a token as password', 'a proxy', 'a proxy for nobody']
  t.same(known(), before)
  const { hash: ofPassword } = readCredential(String(CALLERS['a password']?.get('authorization')[0]))
  const user: Identity = { kind: 'basic', name: 'user', groups: [] }
  const checked = { hash: ofPassword, identity: user, untilMs: Number.POSITIVE_INFINITY }
  callers.learn('jwt', checked)
  t.same(known(), before, 'what is right as a JWT is no password')
  callers.learn('passwords', checked)
  t.same(known().toSorted(), [...before, 'a password'].toSorted())
  t.end()
})

t.test('threads learn of other tokens and of other rules', async (t) => {
  const folder = t.testdir()
  const tokens_file = `${folder}/tokens`
  writeFileSync(tokens_file, `filed ${sha256('token-of-filed')}\n`)
  const security = { ...SECURITY, identity: { ...SECURITY.identity, tokens_file }, request_limits: [] }
  const { client, clock, running } = await start(t, folder, 2, security)
  const codeOf = async (token: string, call = 'find'): Promise<string> =>
    (await failure(CALLS[call]?.(client, bearer(token), 'main') as Promise<unknown>)).code
  const becomes = async (token: string, call: string, code: string): Promise<void> => {
    let last = ''
    await until(
      async () => {
        last = await codeOf(token, call)
        if (last !== code) clock.advance(RELOAD_PERIOD_MS)
        return last === code
      },
      () => `${token}, ${call}: ${code}, but ${last}`,
    )
  }
  t.equal(await codeOf('token-of-filed'), 'OK')
  t.equal(await codeOf('token-of-new'), 'UNAUTHENTICATED')
  writeFileSync(tokens_file, `another ${sha256('token-of-new')} ci\n`)
  await becomes('token-of-new', 'update', 'OK')
  await becomes('token-of-filed', 'find', 'UNAUTHENTICATED')
  t.equal(await codeOf('token-of-reader', 'update'), 'PERMISSION_DENIED')
  const access = [...SECURITY.access, { names: ['reader'], may: ['write_cas'] }]
  await running.reload(configOf(t.testdirName, 2, { ...security, access }))
  await becomes('token-of-reader', 'update', 'OK')
  await running.reload(configOf(t.testdirName, 2, { ...security, access: SECURITY.access }))
  await becomes('token-of-reader', 'update', 'PERMISSION_DENIED')
})

t.test(
  'threads know JWTs and passwords once they were checked, until the files of keys and passwords change',
  async (t) => {
    const folder = t.testdir()
    const htpasswd_file = `${folder}/htpasswd`
    const jwks_file = `${folder}/keys`
    const writePasswords = (password: string): void =>
      writeFileSync(htpasswd_file, `user:${hashSync(password, 4)}\n`, { mode: 0o600 })
    const newKey = async (kid: string) => {
      const { publicKey, privateKey } = await generateKeyPair('ES256')
      writeFileSync(jwks_file, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid }] }))
      const token = await new SignJWT({ sub: 'user' })
        .setProtectedHeader({ alg: 'ES256', kid })
        .setIssuer('https://idp.example')
        .setAudience('us')
        .setExpirationTime('1h')
        .sign(privateKey)
      return bearer(token)
    }
    writePasswords('secret')
    const [byPassword, byJwt] = [basic('user', 'secret'), await newKey('first')]
    const identity = { htpasswd_file, jwt: [{ issuer: 'https://idp.example', audiences: ['us'], jwks_file }] }
    const { client, clock } = await start(t, folder, 2, { identity, access: SECURITY.access })
    const codeOf = async (metadata: Metadata): Promise<string> =>
      (await failure(CALLS['find']?.(client, metadata, 'main') as Promise<unknown>)).code
    for (const metadata of [byPassword, byJwt])
      for (let time = 0; time < 3; time++) t.equal(await codeOf(metadata), 'OK')
    const becomes = async (metadata: Metadata, code: string): Promise<void> => {
      await until(async () => {
        const isSo = (await codeOf(metadata)) === code
        if (!isSo) clock.advance(RELOAD_PERIOD_MS)
        return isSo
      }, code)
    }
    writePasswords('another')
    await becomes(byPassword, 'UNAUTHENTICATED')
    t.equal(await codeOf(basic('user', 'another')), 'OK')
    t.equal(await codeOf(byJwt), 'OK')
    const later = await newKey('second')
    await becomes(byJwt, 'UNAUTHENTICATED')
    t.equal(await codeOf(later), 'OK')
  },
)

t.test('what was checked is told to threads, and is no longer told when the file has changed', async (t) => {
  const folder = t.testdir()
  const htpasswd_file = `${folder}/htpasswd`
  writeFileSync(htpasswd_file, `user:${hashSync('secret', 4)}\n`, { mode: 0o600 })
  const { security: options } = configOf(folder, 2, { identity: { htpasswd_file } })
  if (options === undefined) throw new Error('there is access control')
  const clock = new ManualClock(Date.now())
  const resources = new Resources(silentLog)
  // The process that checks passwords keeps no other process alive.
  const alive = setInterval(() => {}, 1000)
  t.teardown(async () => {
    clearInterval(alive)
    await resources.close()
  })
  const security = await Security.open(options, { clock, log: silentLog, resources })
  const told: string[] = []
  security.onVerified = (kind, { identity }) => void told.push(`${kind} ${identity.name}`)
  const gate = security.gateOf({ services: [], scheduler: undefined })
  const metadata = new Map(Object.entries(basic('user', 'secret').getMap()))
  const caller: Caller = { metadata, repeats: () => false, peer: '127.0.0.1:1', clientCertificate: undefined }
  for (let time = 0; time < 2; time++) await gate.admitCaller(caller, { method: 'GET', target: '/' })
  t.same(told, ['passwords user'])
  t.match(security.threadShare.verified, { jwt: [], passwords: [{ identity: { name: 'user' } }] })
  let isRenewed = false
  security.onRenewed = () => {
    isRenewed = true
  }
  writeFileSync(htpasswd_file, `user:${hashSync('another', 4)}\n`)
  await until(() => {
    clock.advance(RELOAD_PERIOD_MS)
    return isRenewed
  }, 'other passwords')
  t.same(security.threadShare.verified, { jwt: [], passwords: [] })
})

t.test('a thread knows callers by their certificate', async (t) => {
  const folder = t.testdir()
  const authority = new Authority(`${folder}/authority`)
  const server = authority.issue('server')
  const { key, cert } = authority.issue('ann', { subject: '/OU=writers/CN=ann' })
  const files = { cert_file: server.certFile, key_file: server.keyFile, client_ca_file: authority.caFile }
  const tls = { ...files, client_certificates: 'optional' }
  const security = { identity: { client_certificates: {} }, access: SECURITY.access }
  const { address } = await start(t, folder, 2, security, { tls })
  const port = address.split(':').at(-1)
  const asks = async (own: boolean, call: string): Promise<string> => {
    const client = new TestClient(
      `localhost:${port}`,
      {},
      credentials.createSsl(authority.ca, ...(own ? ([key, cert] as const) : [])),
    )
    const { code } = await failure(CALLS[call]?.(client, new Metadata(), 'main') as Promise<unknown>)
    client.close()
    return code
  }
  t.equal(await asks(true, 'find'), 'OK')
  t.equal(await asks(true, 'update'), 'PERMISSION_DENIED')
  t.equal(await asks(false, 'find'), 'UNAUTHENTICATED')
})

t.test('isolated instances see their own blobs and results only, on every thread and in the owner', async (t) => {
  const root = t.testdir({ 1: {}, 2: {} })
  const big = Buffer.alloc(300_000, 'large')
  const blobs = [Buffer.from('small'), big]
  const digestOf = (content: Buffer) => ({
    hash: createHash('sha256').update(content).digest('hex'),
    sizeBytes: content.length,
  })
  const rows = async (threads: number): Promise<string[]> => {
    const config = configOf(`${root}/${threads}`, threads, undefined, {}, [
      { instance_name: 'main', isolate: true, max_blob_size: 400_000, retention: '5h' },
      { instance_name: 'open', isolate: true },
    ])
    const running = await assemble(config, { clock: new ManualClock(Date.now()), log: silentLog })
    const address = running.addresses[0]?.address ?? ''
    const clients = Array.from({ length: 2 }, () => new TestClient(address, { 'grpc.use_local_subchannel_pool': 1 }))
    t.teardown(async () => {
      for (const client of clients) client.close()
      await running.close()
    })
    const found: string[] = []
    const [first] = clients as [TestClient]
    for (const instanceName of ['main', 'open']) {
      const missing = async (): Promise<void> => {
        for (const client of clients)
          for (const other of ['main', 'open']) {
            const asked = { instanceName: other, blobDigests: blobs.map(digestOf) }
            const { missingBlobDigests } = await client.unary(
              `${REAPI}.ContentAddressableStorage/FindMissingBlobs`,
              asked,
            ).response
            const result = await failure(
              client.unary(`${REAPI}.ActionCache/GetActionResult`, { instanceName: other, actionDigest: digest })
                .response,
            )
            // Of a small blob that is no Directory: whether the owner has it. Threads carry this call.
            const tree = { instanceName: other, rootDigest: digestOf(blobs[0] as Buffer) }
            const walked = await client
              .serverStream(`${REAPI}.ContentAddressableStorage/GetTree`, tree)
              .toArray()
              .then(
                () => 'OK',
                ({ code }) => code,
              )
            found.push(
              `${other}: ${missingBlobDigests.length} missing, result ${result.code} ${result.message}, ${walked}`,
            )
          }
      }
      await missing()
      for (const data of blobs) {
        const requests = [{ digest: digestOf(data), data }]
        await first.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, { instanceName, requests }).response
      }
      const actionResult = { outputFiles: [{ path: 'out', digest: digestOf(big) }] }
      await first.unary(`${REAPI}.ActionCache/UpdateActionResult`, { instanceName, actionDigest: digest, actionResult })
        .response
      await missing()
    }
    const tooLarge = Buffer.alloc(400_001)
    const requests = [{ digest: digestOf(tooLarge), data: tooLarge }]
    const refused = first.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, {
      instanceName: 'main',
      requests,
    })
    found.push(JSON.stringify((await refused.response).responses[0].status))
    return found
  }
  const [one, several] = [await rows(1), await rows(2)]
  t.same(several, one)
  t.match(one[4], /^main: 0 missing, result OK/)
  t.match(one[5], /^open: 2 missing, result NOT_FOUND/)
})
