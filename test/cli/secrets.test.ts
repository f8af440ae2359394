import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { root } from '../clients/scratch.js'
import { TestClient } from '../server/client.js'
import { blobOf, CAS, wire } from '../service/harness.js'
import { program, serve, start } from './program.js'

/** Part of every secret in these tests, so that one search finds any of them. */
const SECRET = 'hunter2'
const NOWHERE = '127.0.0.1:1'

/** Each kind of store with a secret, configured for a port without a server. */
const stores = {
  redis: { redis_store: { addresses: [`redis://me:${SECRET}-redis@${NOWHERE}/0`], connection_timeout_ms: 200 } },
  mongo: {
    experimental_mongo: {
      connection_string: `mongodb://me:${SECRET}-mongo@${NOWHERE}/`,
      connection_timeout_ms: 200,
      command_timeout_ms: 500,
    },
  },
  azure: {
    experimental_cloud_object_store: {
      ...{ provider: 'azure', account_name: 'builds', container: 'blobs', insecure_allow_http: true },
      sas_url: `http://${NOWHERE}/builds?sv=2024-01-01&sig=${SECRET}-azure`,
      retry: { max_retries: 0 },
    },
  },
  r2: {
    experimental_cloud_object_store: {
      ...{ provider: 'r2', account_id: 'a', bucket: 'blobs', insecure_allow_http: true, endpoint: `http://${NOWHERE}` },
      access_key_id: 'AKIA',
      secret_access_key: `${SECRET}-r2`,
      retry: { max_retries: 0 },
    },
  },
  aws: {
    experimental_cloud_object_store: {
      ...{ provider: 'aws', region: 'eu-1', bucket: 'blobs', insecure_allow_http: true, endpoint: `http://${NOWHERE}` },
      retry: { max_retries: 0 },
    },
  },
  upstream: {
    grpc: {
      endpoints: [{ address: `grpc://${NOWHERE}` }],
      store_type: 'cas',
      headers: { authorization: `Bearer ${SECRET}-upstream`, 'x-api-key': `${SECRET}-key` },
      retry: { max_retries: 0 },
    },
  },
}

const env = {
  ...{ REMEXEC_LOG_LEVEL: 'debug', AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: `${SECRET}-aws` },
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://me:${SECRET}-collector@${NOWHERE}`,
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET}-otlp,x-key=${SECRET}-otlp-key`,
  OTEL_METRIC_EXPORT_INTERVAL: '300',
}

const configuration = (security: object) => ({
  stores,
  servers: [
    {
      name: 'public',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: Object.keys(stores).map((name) => ({ instance_name: name, cas_store: name })),
        health: { timeout_seconds: 2 },
      },
    },
  ],
  security,
})

/** The plain text, and its form in Basic credentials. */
const leaks = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.includes(SECRET) || line.includes(Buffer.from(SECRET).toString('base64').slice(0, 8)))

for (const format of ['text', 'json']) {
  t.test(`no secret is in logs, answers and pages of a server whose backends all fail (${format})`, async (t) => {
    const folder = t.testdir()
    const everybody = [{ anonymous: true, may: ['read_cas', 'write_cas', 'read_ac', 'administer'] }]
    const security = {
      identity: { tokens: [{ name: 'ci', sha256: 'ab'.repeat(32) }], htpasswd_file: `${folder}/htpasswd` },
      access: everybody,
    }
    writeFileSync(`${folder}/htpasswd`, '')
    writeFileSync(`${folder}/config.json`, JSON.stringify(configuration(security)))
    const server = serve(t, `${folder}/config.json`, folder, { ...env, REMEXEC_LOG_FORMAT: format })
    const [, address = ''] = await server.hears(/serving grpc:\/\/([^ "]+)/)
    const client = new TestClient(address)
    t.teardown(() => client.close())
    const answers: string[] = []
    const ask = async (method: string, request: object, headers: Record<string, string> = {}): Promise<void> => {
      const metadata = new Metadata()
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
      const answer = client.unary(`${CAS}/${method}`, request, { metadata }).response
      answers.push(await answer.then(JSON.stringify, (error) => `${error.details} ${error.message} ${error.metadata}`))
    }
    const { digest, bytes } = blobOf('content')
    await Promise.all(
      Object.keys(stores).flatMap((instanceName) => [
        ask('FindMissingBlobs', { instanceName, blobDigests: [wire(digest)] }),
        ask('BatchUpdateBlobs', { instanceName, requests: [{ digest: wire(digest), data: bytes }] }),
        ask('BatchReadBlobs', { instanceName, digests: [wire(digest)] }),
      ]),
    )
    const asked = { instanceName: 'upstream', blobDigests: [wire(digest)] }
    const basic = Buffer.from(`me:${SECRET}-basic`).toString('base64')
    for (const authorization of [`Bearer ${SECRET}-caller`, `Basic ${basic}`, `Digest ${SECRET}-digest`]) {
      await ask('FindMissingBlobs', asked, { authorization, cookie: `${SECRET}-cookie` })
    }
    t.equal(answers.length, Object.keys(stores).length * 3 + 3)
    await server.hears(/metrics do not reach the collector/)
    for (const path of ['/status', '/', '/status/ready']) {
      answers.push(await (await fetch(`http://${address}${path}`)).text())
    }
    for (const name of Object.keys(stores)) t.match(answers.join('\n'), `stores/${name}`, `${name} is shown`)
    server.child.kill('SIGTERM')
    await server.ended
    t.same(leaks(server.said()), [], 'in the log')
    t.same(leaks(answers.join('\n')), [], 'in answers and pages')
    t.match(server.said(), /a component does not work/)
  })
}

