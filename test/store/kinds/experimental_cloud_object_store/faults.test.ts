import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { until } from '../../../until.js'
import { bytesOf, call, cut, digestOf, get, isPresent, put, source } from '../../blobs.js'
import { portOf, type Scope } from '../../remote/backend.js'
import { counted } from '../../remote/counted.js'
import { HttpProxy } from '../../remote/http-proxy.js'
import { TcpProxy } from '../../remote/proxy.js'
import { rejects } from '../../suite.js'
import { startAzure, withoutAzure } from './azure-server.js'
import { startGcs, withoutGcs } from './gcs-server.js'
import { type OpenOptions, openObjectStore } from './open.js'
import { S3_KEYS, startS3, withoutS3 } from './s3-server.js'

t.setTimeout(600_000)

const MIB = 1024 * 1024
const RETRY = { max_retries: 5, delay: 0.01, jitter: 0, budget_s: 60 }

process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey

interface Server {
  readonly port: number
  /** In front of it. */
  readonly proxy: TcpProxy
  /** A store in its bucket, reached at this port of this machine. */
  at(port: number): OpenOptions
  /** Uploads in parts that are neither complete nor discarded, if the server reports them. */
  openUploads(): Promise<readonly string[]>
}

const nothing = async (): Promise<readonly string[]> => []

const s3 = async (t: Scope): Promise<Server> => {
  const { port, bucket, openUploads } = await startS3(t)
  const place = { provider: 'aws', bucket, region: 'us-east-1' } as const
  const proxy = await TcpProxy.start(t, port)
  return { port, proxy, openUploads, at: (port) => ({ ...place, endpoint: `http://127.0.0.1:${port}` }) }
}

const azure = async (t: Scope): Promise<Server> => {
  const { port, container, sasUrl } = await startAzure(t)
  const at = (port: number) => ({ provider: 'azure', container, sas_url: sasUrl(3_600_000, port) }) as const
  return { port, proxy: await TcpProxy.start(t, port), openUploads: nothing, at }
}

const gcs = async (t: Scope): Promise<Server> => {
  const { bucket, proxy } = await startGcs(t)
  const at = (port: number) => ({ provider: 'gcs', bucket, endpoint: `http://127.0.0.1:${port}` }) as const
  return { port: proxy.port, proxy, openUploads: nothing, at }
}

const PROVIDERS = [
  { name: 'S3', start: s3, skip: withoutS3, structName: 'S3Bucket' },
  { name: 'Azure', start: azure, skip: withoutAzure, structName: 'AzureContainer' },
  { name: 'Google', start: gcs, skip: withoutGcs, structName: 'GcsBucket' },
] as const

