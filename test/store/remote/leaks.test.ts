import { readdir } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { callWith } from '../../../src/base/call.js'
import type { Store } from '../../../src/store/store.js'
import { WHOLE } from '../../../src/stream/path.js'
import { bytesOf, call, digestOf, get, put } from '../blobs.js'
import { startMongo, withoutMongo } from '../experimental-mongo/mongo-server.js'
import { openMongoStore } from '../experimental-mongo/open.js'
import { endpoint, openGrpcStore, startRemexec } from '../grpc/remexec.js'
import { openRedisStore, startRedis, withoutRedis } from '../redis-store/redis.js'
import { type Scope, untilSo } from './backend.js'
import { TcpProxy } from './proxy.js'

t.setTimeout(170_000)

const KIB = 1024
const MIB = 1024 * KIB
const NO_RETRY = { max_retries: 0, delay: 0, jitter: 0, budget_s: 0 }

const BACKENDS: readonly {
  readonly name: string
  readonly skip: string | false
  start(t: Scope): Promise<number>
  open(t: Scope, port: number): Promise<Store>
}[] = [
  {
    name: 'Redis',
    skip: withoutRedis,
    start: async (t) => (await startRedis(t)).port,
    open: async (t, port) => (await openRedisStore(t, [`redis://127.0.0.1:${port}`], { retry: NO_RETRY })).store,
  },
  {
    name: 'MongoDB',
    skip: withoutMongo,
    start: async (t) => (await startMongo(t)).port,
    open: async (t, port) => {
      const { store, close } = await openMongoStore(port, { connection_timeout_ms: 1000 })
      t.teardown(close)
      return store
    },
  },
  {
    name: 'another REAPI server',
    skip: false,
    start: async (t) => (await startRemexec(t)).port,
    open: async (t, port) =>
      (await openGrpcStore(t, { endpoints: [endpoint(port)], experimental_remote_cache_compression: false })).store,
  },
]

const openDescriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Bytes that streams and buffers hold behind the heap, when what nobody needs has been collected. */
const heldBytes = (): number => {
  collect()
  collect()
  return process.memoryUsage().arrayBuffers
}

const FAULTS = 4

/** A pool may have grown by one or two meanwhile, as more was under way at a time; what leaks does so with each fault. */
const SLACK = FAULTS / 2

for (const { name, skip, start, open } of BACKENDS) {
  void t.test(`${name}: transfers that break leave no connection, descriptor or buffer`, { skip }, async (t) => {
    const proxy = await TcpProxy.start(t, await start(t))
    const store = await open(t, proxy.port)
    const bytes = bytesOf(MIB)
    const digest = digestOf(bytes)
    const isWell = async (): Promise<boolean> => (await store.health(call)).state === 'Ok'
    const breakOnce = async (round: number): Promise<void> => {
      const other = bytesOf(MIB, `broken ${round}`)
      proxy.cutAfter(300 * KIB)
      await put(store, digestOf(other), other).catch(() => {})
      await untilSo(isWell)
      proxy.cutAfter(300 * KIB)
      await get(store, digest).catch(() => {})
      proxy.cutAfter(Number.POSITIVE_INFINITY)
      await untilSo(isWell)
      const leaving = new AbortController()
      const blob = await store.get(digest, WHOLE, callWith(call, { signal: leaving.signal }))
      const reading = blob.drain(leaving.signal).catch(() => {})
      leaving.abort()
      await reading
      const unread = await store.get(digest, WHOLE, call)
      unread.discard()
    }
    await untilSo(isWell)
    await put(store, digest, bytes)
    await breakOnce(0)
    const settled = async () => ({
      descriptors: await openDescriptors(),
      connections: proxy.connections,
      held: heldBytes(),
    })
    const before = await settled()
    for (let round = 1; round <= FAULTS; round++) await breakOnce(round)
    // Connections that were cut close in their time.
    await untilSo(async () => {
      const { descriptors, connections } = await settled()
      return connections <= before.connections + SLACK && descriptors <= before.descriptors + 2 * SLACK
    })
    const after = await settled()
    t.ok(
      after.connections <= before.connections + SLACK,
      `${after.connections} connections, ${before.connections} before`,
    )
    t.ok(
      after.descriptors <= before.descriptors + 2 * SLACK,
      `${after.descriptors} descriptors, ${before.descriptors} before`,
    )
    t.ok(after.held - before.held < 2 * MIB, `${after.held - before.held} bytes more are held`)
    t.ok((await get(store, digest)).equals(bytes), 'and all is well')
  })
}