t.test('no secret is in messages about a configuration, valid or not', async (t) => {
  const folder = t.testdir()
  const wrong = {
    redis: { redis_store: { addresses: [`redis://me:${SECRET}@${NOWHERE}/zero`], connection_timeout_ms: 'soon' } },
    mongo: { experimental_mongo: { connection_string: `mango://me:${SECRET}@${NOWHERE}/`, databse: 'x' } },
    azure: { experimental_cloud_object_store: { provider: 'azure', sas_url: `ftp://x/?sig=${SECRET}`, bucket: 1 } },
    r2: { experimental_cloud_object_store: { provider: 'r2', secret_access_key: { value: SECRET }, bukket: 'b' } },
    upstream: {
      grpc: { endpoints: [], store_type: 'sac', headers: { authorization: `Bearer ${SECRET}`, key: SECRET } },
    },
  }
  const files = {
    right: JSON.stringify(configuration({ access: [] }), null, 2),
    wrong: JSON.stringify({ stores: wrong, servers: [] }, null, 2),
    'one-line': JSON.stringify({ stores: wrong, servers: [] }),
    unread: `${JSON.stringify({ stores: wrong }, null, 2)} }`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(`${folder}/${name}.json`, text)
  for (const name of Object.keys(files)) {
    const path = `${folder}/${name}.json`
    const validate = async (...args: readonly string[]): Promise<void> => {
      const run = start(t, [process.execPath, program, 'validate', ...args, path], { cwd: root })
      await run.ended
      t.same(leaks(run.said()), [], args.join(' '))
    }
    // What --explain prints begins with what validate prints without it.
    await Promise.all([validate('--format', 'json'), validate('--explain')])
  }
  const refused = serve(t, `${folder}/wrong.json`, folder)
  await refused.ended
  t.same(leaks(refused.said()), [], 'at a start')
})

/** The address of an HTTP server. */
const httpServer = async (t: Test, answer: RequestListener): Promise<string> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test(
  'no renewed credentials of a role are in the log of a server whose bucket rejects and repeats them',
  async (t) => {
    const folder = t.testdir()
    let issued = 0
    const role = await httpServer(t, (_request, response) => {
      issued += 1
      const keys = {
        AccessKeyId: 'ASIA',
        SecretAccessKey: `${SECRET}-key-${issued}`,
        Token: `${SECRET}-session-${issued}`,
      }
      // The library renews credentials that expire within five minutes at each use.
      const Expiration = new Date(Date.now() + 60_000).toISOString()
      response.end(JSON.stringify({ ...keys, Expiration }))
    })
    const repeated: string[] = []
    const bucket = await httpServer(t, (request, response) => {
      const token = String(request.headers['x-amz-security-token'])
      repeated.push(token)
      const error = `<Code>InvalidToken</Code><Message>The token ${token} is invalid.</Message><Token-0>${token}</Token-0>`
      response.writeHead(400, { 'content-type': 'application/xml' }).end(`<Error>${error}</Error>`)
    })
    const aws = {
      experimental_cloud_object_store: {
        ...{ provider: 'aws', region: 'eu-1', bucket: 'blobs', insecure_allow_http: true, endpoint: bucket },
        retry: { max_retries: 0 },
      },
    }
    const services = { cas: [{ cas_store: 'CAS' }] }
    const servers = [{ name: 'public', listener: { http: { socket_address: '127.0.0.1:0' } }, services }]
    writeFileSync(`${folder}/config.json`, JSON.stringify({ stores: { CAS: aws }, servers }))
    const server = serve(t, `${folder}/config.json`, folder, {
      ...{ REMEXEC_LOG_LEVEL: 'debug', REMEXEC_LOG_FORMAT: 'json', AWS_EC2_METADATA_DISABLED: 'true' },
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${role}/credentials`,
    })
    const [, address = ''] = await server.hears(/serving grpc:\/\/([^ "]+)/)
    const client = new TestClient(address)
    t.teardown(() => client.close())
    const { digest, bytes } = blobOf('content')
    for (let call = 0; call < 3; call++) {
      await client.unary(`${CAS}/BatchUpdateBlobs`, { requests: [{ digest: wire(digest), data: bytes }] }).response
      await client.unary(`${CAS}/BatchReadBlobs`, { digests: [wire(digest)] }).response
    }
    server.child.kill('SIGTERM')
    await server.ended
    t.ok(new Set(repeated).size >= 3, `${new Set(repeated).size} session tokens`)
    t.match(server.said(), /The token \*\*\* is invalid/, 'the bucket repeats the token')
    t.same(leaks(server.said()), [], 'in the log')
  },
)