for (const { name, start, skip, structName } of PROVIDERS) {
  void t.test(`${name} behind a connection that breaks`, { skip }, async (t) => {
    const { proxy, at, openUploads } = await start(t)
    const place = at(proxy.port)
    const descriptors = await openDescriptors()

    await t.test(
      'a missing server is UNAVAILABLE and reported by the health of the connection, until it is there',
      async (t) => {
        const { store, probe, close } = await openObjectStore(place)
        t.teardown(close)
        const bytes = bytesOf(1000)
        proxy.refuses = true
        await rejects(t, put(store, digestOf(bytes), bytes), 'UNAVAILABLE')
        await rejects(t, get(store, digestOf(bytes)), 'UNAVAILABLE')
        await rejects(t, isPresent(store, digestOf(bytes)), 'UNAVAILABLE')
        t.equal(probe.structName, structName)
        t.match(await probe.check(call.signal), { state: 'Failed', error: /^UNAVAILABLE: / })
        proxy.refuses = false
        await put(store, digestOf(bytes), bytes)
        t.ok((await get(store, digestOf(bytes))).equals(bytes))
        t.match(await probe.check(call.signal), { state: 'Ok' })
      },
    )

    await t.test('an interrupted read continues at its position, and fails without retries', async (t) => {
      const { store, close } = await openObjectStore({ ...place, retry: RETRY, key_prefix: 'cut/' })
      const once = await openObjectStore({ ...place, key_prefix: 'cut/' })
      t.teardown(close)
      t.teardown(once.close)
      const bytes = bytesOf(9 * MIB)
      await put(store, digestOf(bytes), bytes)
      proxy.cutAfter(3 * MIB)
      t.ok((await get(store, digestOf(bytes))).equals(bytes))
      proxy.cutAfter(3 * MIB)
      await rejects(t, get(once.store, digestOf(bytes)), 'UNAVAILABLE')
    })

    await t.test('an interrupted upload is sent again; a discarded one leaves neither blob nor parts', async (t) => {
      const { store, close } = await openObjectStore({ ...place, retry: RETRY })
      const once = await openObjectStore(place)
      t.teardown(close)
      t.teardown(once.close)
      const bytes = bytesOf(17 * MIB)
      proxy.cutAfter(8 * MIB)
      await put(store, digestOf(bytes), bytes)
      t.ok((await get(store, digestOf(bytes))).equals(bytes))
      // A request lost with a kept connection is always sent once more.
      proxy.cutAfter(8 * MIB, MIB)
      await rejects(t, put(once.store, digestOf(bytes), bytes), 'UNAVAILABLE')
      t.notOk(await isPresent(once.store, digestOf(bytes)))
      // A complete part may be stored after the request that discards the upload.
      const late = await openUploads()
      const controller = new AbortController()
      const stalled = source(cut(bytes.subarray(0, 12 * MIB))).on('end', () => controller.abort())
      const givenUp = once.store.put(digestOf(bytes), Blob.ofPath([stalled]), { ...call, signal: controller.signal })
      await rejects(t, givenUp, 'CANCELLED')
      t.notOk(await isPresent(once.store, digestOf(bytes)))
      t.same(await openUploads(), late)
    })

    await t.test('a missing bucket is not a missing blob', async (t) => {
      const nowhere = place.provider === 'azure' ? { container: 'nowhere' } : { bucket: 'nowhere' }
      const { store, probe, close } = await openObjectStore({ ...place, ...nowhere })
      t.teardown(close)
      const bytes = bytesOf(1000)
      await rejects(t, put(store, digestOf(bytes), bytes), 'FAILED_PRECONDITION')
      // This test server gives the same answer for missing objects.
      await rejects(t, get(store, digestOf(bytes)), name === 'Google' ? 'NOT_FOUND' : 'FAILED_PRECONDITION')
      t.match(await probe.check(call.signal), { state: 'Failed' })
    })

    proxy.cut()
    await until(async () => (await openDescriptors()) <= descriptors)
    t.pass('and no connection is left')
  })
}

/** The refusals of S3, and the number of requests with two retries. */
const REFUSALS = [
  { status: 429, word: 'TooManyRequests', code: 'UNAVAILABLE', attempts: 3 },
  { status: 503, word: 'SlowDown', code: 'UNAVAILABLE', attempts: 3 },
  { status: 500, word: 'InternalError', code: 'UNAVAILABLE', attempts: 3 },
  { status: 502, word: 'BadGateway', code: 'UNAVAILABLE', attempts: 3 },
  { status: 507, word: 'InsufficientStorage', code: 'RESOURCE_EXHAUSTED', attempts: 3 },
  { status: 400, word: 'ExpiredToken', code: 'UNAUTHENTICATED', attempts: 1 },
  { status: 403, word: 'AccessDenied', code: 'PERMISSION_DENIED', attempts: 1 },
] as const

