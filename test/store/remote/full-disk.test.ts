/** Uploads when the disk of a backend is full: each backend has its own small disk. */
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Code, type CodeName } from '../../../src/base/status-error.js'
import type { Store } from '../../../src/blobs/store.js'
import { untilSo } from '../../until.js'
import { bytesOf, digestOf, get, isPresent, put } from '../blobs.js'
import { startAzure, withoutAzure } from '../kinds/experimental_cloud_object_store/azure-server.js'
import { startGcs, withoutGcs } from '../kinds/experimental_cloud_object_store/gcs-server.js'
import { openObjectStore } from '../kinds/experimental_cloud_object_store/open.js'
import { S3_KEYS, startS3, withoutS3 } from '../kinds/experimental_cloud_object_store/s3-server.js'
import { startMongo, withoutMongo } from '../kinds/experimental_mongo/mongo-server.js'
import { openMongoStore } from '../kinds/experimental_mongo/open.js'
import { openRedisStore, startRedis, withoutRedis } from '../kinds/redis_store/redis.js'
import { smallDisk } from '../small-disk.js'

const MIB = 1024 * 1024

interface Case {
  readonly skip: string | false
  /** The error of an upload: a full disk, or an unexplained failure of the backend. */
  readonly refusal: CodeName
  readonly message: RegExp
  open(t: Test, disk: string): Promise<{ readonly store: Store; close(): Promise<void> }>
}

const CASES: Readonly<Record<string, Case>> = {
  redis_store: {
    skip: withoutRedis,
    refusal: 'RESOURCE_EXHAUSTED',
    message: /MISCONF .*No space left/,
    // It keeps everything in memory: only its other writes can fail.
    open: async (t, disk) => {
      const { address } = await startRedis(t, ['--dir', disk, '--appendonly', 'yes'])
      return openRedisStore(t, [address], { retry: { max_retries: 0, delay: 0, jitter: 0, budget_s: 60 } })
    },
  },
  S3: {
    skip: withoutS3,
    refusal: 'RESOURCE_EXHAUSTED',
    message: /InsufficientStorage/,
    open: async (t, disk) => {
      process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
      process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
      const { port, bucket } = await startS3(t, 'us-east-1', disk)
      return openObjectStore({ provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` })
    },
  },
  'Google Cloud Storage': {
    skip: withoutGcs,
    refusal: 'UNAVAILABLE',
    message: /Internal Server Error/,
    open: async (t, disk) => {
      const { bucket, proxy } = await startGcs(t, disk)
      return openObjectStore({ provider: 'gcs', bucket, endpoint: `http://127.0.0.1:${proxy.port}` })
    },
  },
  'Azure Blob Storage': {
    skip: withoutAzure,
    refusal: 'UNAVAILABLE',
    message: /HTTP 500/,
    open: async (t, disk) => {
      const { sasUrl, container } = await startAzure(t, disk)
      return openObjectStore({ provider: 'azure', container, sas_url: sasUrl(3_600_000) })
    },
  },
  experimental_mongo: {
    skip: withoutMongo,
    refusal: 'UNAVAILABLE',
    message: /MongoBulkWriteError 1/,
    open: async (t, disk) => openMongoStore((await startMongo(t, disk)).port),
  },
}

/** Fills the disk except this much; returns a function that frees it. */
const fill = async (disk: string, freeBytes: number): Promise<() => Promise<void>> => {
  const { bavail, bsize } = await statfs(disk)
  const ballast = join(disk, 'ballast')
  await writeFile(ballast, Buffer.alloc(bavail * bsize - freeBytes))
  return () => rm(ballast)
}

for (const [name, { skip, refusal, message, open }] of Object.entries(CASES)) {
  void t.test(`${name} on a full disk loses nothing and shows no partial blobial blob`, { skip }, async (t) => {
    const disk = await smallDisk(t, '64m')
    if (disk === undefined) return t.pass('a small disk', { skip: 'cannot mount one here' })
    const { store, close } = await open(t, disk)
    t.teardown(close)
    const before = bytesOf(100_000)
    await put(store, digestOf(before), before)

    const empty = await fill(disk, MIB)
    const large = bytesOf(6 * MIB, 'too large')
    const failure = await put(store, digestOf(large), large).then(
      () => undefined,
      (error: unknown) => error,
    )
    t.match(failure, { code: Code[refusal], message }, 'it is refused')
    await untilSo(async () => (await get(store, digestOf(before))).equals(before))
    t.notOk(await isPresent(store, digestOf(large)), 'no part of it is there')

    await empty()
    await untilSo(async () => {
      await put(store, digestOf(large), large)
      return true
    })
    t.ok((await get(store, digestOf(large))).equals(large), 'accepted as soon as there is room')
    t.ok((await get(store, digestOf(before))).equals(before))
  })
}
