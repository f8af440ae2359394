import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { bytesOf, call, cut, digestOf, get, isPresent, put, source, until } from '../blobs.js'
import { TcpProxy } from '../remote/proxy.js'
import { rejects } from '../suite.js'
import { openObjectStore } from './open.js'
import { S3_KEYS, startS3, withoutS3 } from './s3-server.js'

const MIB = 1024 * 1024

void t.test('S3 behind a connection that breaks', { skip: withoutS3, timeout: 170_000 }, async (t) => {
  const server = await startS3(t)
  const proxy = await TcpProxy.start(t, server.port)
  process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
  const place = { provider: 'aws', bucket: server.bucket, region: 'us-east-1' } as const
  const endpoint = `http://127.0.0.1:${proxy.port}`
  const retry = { max_retries: 5, delay: 0.01, jitter: 0, budget_s: 60 }

  await t.test('nobody there is UNAVAILABLE and told by the health of the connection, until somebody is', async (t) => {
    const { store, probe, close } = await openObjectStore({ ...place, endpoint })
    t.teardown(close)
    const bytes = bytesOf(1000)
    proxy.refuses = true
    await rejects(t, put(store, digestOf(bytes), bytes), 'UNAVAILABLE')
    await rejects(t, get(store, digestOf(bytes)), 'UNAVAILABLE')
    await rejects(t, isPresent(store, digestOf(bytes)), 'UNAVAILABLE')
    const failed = await probe.check(call.signal)
    t.match(failed, { state: 'Failed', structName: 'S3Bucket', error: /^UNAVAILABLE: aws bucket builds/ })
    t.match(probe.namespace, '/connections/TEST/aws bucket builds')
    proxy.refuses = false
    await put(store, digestOf(bytes), bytes)
    t.ok((await get(store, digestOf(bytes))).equals(bytes))
    t.match(await probe.check(call.signal), { state: 'Ok' })
  })

  await t.test('a read that is cut goes on where it was, and without further attempts fails', async (t) => {
    const { store, close } = await openObjectStore({ ...place, endpoint, retry, key_prefix: 'cut/' })
    const once = await openObjectStore({ ...place, endpoint, key_prefix: 'cut/' })
    t.teardown(close)
    t.teardown(once.close)
    const bytes = bytesOf(9 * MIB)
    await put(store, digestOf(bytes), bytes)
    proxy.cutAfter(3 * MIB)
    t.ok((await get(store, digestOf(bytes))).equals(bytes))
    proxy.cutAfter(3 * MIB)
    await rejects(t, get(once.store, digestOf(bytes)), 'UNAVAILABLE')
  })

  await t.test('an upload that is cut is sent again, and given up leaves neither blob nor parts', async (t) => {
    const { store, close } = await openObjectStore({ ...place, endpoint, retry })
    const once = await openObjectStore({ ...place, endpoint })
    t.teardown(close)
    t.teardown(once.close)
    const bytes = bytesOf(17 * MIB)
    proxy.cutAfter(8 * MIB)
    await put(store, digestOf(bytes), bytes)
    t.ok((await get(store, digestOf(bytes))).equals(bytes))
    proxy.cutAfter(8 * MIB)
    await rejects(t, put(once.store, digestOf(bytes), bytes), 'UNAVAILABLE')
    t.notOk(await isPresent(once.store, digestOf(bytes)))
    await until(async () => (await server.openUploads()).length === 0)
    const controller = new AbortController()
    const stalled = source(cut(bytes.subarray(0, 12 * MIB))).on('end', () => controller.abort())
    await rejects(
      t,
      once.store.put(digestOf(bytes), Blob.ofPath([stalled]), { ...call, signal: controller.signal }),
      'CANCELLED',
    )
    t.notOk(await isPresent(once.store, digestOf(bytes)))
    t.same(await server.openUploads(), [])
  })

  await t.test('wrong keys are UNAUTHENTICATED, and a bucket that is not there is no missing blob', async (t) => {
    const bytes = bytesOf(1000)
    const wrong = { access_key_id: S3_KEYS.accessKeyId, secret_access_key: 'wrong' }
    const strange = await openObjectStore({
      ...place,
      provider: 'oci',
      namespace: 'builders',
      ...wrong,
      endpoint,
      retry,
    })
    t.teardown(strange.close)
    await rejects(t, put(strange.store, digestOf(bytes), bytes), 'UNAUTHENTICATED')
    await rejects(t, get(strange.store, digestOf(bytes)), 'UNAUTHENTICATED')
    const nowhere = await openObjectStore({ ...place, bucket: 'nowhere', endpoint })
    t.teardown(nowhere.close)
    await rejects(t, put(nowhere.store, digestOf(bytes), bytes), 'FAILED_PRECONDITION')
    await rejects(t, get(nowhere.store, digestOf(bytes)), 'FAILED_PRECONDITION')
    t.match(await nowhere.probe.check(call.signal), { state: 'Failed' })
  })

  await t.test('what is wrong or too old in the bucket counts as missing or is never served', async (t) => {
    const clock = new ManualClock(Date.now())
    const options = { ...place, endpoint, key_prefix: 'old/', consider_expired_after_s: 3600 }
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
    const other = Buffer.from(bytes)
    other.writeUInt8(other.readUInt8(7) ^ 1, 7)
    await put(store, digest.asKey(), other)
    await rejects(t, get(store, digest), 'DATA_LOSS')
    t.notOk(await isPresent(store, digest), 'what was corrupt is taken away')
  })
})