void t.test('refusals by S3', { skip: withoutS3 }, async (t) => {
  const { port, at, openUploads } = await s3(t)
  const proxy = await HttpProxy.start(t, port)
  const retry = { max_retries: 2, delay: 0.001, jitter: 0, budget_s: 60 }
  const { store, close } = await openObjectStore({ ...at(proxy.port), retry })
  t.teardown(close)
  for (const { status, word, code, attempts } of REFUSALS) {
    await t.test(`${status} ${word} is ${code}, and works again afterwards`, async (t) => {
      const [small, large] = [bytesOf(1000, word), bytesOf(11 * MIB, word)]
      const body = xml(word)
      const refuseFirst = (count: number, method: string): (() => number) => {
        let asked = 0
        proxy.refuse = (request) => {
          if (request.method !== method) return undefined
          asked += 1
          return asked <= count ? { status, body } : undefined
        }
        return () => asked
      }
      const asked = refuseFirst(Number.POSITIVE_INFINITY, 'PUT')
      await rejects(t, put(store, digestOf(small), small), code)
      t.equal(asked(), attempts, 'attempts')
      await rejects(t, put(store, digestOf(large), large), code)
      await until(async () => (await openUploads()).length === 0)
      refuseFirst(attempts - 1, 'PUT')
      for (const bytes of [small, large]) await put(store, digestOf(bytes), bytes)
      refuseFirst(attempts - 1, 'GET')
      t.ok((await get(store, digestOf(small))).equals(small))
      const read = refuseFirst(Number.POSITIVE_INFINITY, 'GET')
      await rejects(t, get(store, digestOf(large)), code)
      t.equal(read(), attempts)
      proxy.refuse = () => undefined
      t.ok((await get(store, digestOf(large))).equals(large))
    })
  }
})

const xml = (word: string): string => `<?xml version="1.0"?><Error><Code>${word}</Code><Message>no</Message></Error>`

/** The answer of each provider to expired credentials. */
const EXPIRED = {
  S3: { status: 403, body: xml('ExpiredToken') },
  Azure: {
    status: 401,
    headers: { 'x-ms-error-code': 'InvalidAuthenticationInfo' },
    body: xml('InvalidAuthenticationInfo'),
  },
  Google: {
    status: 401,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { code: 401, message: 'Invalid Credentials', errors: [{ reason: 'authError' }] } }),
  },
}

for (const { name, start, skip } of PROVIDERS) {
  void t.test(`credentials for ${name} that expire while they are used, and new ones`, { skip }, async (t) => {
    const { port, at, openUploads } = await start(t)
    const proxy = await HttpProxy.start(t, port)
    const { store: backend, probe, close } = await openObjectStore({ ...at(proxy.port), retry: RETRY })
    t.teardown(close)
    const { store, failures } = counted(backend)
    const [small, large] = [bytesOf(1000), bytesOf(11 * MIB)]
    await put(store, digestOf(small), small)
    // During an upload. Uploads to Google use their own address once they have begun.
    const sends = name === 'Google' ? 'POST' : 'PUT'
    let passed = name === 'Google' ? 0 : 1
    proxy.refuse = ({ method }) => (method === sends && passed-- <= 0 ? EXPIRED[name] : undefined)
    await rejects(t, put(store, digestOf(large), large), 'UNAUTHENTICATED')
    proxy.refuse = () => EXPIRED[name]
    await rejects(t, get(store, digestOf(small)), 'UNAUTHENTICATED')
    // A response to HEAD has only its status, and S3 uses 403 for all of these.
    await rejects(t, isPresent(store, digestOf(small)), name === 'S3' ? 'PERMISSION_DENIED' : 'UNAUTHENTICATED')
    t.same(failures(), ['read error: 1', 'find_missing error: 1', 'write error: 1'], 'each is counted')
    t.match(await probe.check(call.signal), { state: 'Failed' })
    proxy.refuse = () => undefined
    t.match(await probe.check(call.signal), { state: 'Ok' })
    t.ok((await get(store, digestOf(small))).equals(small))
    t.notOk(await isPresent(store, digestOf(large)), 'no part is there')
    await put(store, digestOf(large), large)
    t.ok((await get(store, digestOf(large))).equals(large))
    t.strictSame(await openUploads(), [])
  })
}

void t.test('wrong keys of S3 are UNAUTHENTICATED', { skip: withoutS3 }, async (t) => {
  const { port, at } = await s3(t)
  const bytes = bytesOf(1000)
  const wrong = { access_key_id: S3_KEYS.accessKeyId, secret_access_key: 'wrong' }
  const options = { ...at(port), provider: 'oci', namespace: 'builders', ...wrong, retry: RETRY } as const
  const { store, close } = await openObjectStore(options)
  t.teardown(close)
  await rejects(t, put(store, digestOf(bytes), bytes), 'UNAUTHENTICATED')
  await rejects(t, get(store, digestOf(bytes)), 'UNAUTHENTICATED')
})

