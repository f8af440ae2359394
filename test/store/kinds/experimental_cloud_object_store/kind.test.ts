import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { getBytes } from '../../../../src/blobs/store.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { bytesOf, call, cut, digestOf, put, source } from '../../blobs.js'
import { startGcs, withoutGcs } from './gcs-server.js'
import { openObjectStore } from './open.js'
import { S3_KEYS, startS3, withoutS3 } from './s3-server.js'
import { objectStoreSuites } from './suites.js'

t.setTimeout(600_000)

const MIB = 1024 * 1024

objectStoreSuites(t, false)

void t.test('parts of concurrent uploads stay separate in reused memory', { skip: withoutS3 }, async (t) => {
  const { port, bucket } = await startS3(t)
  process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
  const place = { provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` } as const
  const { store, close } = await openObjectStore(place)
  t.teardown(close)
  for (const round of [1, 2]) {
    const blobs = Array.from({ length: 4 }, (_, index) => bytesOf(11_000_000 + index, `${round} ${index}`))
    await Promise.all(blobs.map((bytes) => put(store, digestOf(bytes), bytes)))
    for (const bytes of blobs) {
      const digest = digestOf(bytes)
      t.ok(bytes.equals(await getBytes(store, digest, bytes.length, call)), `${digest} of round ${round}`)
    }
  }
})

void t.test('an upload to Google with a slow end keeps its own bytes', { skip: withoutGcs }, async (t) => {
  const { bucket, proxy } = await startGcs(t)
  const place = { provider: 'gcs', bucket, endpoint: `http://127.0.0.1:${proxy.port}` } as const
  const { store, close } = await openObjectStore({ ...place, resumable_chunk_size: 16 * MIB })
  t.teardown(close)
  // More than the socket buffers hold, so that the other upload could still overwrite bytes of this one.
  const [slow, other] = [bytesOf(31 * MIB, 'slow'), bytesOf(31 * MIB, 'other')]
  const chunks = source(cut(slow))
  const putting = store.put(digestOf(slow), Blob.ofPath([chunks]), call)
  await once(chunks, 'end')
  proxy.delayMs = 5
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  const second = put(store, digestOf(other).asKey(), other)
  await putting
  proxy.delayMs = 0
  await second
  t.ok((await getBytes(store, digestOf(slow), slow.length, call)).equals(slow))
  t.ok((await getBytes(store, digestOf(other).asKey(), other.length, call)).equals(other))
})
