/** The hosts of buckets for configurations with an account but without an address. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type ClientRequest, createServer } from 'node:http'
import t, { type Test } from 'tap'
import { bytesOf, call, digestOf, get, put } from '../../blobs.js'
import { portOf } from '../../remote/backend.js'
import { type OpenOptions, openObjectStore } from './open.js'

const STARTED = 'http.client.request.start'

/** Requests to remote hosts. No request leaves this machine. */
const requestsOf = async (options: OpenOptions): Promise<readonly ClientRequest[]> => {
  const asked: ClientRequest[] = []
  const refuse = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest }
    if (request.host === '127.0.0.1') return
    asked.push(request)
    request.destroy(new Error('no test asks others'))
  }
  subscribe(STARTED, refuse)
  const { store, close } = await openObjectStore({ insecure_allow_http: false, key_prefix: 'under/', ...options })
  const bytes = bytesOf(100)
  const failed = [get(store, digestOf(bytes)), put(store, digestOf(bytes), bytes), store.health(call)]
  await Promise.allSettled(failed)
  unsubscribe(STARTED, refuse)
  await close()
  return asked
}

const places = async (t: Test, options: OpenOptions, host: string, path: RegExp): Promise<readonly ClientRequest[]> => {
  const asked = await requestsOf(options)
  t.ok(asked.length >= 3, `${asked.length} requests`)
  t.same([...new Set(asked.map((request) => `${request.protocol}//${request.host}`))], [`https://${host}`])
  for (const { path: at } of asked) t.match(at, path)
  return asked
}

/** For the time of a test. */
const withEnvironment = (t: Test, names: Readonly<Record<string, string | undefined>>): void => {
  for (const [name, value] of Object.entries(names)) {
    const before = process.env[name]
    const set = (to: string | undefined): void => {
      if (to === undefined) delete process.env[name]
      else process.env[name] = to
    }
    set(value)
    t.teardown(() => set(before))
  }
}

void t.test('account_name of azure, with the identity of the machine', async (t) => {
  const asked: string[] = []
  const identity = createServer((request, response) => {
    asked.push(`${request.headers['x-identity-header']} ${request.url}`)
    const expires_on = `${Math.floor(Date.now() / 1000) + 3600}`
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ access_token: 'of-this-machine', expires_on, token_type: 'Bearer', resource: 'x' }))
  }).listen(0, '127.0.0.1')
  await once(identity, 'listening')
  t.teardown(() => {
    identity.closeAllConnections()
    identity.close()
  })
  const IDENTITY_ENDPOINT = `http://127.0.0.1:${portOf(identity.address())}/token`
  withEnvironment(t, { IDENTITY_ENDPOINT, IDENTITY_HEADER: 'header' })
  const options = { provider: 'azure', account_name: 'mine', container: 'builds' } as const
  const requests = await places(t, options, 'mine.blob.core.windows.net', /^\/builds[/?]/)
  for (const request of requests) t.equal(request.getHeader('authorization'), 'Bearer of-this-machine')
  t.match(asked[0], /^header \/token.*resource=https%3A%2F%2Fstorage\.azure\.com/)
})

const KEYS = { access_key_id: 'id', secret_access_key: 'secret' }

void t.test('account_id of r2', (t) =>
  places(
    t,
    { provider: 'r2', account_id: 'mine', bucket: 'builds', ...KEYS },
    'mine.r2.cloudflarestorage.com',
    /^\/builds(\/|\?|$)/,
  ),
)

void t.test('namespace and region of oci', (t) =>
  places(
    t,
    { provider: 'oci', namespace: 'mine', region: 'eu-frankfurt-1', bucket: 'builds', ...KEYS },
    'mine.compat.objectstorage.eu-frankfurt-1.oci.customer-oci.com',
    /^\/builds(\/|\?|$)/,
  ),
)

void t.test('region and bucket of aws', async (t) => {
  withEnvironment(t, {
    ...{ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' },
    ...{ AWS_ENDPOINT_URL: undefined, AWS_ENDPOINT_URL_S3: undefined },
  })
  const options = { provider: 'aws', region: 'eu-west-1', bucket: 'builds' } as const
  const requests = await places(t, options, 'builds.s3.eu-west-1.amazonaws.com', /^\//)
  for (const request of requests) t.match(request.getHeader('authorization'), /Credential=id\/\d+\/eu-west-1\/s3\//)
})

void t.test('bucket of gcs', async (t) => {
  // This machine is not Google's, so skip the check for its metadata server.
  withEnvironment(t, { METADATA_SERVER_DETECTION: 'none', STORAGE_EMULATOR_HOST: undefined })
  await places(t, { provider: 'gcs', bucket: 'builds' }, 'storage.googleapis.com', /\/b\/builds\/o/)
})

void t.test(
  'a region of aws that neither the configuration nor the environment names is told at the start',
  async (t) => {
    const before = { ...process.env }
    t.teardown(() => {
      for (const name of Object.keys(process.env)) delete process.env[name]
      Object.assign(process.env, before)
    })
    for (const name of Object.keys(before)) if (name.startsWith('AWS_')) delete process.env[name]
    for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) process.env[name] = `${t.testdir()}/none`
    const opening = openObjectStore({ provider: 'aws', bucket: 'builds' })
    await t.rejects(opening, { code: 9, message: /no region: expected `region`, or AWS_REGION/ })
  },
)
