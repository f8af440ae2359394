import { type Long, MongoClient, MongoServerError } from 'mongodb'
import t from 'tap'
import { mongoFailure } from '../../../../src/store/kinds/experimental_mongo/failure.js'
import { pour } from '../../../../src/stream/blob/pour.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { untilSo } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { counted } from '../../remote/counted.js'
import { TcpProxy } from '../../remote/proxy.js'
import { rejects } from '../../suite.js'
import { startGuardedMongo, startMongo, withoutMongo } from './mongo-server.js'
import { openMongoStore } from './open.js'

const MIB = 1024 * 1024

void t.test('a killed MongoDB is UNAVAILABLE at once, and works when it is back', { skip: withoutMongo }, async (t) => {
  const server = await startMongo(t)
  const { store, probes, close } = await openMongoStore(server.port, { connection_timeout_ms: 1000 })
  t.teardown(close)
  const bytes = bytesOf(1000)
  await put(store, digestOf(bytes), bytes)
  await server.kill()
  await rejects(t, get(store, digestOf(bytes)), 'UNAVAILABLE')
  await rejects(t, put(store, digestOf(bytes), bytes), 'UNAVAILABLE')
  await rejects(t, isPresent(store, digestOf(bytes)), 'UNAVAILABLE')
  t.equal(probes[0]?.structName, 'MongoBucket')
  t.match(await probes[0]?.check(call.signal), { state: 'Failed', error: /^UNAVAILABLE: / })
  await server.restart()
  await untilSo(async () => (await store.health(call)).state === 'Ok')
  t.ok((await get(store, digestOf(bytes))).equals(bytes), 'what was acknowledged is still there')
})

void t.test(
  'a lost connection to MongoDB loses no byte and shows no partial blob',
  { skip: withoutMongo },
  async (t) => {
    const server = await startMongo(t)
    const proxy = await TcpProxy.start(t, server.port)
    const { store, close } = await openMongoStore(proxy.port)
    t.teardown(close)
    const bytes = bytesOf(2 * MIB)
    for (const at of [100_000, MIB]) {
      proxy.cutAfter(at)
      await untilSo(async () => {
        await put(store, digestOf(bytes), bytes)
        return true
      })
      proxy.cutAfter(at)
      await untilSo(async () => (await get(store, digestOf(bytes))).equals(bytes))
    }
    const other = bytesOf(2 * MIB, 'never whole')
    proxy.cutAfter(MIB)
    await put(store, digestOf(other), other).catch(() => {})
    await untilSo(async () => (await store.health(call)).state === 'Ok')
    const isWhole = await get(store, digestOf(other)).then(
      (found) => found.equals(other),
      (error: { code: number }) => error.code === 5,
    )
    t.ok(isWhole, 'all of it or nothing')
  },
)

void t.test('the server starts without MongoDB, and uses it when it is there', { skip: withoutMongo }, async (t) => {
  const server = await startMongo(t)
  const proxy = await TcpProxy.start(t, server.port)
  proxy.refuses = true
  const { store, close } = await openMongoStore(proxy.port, { connection_timeout_ms: 3000 })
  t.teardown(close)
  const bytes = bytesOf(1000)
  await rejects(t, put(store, digestOf(bytes), bytes), 'UNAVAILABLE')
  await rejects(t, isPresent(store, digestOf(bytes)), 'UNAVAILABLE')
  proxy.refuses = false
  await untilSo(async () => (await store.health(call)).state === 'Ok')
  await put(store, digestOf(bytes), bytes)
  t.ok((await get(store, digestOf(bytes))).equals(bytes))
})

void t.test(
  'a MongoDB that does not answer is DEADLINE_EXCEEDED in time, and works again afterwards',
  { skip: withoutMongo },
  async (t) => {
    const server = await startMongo(t)
    const proxy = await TcpProxy.start(t, server.port)
    const { store, close } = await openMongoStore(proxy.port, { command_timeout_ms: 2000 })
    t.teardown(close)
    const bytes = bytesOf(1000)
    await put(store, digestOf(bytes), bytes)
    proxy.isStalled = true
    await rejects(t, get(store, digestOf(bytes)), 'DEADLINE_EXCEEDED')
    await rejects(t, isPresent(store, digestOf(bytes)), 'DEADLINE_EXCEEDED')
    proxy.isStalled = false
    await untilSo(async () => (await get(store, digestOf(bytes))).equals(bytes))
    t.pass('read when it answers again')
  },
)

