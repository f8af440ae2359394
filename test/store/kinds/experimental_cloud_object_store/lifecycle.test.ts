import t, { type Test } from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { keep } from '../../../../src/blobs/store.js'
import { type LogFields, silentLog } from '../../../../src/log/log.js'
import { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import type { Scope } from '../../remote/backend.js'
import { HttpProxy } from '../../remote/http-proxy.js'
import { startAzure, withoutAzure } from './azure-server.js'
import { startGcs, withoutGcs } from './gcs-server.js'
import { type OpenOptions, openObjectStore } from './open.js'
import { S3_KEYS, startS3, withoutS3 } from './s3-server.js'

// A rule of the bucket deletes objects by age. Those that are used become young again, inside the bucket.

const DAY_MS = 24 * 3_600_000
const DAYS = 30

process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey

interface Server {
  readonly port: number
  at(port: number): OpenOptions
}

const s3 = async (t: Scope): Promise<Server> => {
  const { port, bucket } = await startS3(t)
  const place = { provider: 'aws', bucket, region: 'us-east-1' } as const
  return { port, at: (port) => ({ ...place, endpoint: `http://127.0.0.1:${port}` }) }
}

const azure = async (t: Scope): Promise<Server> => {
  const { port, container, sasUrl } = await startAzure(t)
  return { port, at: (port) => ({ provider: 'azure', container, sas_url: sasUrl(3_600_000, port) }) }
}

const gcs = async (t: Scope): Promise<Server> => {
  const { bucket, proxy } = await startGcs(t)
  t.teardown(() => proxy.cut())
  return { port: proxy.port, at: (port) => ({ provider: 'gcs', bucket, endpoint: `http://127.0.0.1:${port}` }) }
}

/** The requests that make an object young again, by what they are to each provider. */
const REFRESH = {
  // This server keeps the age of an object that is copied onto itself, so a copy in parts follows.
  S3: (method: string, _url: string, headers: NodeJS.Dict<string | string[]>) =>
    method === 'PUT' && 'x-amz-copy-source' in headers,
  Azure: (method: string, url: string) => method === 'PUT' && /[?&]comp=metadata/.test(url),
  Google: (method: string, url: string) => method === 'POST' && /\/rewriteTo\//.test(url),
} as const

type Name = keyof typeof REFRESH

/** A store under a new prefix with a clock, the requests that refresh, and the paths of the objects that they name. */
const open = async (t: Test, name: Name, { port, at }: Server, options: Partial<OpenOptions> = {}) => {
  const proxy = await HttpProxy.start(t, port)
  const refreshed = new Set<string>()
  const state = { refusal: undefined as number | undefined, requests: 0 }
  proxy.refuse = ({ method = '', url = '', headers }) => {
    if (!REFRESH[name](method, url, headers)) return undefined
    refreshed.add(decodeURIComponent(url.replace(/\?.*/, '')))
    state.requests += 1
    return state.refusal === undefined ? undefined : { status: state.refusal }
  }
  const clock = new ManualClock(Date.now())
  const warned: LogFields[] = []
  const log = { ...silentLog, warn: (_message: string, fields?: LogFields) => void warned.push(fields ?? {}) }
  const place = { ...at(proxy.port), lifecycle_days: DAYS, ...options }
  const { store, close } = await openObjectStore(place, clock, log)
  t.teardown(close)
  return { store, clock, refreshed, warned, state }
}

const PROVIDERS = [
  { name: 'S3', start: s3, skip: withoutS3 },
  { name: 'Azure', start: azure, skip: withoutAzure },
  { name: 'Google', start: gcs, skip: withoutGcs },
] as const

for (const { name, start, skip } of PROVIDERS) {
  void t.test(name, { skip }, async (t) => {
    const server = await start(t)
    const small = bytesOf(1000)
    const large = bytesOf(5_500_000, 'large')

    await t.test('promises a quarter of the lifecycle, and nothing without one', async (t) => {
      const { store } = await open(t, name, server)
      t.match(store.properties, { retentionMs: (DAYS / 4) * DAY_MS, extendsLifetimes: true })
      const other = await open(t, name, server, { lifecycle_days: 0 })
      t.match(other.store.properties, { retentionMs: 0, extendsLifetimes: false })
    })

    await t.test('what is used in the first half of its lifecycle stays as it is', async (t) => {
      const { store, clock, refreshed } = await open(t, name, server)
      await put(store, digestOf(small), small)
      clock.advance(14 * DAY_MS)
      t.ok(await isPresent(store, digestOf(small)))
      await get(store, digestOf(small))
      t.equal(refreshed.size, 0)
    })

    await t.test(
      'what is used in its second half is refreshed behind the answer, the others are left alone',
      async (t) => {
        const { store, clock, refreshed } = await open(t, name, server)
        const unused = Buffer.from('unused')
        for (const bytes of [small, large, unused]) await put(store, digestOf(bytes), bytes)
        clock.advance(16 * DAY_MS)
        t.ok(await isPresent(store, digestOf(small)))
        t.ok((await get(store, digestOf(large))).equals(large), 'a read is a use')
        await until(async () => refreshed.size === 2)
        for (const bytes of [small, large]) t.ok([...refreshed].some((path) => path.includes(digestOf(bytes).key)))
      },
    )

    await t.test('a refreshed object is as young as a new one, with the same bytes', async (t) => {
      const key_prefix = `young ü/${process.pid}/`
      const { store, clock } = await open(t, name, server, { key_prefix })
      for (const bytes of [small, large]) await put(store, digestOf(bytes), bytes)
      // For this one, what is older than now has expired.
      const seen = await open(t, name, server, { key_prefix, lifecycle_days: 0, consider_expired_after_s: 3600 })
      seen.clock.advance(Date.now() - seen.clock.now() + 3_600_000)
      clock.advance(25 * DAY_MS)
      for (const bytes of [small, large]) {
        t.notOk(await isPresent(seen.store, digestOf(bytes)))
        // Providers tell the time in seconds.
        await until(async () => (await isPresent(store, digestOf(bytes))) && isPresent(seen.store, digestOf(bytes)))
        t.ok((await get(store, digestOf(bytes))).equals(bytes))
      }
    })

    await t.test('the answer waits for the refresh if less than a quarter is left', async (t) => {
      const { store, clock, refreshed } = await open(t, name, server)
      const digest = digestOf(small)
      await put(store, digest, small)
      clock.advance(25 * DAY_MS)
      t.ok(await isPresent(store, digest))
      t.equal(refreshed.size, 1)
    })

    await t.test('a call that needs more than the promise gets it at once', async (t) => {
      const { store, clock, refreshed } = await open(t, name, server)
      const digest = digestOf(small)
      await put(store, digest, small)
      clock.advance(10 * DAY_MS)
      await keep(store, DigestBatch.of([digest]), 19 * DAY_MS, call)
      t.equal(refreshed.size, 0, '20 days are left')
      await keep(store, DigestBatch.of([digest]), 22 * DAY_MS, call)
      t.equal(refreshed.size, 1)
    })

    await t.test('an upload of what is there refreshes it', async (t) => {
      const { store, clock, refreshed } = await open(t, name, server)
      await put(store, digestOf(large), large)
      clock.advance(25 * DAY_MS)
      await put(store, digestOf(large), large)
      t.equal(refreshed.size, 1)
    })

    await t.test('a refresh that fails is told once, and tried again a minute later', async (t) => {
      const { store, clock, warned, state } = await open(t, name, server)
      const digest = digestOf(small)
      await put(store, digest, small)
      state.refusal = 403
      clock.advance(25 * DAY_MS)
      t.ok(await isPresent(store, digest), 'it is still there')
      t.ok(await isPresent(store, digest))
      t.equal(state.requests, 1)
      t.match(warned, [{ store: 'TEST', error: { code: 7 }, advice: /right to write/ }])
      state.refusal = undefined
      clock.advance(61_000)
      t.ok(await isPresent(store, digest))
      t.ok(state.requests > 1)
    })
  })
}
