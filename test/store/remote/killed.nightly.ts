/** Backends killed in the middle of a transfer, as by the kernel when memory is short. */
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import type { Store } from '../../../src/blobs/store.js'
import { pour } from '../../../src/stream/blob/pour.js'
import { WHOLE } from '../../../src/stream/path.js'
import { untilSo } from '../../until.js'
import { bytesOf, call, cut, digestOf, get, isPresent, put, putStream } from '../blobs.js'
import { openObjectStore } from '../kinds/experimental_cloud_object_store/open.js'
import { S3_KEYS, startS3, withoutS3 } from '../kinds/experimental_cloud_object_store/s3-server.js'
import { startMongo, withoutMongo } from '../kinds/experimental_mongo/mongo-server.js'
import { openMongoStore } from '../kinds/experimental_mongo/open.js'
import { endpoint, openGrpcStore, startRemexec } from '../kinds/grpc/remexec.js'
import { openRedisStore, startRedis, withoutRedis } from '../kinds/redis_store/redis.js'
import { rejects } from '../suite.js'
import { folderOf } from './backend.js'
import { counted } from './counted.js'

// For changes in: src/store/remote, src/store/objects, src/store/kinds/grpc, src/store/kinds/redis_store
// For changes in: src/store/kinds/experimental_cloud_object_store, src/store/kinds/experimental_mongo

t.setTimeout(120_000)

const MIB = 1024 * 1024
const retry = { max_retries: 0, delay: 0, jitter: 0, budget_s: 60 }

interface Killable {
  kill(): Promise<void>
  /** At the same port, with the acknowledged blobs. */
  restart(): Promise<Killable>
}

interface Case {
  readonly skip: string | false
  open(t: Test): Promise<{ readonly server: Killable; readonly store: Store; close(): Promise<void> }>
}

const CASES: Readonly<Record<string, Case>> = {
  S3: {
    skip: withoutS3,
    open: async (t) => {
      process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
      process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
      const server = await startS3(t)
      const place = { bucket: server.bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${server.port}` }
      return { server, ...(await openObjectStore({ provider: 'aws', ...place, retry })) }
    },
  },
  redis_store: {
    skip: withoutRedis,
    open: async (t) => {
      const kept = ['--dir', await folderOf(t), '--appendonly', 'yes', '--appendfsync', 'always']
      const server = await startRedis(t, kept)
      return { server, ...(await openRedisStore(t, [server.address], { retry })) }
    },
  },
  experimental_mongo: {
    skip: withoutMongo,
    open: async (t) => {
      const server = await startMongo(t)
      return { server, ...(await openMongoStore(server.port, { connection_timeout_ms: 1000 })) }
    },
  },
  grpc: {
    skip: false,
    open: async (t) => {
      const server = await startRemexec(t)
      return { server, ...(await openGrpcStore(t, { endpoints: [endpoint(server.port)], retry })) }
    },
  },
}

/** Bytes whose reader waits for `work` after half of them. */
const withPause = (bytes: Buffer, work: () => Promise<void>): Readable => {
  const halves = async function* (): AsyncGenerator<Buffer> {
    yield* cut(bytes.subarray(0, bytes.length / 2))
    await work()
    yield* cut(bytes.subarray(bytes.length / 2))
  }
  return Readable.from(halves(), { objectMode: false })
}

for (const [name, { skip, open }] of Object.entries(CASES)) {
  void t.test(`${name} that is killed in the middle of transfers`, { skip }, async (t) => {
    const { server: first, store: backend, close } = await open(t)
    t.teardown(close)
    const { store, failures } = counted(backend)
    const untilWell = () => untilSo(async () => (await backend.health(call)).state === 'Ok')
    await untilWell()
    const [kept, other] = [bytesOf(24 * MIB), bytesOf(24 * MIB, 'other')]
    await put(store, digestOf(kept), kept)

    const upload = putStream(
      store,
      digestOf(other),
      withPause(other, () => first.kill()),
    )
    await rejects(t, upload, 'UNAVAILABLE')
    t.same(failures(), ['write error: 1'])
    const second = await first.restart()
    await untilWell()
    t.notOk(await isPresent(store, digestOf(other)), 'no part of it is there')
    t.ok((await get(store, digestOf(kept))).equals(kept), 'acknowledged blobs are there')

    let killing: Promise<void> | undefined
    const kill = (): Promise<void> => {
      killing ??= second.kill()
      return killing
    }
    const reading = pour(await (await store.get(digestOf(kept), WHOLE, call)).take(), kill, call.signal)
    await rejects(t, reading, 'UNAVAILABLE')
    t.same(failures(), ['read error: 1'])
    await second.restart()
    await untilWell()
    await put(store, digestOf(other), other)
    for (const bytes of [kept, other]) t.ok((await get(store, digestOf(bytes))).equals(bytes), 'and all is well')
    t.same(failures(), [])
  })
}
