import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metadata, ServiceError } from '@grpc/grpc-js'
import { hashSync } from 'bcryptjs'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { codec } from '../../src/proto/codec.js'
import { formatReadName } from '../../src/reapi/resource-name.js'
import { hashOf } from '../../src/security/identity/credential.js'
import { collect, TestClient } from '../server/client.js'
import { messagesOf, uploadName } from '../service/bytestream-client.js'
import { buildAction, EXECUTION, OPERATIONS } from '../service/execution-harness.js'
import { AC, BYTE_STREAM, CAPABILITIES, CAS, randomBlob, wire } from '../service/harness.js'
import { Lines } from '../tls/lines.js'
import { bearer, withHeaders } from './server.js'

const statusCodec = codec('google.rpc.Status')

/** Texts that no client may see, whatever fails. */
const SECRETS = {
  header: 'sesame-in-a-header-to-another',
  url: 'sesame-in-an-address',
  bucket: 'sesame-of-the-bucket',
  token: 'sesame-of-a-caller',
  wrong: 'sesame-that-is-wrong',
  password: 'sesame-of-ann',
}

const ISSUER = 'https://issuer.example'

/** Stores that all fail: missing folders, unreachable addresses, each with a secret. */
const brokenStores = (folder: string): Record<string, object> => ({
  GONE: { filesystem: { content_path: join(folder, 'gone'), temp_path: join(folder, 'gone-temp') } },
  GRPC: {
    grpc: {
      instance_name: '',
      store_type: 'cas',
      endpoints: [{ address: 'grpc://127.0.0.1:1' }],
      headers: { authorization: `Bearer ${SECRETS.header}` },
      retry: { max_retries: 0 },
    },
  },
  REDIS: {
    redis_store: { addresses: [`redis://me:${SECRETS.url}@127.0.0.1:1`], retry: { max_retries: 0 } },
  },
  AZURE: {
    experimental_cloud_object_store: {
      provider: 'azure',
      container: 'builds',
      insecure_allow_http: true,
      sas_url: `http://127.0.0.1:1/account?sv=2024-01-01&sig=${SECRETS.bucket}`,
      retry: { max_retries: 0 },
    },
  },
})