void t.test(
  'a changed MongoDB password is UNAUTHENTICATED, and works again when it is changed back',
  { skip: withoutMongo },
  async (t) => {
    const server = await startGuardedMongo(t)
    const proxy = await TcpProxy.start(t, server.port)
    const at = (who: string, port: number): string => `mongodb://${who}@127.0.0.1:${port}/?authSource=builds`
    const root = new MongoClient(at('root:secret', server.port))
    t.teardown(() => root.close())
    await root.db('builds').command({ createUser: 'builder', pwd: 'first', roles: [] })
    const {
      store: backend,
      probes,
      close,
    } = await openMongoStore(proxy.port, { connection_string: at('builder:first', proxy.port) })
    t.teardown(close)
    const { store, failures } = counted(backend)
    const bytes = bytesOf(200_000)
    await put(store, digestOf(bytes), bytes)
    await root.db('builds').command({ updateUser: 'builder', pwd: 'second' })
    // Connections that stand go on; new ones have to say who they are.
    proxy.cut()
    await untilSo(async () => (await get(store, digestOf(bytes)).catch((error: { code: number }) => error.code)) === 16)
    failures()
    await rejects(t, put(store, digestOf(bytes), bytes), 'UNAUTHENTICATED')
    t.same(failures(), ['write error: 1'])
    const health = JSON.stringify(await probes[0]?.check(call.signal))
    t.match(health, /Failed.*UNAUTHENTICATED/)
    t.notMatch(health, /first/)
    await root.db('builds').command({ updateUser: 'builder', pwd: 'first' })
    await untilSo(async () => (await store.health(call)).state === 'Ok')
    t.ok((await get(store, digestOf(bytes))).equals(bytes))
  },
)

void t.test('a read whose cursor the server dropped continues at its position', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  const { store, close } = await openMongoStore(port)
  t.teardown(close)
  const bytes = bytesOf(8 * MIB)
  const digest = digestOf(bytes)
  await put(store, digest, bytes)
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/`)
  t.teardown(() => client.close())
  const found: Buffer[] = []
  let killed = 0
  const form = await (await store.get(digest, WHOLE, call)).take()
  const take = async (chunk: Buffer): Promise<void> => {
    if (found.push(Buffer.from(chunk)) > 1) return
    const other = client.db('builds').collection('cas.chunks').find({}, { batchSize: 1 })
    await other.next()
    // This server numbers them one after the other.
    const cursors = [1, 2, 3].map((before) => (other.id as Long).subtract(before))
    const answer = await client.db('builds').command({ killCursors: 'cas.chunks', cursors })
    killed = answer['cursorsKilled'].length
    await other.close()
  }
  await pour(form, take, call.signal)
  t.equal(killed, 1)
  t.ok(Buffer.concat(found).equals(bytes))
})

void t.test('a blob of many chunks is read with one query', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  const { store, close } = await openMongoStore(port)
  t.teardown(close)
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/`)
  t.teardown(() => client.close())
  const questions = async (): Promise<number> => {
    const { metrics } = await client.db('builds').command({ serverStatus: 1 })
    return metrics.commands.find?.total ?? 0
  }
  const bytes = bytesOf(2 * MIB)
  await put(store, digestOf(bytes), bytes)
  const before = await questions()
  t.ok((await get(store, digestOf(bytes))).equals(bytes))
  t.equal((await questions()) - before, 2, 'for the blob, and for all of its chunks')
})

void t.test('a reader that stops lets MongoDB send no further batches', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  const { store, close } = await openMongoStore(port)
  t.teardown(close)
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/`)
  t.teardown(() => client.close())
  const batches = async (): Promise<number> => {
    const { metrics } = await client.db('builds').command({ serverStatus: 1 })
    return metrics.commands.getMore?.total ?? 0
  }
  const bytes = bytesOf(8 * MIB)
  const digest = digestOf(bytes)
  await put(store, digest, bytes)
  const before = await batches()
  await get(store, digest)
  const alone = (await batches()) - before
  t.ok(alone > 1, `${alone} further batches`)
  let meanwhile: number | undefined
  const take = async (): Promise<void> => {
    if (meanwhile !== undefined) return
    // Another reader takes all of the blob meanwhile.
    await get(store, digest)
    meanwhile = (await batches()) - before - alone
  }
  await pour(await (await store.get(digest, WHOLE, call)).take(), take, call.signal)
  t.equal(meanwhile, alone)
})

void t.test('writes ask MongoDB for its journal if the configuration says so', { skip: withoutMongo }, async (t) => {
  const server = await startMongo(t)
  const proxy = await TcpProxy.start(t, server.port)
  /** A Boolean field of BSON. */
  const isJournaled = (isSet: boolean): string => `\x08j\0${isSet ? '\x01' : '\0'}`
  for (const asked of [true, false]) {
    const { store, close } = await openMongoStore(proxy.port, { write_concern_w: '1', write_concern_j: asked })
    t.teardown(close)
    const sent = proxy.record()
    const bytes = bytesOf(1000)
    await put(store, digestOf(bytes), bytes)
    t.equal(sent().includes(isJournaled(asked)), true, `write_concern_j: ${asked}`)
  }
})

void t.test('errors of a replica set during an election, and of dropped cursors, are UNAVAILABLE', async (t) => {
  for (const code of [43, 91, 237, 189, 10107, 11600, 11602, 13435, 13436]) {
    const said = new MongoServerError({ code, errmsg: 'not primary' })
    t.match(mongoFailure('MongoDB at a set', said), { code: 14, message: new RegExp(`MongoServerError ${code}`) })
  }
})

void t.test('a contradictory MongoDB configuration is rejected at start', async (t) => {
  await rejects(t, openMongoStore(1, { connection_string: 'http://127.0.0.1' }), 'INVALID_ARGUMENT')
  await rejects(t, openMongoStore(1, { write_concern_j: true }), 'INVALID_ARGUMENT')
  await rejects(t, openMongoStore(1, { read_chunk_size: 16_000_000 }), 'INVALID_ARGUMENT')
})