void t.test('requests of one store share connections, which end with the store', async (t) => {
  let connections = 0
  const server = createServer((_, response) => response.writeHead(404, { 'content-length': 0 }).end())
  server.on('connection', () => connections++)
  // The server closes none by itself.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const endpoint = `http://127.0.0.1:${portOf(server.address())}`
  const open = promisify(server.getConnections.bind(server))
  for (const place of [
    { provider: 'aws', bucket: 'builds', region: 'us-east-1', endpoint },
    { provider: 'azure', container: 'builds', sas_url: `${endpoint}/builders?sig=x` },
    { provider: 'gcs', bucket: 'builds', endpoint },
  ] as const) {
    connections = 0
    const { store, close } = await openObjectStore(place)
    for (let request = 0; request < 5; request++) await rejects(t, get(store, digestOf(bytesOf(1000))), 'NOT_FOUND')
    // A request may begin before the last one has given its connection back.
    t.ok(connections <= 2, `${place.provider}: ${connections} connections`)
    await close()
    // Azure's library shares its connections among all clients.
    if (place.provider === 'azure') server.closeAllConnections()
    await until(async () => (await open()) === 0, `${place.provider}: that they are closed`)
  }
})

void t.test('an expired signature for Azure is rejected', { skip: withoutAzure }, async (t) => {
  const { container, sasUrl } = await startAzure(t)
  const { store, probe, close } = await openObjectStore({ provider: 'azure', container, sas_url: sasUrl(-1000) })
  t.teardown(close)
  const bytes = bytesOf(1000)
  // Azurite calls it AuthorizationFailure, Azure AuthenticationFailed.
  await rejects(t, put(store, digestOf(bytes), bytes), 'PERMISSION_DENIED')
  await rejects(t, get(store, digestOf(bytes)), 'PERMISSION_DENIED')
  t.match(await probe.check(call.signal), { state: 'Failed' })
})

void t.test('a silent Google server is DEADLINE_EXCEEDED in time', { skip: withoutGcs }, async (t) => {
  const { proxy, at } = await gcs(t)
  const { store, close } = await openObjectStore({ ...at(proxy.port), read_timeout_s: 1 })
  t.teardown(close)
  const bytes = bytesOf(1000)
  await put(store, digestOf(bytes), bytes)
  proxy.isStalled = true
  await rejects(t, get(store, digestOf(bytes)), 'DEADLINE_EXCEEDED')
  await rejects(t, isPresent(store, digestOf(bytes)), 'DEADLINE_EXCEEDED')
  proxy.isStalled = false
  t.ok((await get(store, digestOf(bytes))).equals(bytes))
  proxy.cut()
})

void t.test('damaged and expired objects in a bucket are missing or never served', { skip: withoutS3 }, async (t) => {
  const { port, at } = await s3(t)
  const clock = new ManualClock(Date.now())
  const options = { ...at(port), key_prefix: 'old/', consider_expired_after_s: 3600 }
  const { store, close } = await openObjectStore(options, clock)
  t.teardown(close)
  const bytes = bytesOf(500_000)
  const digest = digestOf(bytes)
  await put(store, digest, bytes)
  t.ok(await isPresent(store, digest))
  clock.advance(3_700_000)
  t.notOk(await isPresent(store, digest))
  await rejects(t, get(store, digest), 'NOT_FOUND')
  clock.advance(-3_700_000)
  await put(store, digest.asKey(), bytes.subarray(1))
  t.notOk(await isPresent(store, digest), 'an object that is too short')
  await rejects(t, get(store, digest), 'NOT_FOUND')
  await put(store, digest, bytes)
  t.ok((await get(store, digest)).equals(bytes), 'it is written over')
  const other = Buffer.from(bytes)
  other.writeUInt8(other.readUInt8(7) ^ 1, 7)
  await put(store, digest.asKey(), other)
  await rejects(t, get(store, digest), 'DATA_LOSS')
  t.notOk(await isPresent(store, digest), 'what was corrupt is taken away')
})

const openDescriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length