const configOf = (folder: string): object => {
  const stores = brokenStores(folder)
  const each = (options: (name: string) => object) =>
    Object.fromEntries(Object.keys(stores).map((name) => [name.toLowerCase(), options(name)]))
  return {
    // Results have stores of their own.
    stores: {
      ...stores,
      ...Object.fromEntries(
        Object.entries(brokenStores(join(folder, 'results'))).map(([name, store]) => [`AC_${name}`, store]),
      ),
    },
    schedulers: { S: { simple: {} } },
    servers: [
      {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: each((cas_store) => ({ cas_store })),
          ac: each((name) => ({ ac_store: `AC_${name === 'GRPC' ? 'GONE' : name}` })),
          execution: each((cas_store) => ({ cas_store, scheduler: 'S' })),
        },
      },
    ],
    security: {
      identity: {
        tokens: [{ name: 'ci', sha256: hashOf(SECRETS.token) }],
        htpasswd_file: join(folder, 'htpasswd'),
        jwt: [{ issuer: ISSUER, audiences: ['builds'], jwks_file: join(folder, 'keys') }],
      },
      access: [{ names: ['ci'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute', 'administer'] }],
    },
  }
}

interface Failure {
  readonly of: string
  readonly code: number
  /** The message and every detail, as a client could print them. */
  readonly text: string
}

const failureOf = (of: string, thrown: unknown): Failure => {
  const { code, details, metadata } = thrown as ServiceError
  const binary = metadata?.get('grpc-status-details-bin').map((bytes) => statusCodec.decode(bytes as Buffer)) ?? []
  const text = [details, JSON.stringify(metadata?.getMap()), JSON.stringify(binary)]
  const raw = binary.flatMap(({ details: told }) => told.map(({ value }) => value.toString('latin1')))
  return { of, code, text: [...text, ...raw].join('\n') }
}

/** The errors of a failing call of every method. */
const failuresOf = async (client: TestClient, instanceName: string, metadata: Metadata): Promise<Failure[]> => {
  const [small, large] = [randomBlob(100), randomBlob(3_000_000)]
  const digest = wire(small.digest)
  const { action } = buildAction()
  const unary = (name: string, request: object) =>
    [name, () => client.unary(name, { instanceName, ...request }, { metadata }).response] as const
  const stream = (name: string, request: object) =>
    [
      name,
      async () => {
        const { status, messages } = await collect(
          client.serverStream(name, { instanceName, ...request }, { metadata }),
        )
        if (status !== undefined && status.code !== 0) throw status
        return messages.at(-1)
      },
    ] as const
  const calls = [
    unary(`${CAPABILITIES}/GetCapabilities`, {}),
    unary(`${CAS}/FindMissingBlobs`, { blobDigests: [digest] }),
    unary(`${CAS}/BatchUpdateBlobs`, { requests: [{ digest, data: small.bytes }] }),
    unary(`${CAS}/BatchReadBlobs`, { digests: [digest] }),
    stream(`${CAS}/GetTree`, { rootDigest: digest }),
    stream(`${BYTE_STREAM}/Read`, { resourceName: formatReadName(instanceName, small.digest) }),
    unary(`${BYTE_STREAM}/QueryWriteStatus`, { resourceName: uploadName(small.digest, { instanceName }) }),
    unary(`${AC}/GetActionResult`, { actionDigest: wire(action.digest) }),
    unary(`${AC}/UpdateActionResult`, { actionDigest: wire(action.digest), actionResult: { exitCode: 0 } }),
    stream(`${EXECUTION}/Execute`, { actionDigest: wire(action.digest) }),
    unary(`${OPERATIONS}/GetOperation`, { name: `${instanceName}/operations/none` }),
    [
      `${BYTE_STREAM}/Write`,
      async () => {
        const { call, response } = client.clientStream(`${BYTE_STREAM}/Write`, { metadata })
        for (const message of messagesOf(uploadName(large.digest, { instanceName }), large.bytes)) call.write(message)
        call.end()
        return response
      },
    ],
  ] as const
  return Promise.all(
    calls.map(async ([name, call]) => {
      const of = `${instanceName} ${name}`
      try {
        // Some methods report the failure in their response.
        const answer = JSON.stringify(await call(), (_, value) =>
          value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
        )
        return { of, code: 0, text: answer ?? '' }
      } catch (thrown) {
        return failureOf(of, thrown)
      }
    }),
  )
}

const JWT = /eyJ|[\w-]{20,}\.[\w-]{20,}\.[\w-]{20,}/

/** The forbidden texts that occurred. */
const leaksIn = (failures: readonly Failure[], folder: string, shown: readonly string[] = []): readonly string[] => {
  const machine = [folder, process.cwd(), process.execPath, 'node_modules', '    at ', '.ts:', '.js:', 'Bearer ']
  const never = [...Object.values(SECRETS), ...machine, ...shown]
  return failures.flatMap(({ of, text }) => [
    ...never.filter((secret) => text.includes(secret)).map((secret) => `${of} told ${secret}`),
    ...(JWT.test(text) ? [`${of} told a JWT`] : []),
  ])
}

const startBroken = async (t: Test) => {
  const folder = t.testdir({ htpasswd: `ann:${hashSync(SECRETS.password, 4)}\n` })
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  writeFileSync(join(folder, 'keys'), JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] }))
  const { config, problems } = parseConfig(JSON.stringify(configOf(folder)), 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const said = new Lines()
  const running = await assemble(config, { clock: systemClock, log: said.log })
  t.teardown(() => running.close())
  for (const gone of ['gone', 'gone-temp', 'results']) rmSync(join(folder, gone), { recursive: true })
  const client = new TestClient(running.addresses[0]?.address ?? '')
  t.teardown(() => client.close())
  return { folder, client, privateKey, said }
}

t.test('errors for clients have no secret, no path and no token, whatever fails', async (t) => {
  const { folder, client, privateKey } = await startBroken(t)

  t.test('of stores that do not work', async (t) => {
    const fails = async (instance: string): Promise<void> => {
      const failures = await failuresOf(client, instance, bearer(SECRETS.token))
      const failed = failures.filter(({ code }) => code !== 0)
      t.ok(failed.length >= 6, `${instance} does not work: ${failed.map(({ of, code }) => `${of} ${code}`)}`)
      t.same(leaksIn(failures, folder), [])
    }
    await Promise.all(['gone', 'grpc', 'redis', 'azure'].map(fails))
  })

  t.test('of wrong credentials', async (t) => {
    const { privateKey: stranger } = await generateKeyPair('ES256')
    const jwt = (claims: object, key = privateKey, until = '1h') =>
      new SignJWT({ sub: 'ci', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(ISSUER)
        .setExpirationTime(until)
        .sign(key)
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    for (const authorization of [
      `Bearer ${SECRETS.wrong}`,
      basic(`ann:${SECRETS.wrong}`),
      `Digest ${SECRETS.wrong}`,
      `Bearer ${await jwt({ aud: 'builds' }, stranger)}`,
      `Bearer ${await jwt({ aud: SECRETS.wrong })}`,
      `Bearer ${await jwt({ aud: 'builds' }, privateKey, '-1h')}`,
      `Bearer ${await jwt({ aud: 'builds', sub: '' })}`,
      // Identified, but without permissions.
      basic(`ann:${SECRETS.password}`),
    ]) {
      const failures = await failuresOf(client, 'gone', withHeaders({ authorization }))
      const refused = failures.filter(({ code }) => code !== 0)
      t.ok(refused.length >= 10, `${authorization.slice(0, 20)}: ${refused.length} refused`)
      t.same(leaksIn(failures, folder, [authorization.split(' ')[1] ?? '']), [])
    }
  })
})
