import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Code, type StatusError } from '../../../../src/base/status-error.js'
import { missingOf, type Store } from '../../../../src/blobs/store.js'
import { HealthRegistry } from '../../../../src/health/registry.js'
import { callWith } from '../../../../src/rpc/call.js'
import { fastSlow } from '../../../../src/store/kinds/fast_slow/kind.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { PushedFeed } from '../../../../src/stream/blob/pushed-feed.js'
import { until, untilSo } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { buildStore, given, memoryStore, tierDefaults } from '../../build.js'
import { freePorts } from '../../remote/backend.js'
import { TcpProxy } from '../../remote/proxy.js'
import { rejects } from '../../suite.js'
import { Watched } from '../../watched.js'
import { ask, keysAt, openRedisStore, startCluster, startRedis, startSentinels, withoutRedis } from './redis.js'

// These tests wait for timers and programs, most of them for seconds: side by side they take as long as the longest.
t.jobs = 4

const KIB = 1024
const MIB = 1024 * KIB
const skip = withoutRedis
const NO_RETRY = { max_retries: 0, delay: 0, jitter: 0, budget_s: 0 }
/** Like a server in use: what Redis does not answer while it changes its master is asked again. */
const LASTING = { max_retries: 1000, delay: 0.05, jitter: 0, budget_s: 50 }
/** For the first connection on a machine with other work. A store that cannot connect takes all of it to open. */
const PATIENT = { connection_timeout_ms: 10_000 }

const blob = (sizeBytes: number, seed: string) => {
  const bytes = bytesOf(sizeBytes, seed)
  return { bytes, digest: digestOf(bytes) }
}

void t.test('a Redis that is absent at start is UNAVAILABLE, and works when it is there', { skip }, async (t) => {
  const [port = 0] = await freePorts(1)
  const options = { connection_timeout_ms: 1000, retry: NO_RETRY }
  const { store, probes } = await openRedisStore(t, [`redis://:a-secret@127.0.0.1:${port}`], options)
  const registry = new HealthRegistry()
  for (const probe of probes) registry.register(probe)
  const { bytes, digest } = blob(100, 'early')
  await rejects(t, put(store, digest, bytes), 'UNAVAILABLE')
  await rejects(t, get(store, digest), 'UNAVAILABLE')
  const told = JSON.stringify(await registry.report(5000))
  t.match(told, /"Failed".*ECONNREFUSED/)
  t.match(told, new RegExp(`/connections/TEST/127.0.0.1:${port}`))
  t.notMatch(told, /a-secret/)
  await startRedis(t, ['--requirepass', 'a-secret'], port)
  await untilSo(async () => (await store.health(call)).state === 'Ok')
  await put(store, digest, bytes)
  t.ok((await get(store, digest)).equals(bytes))
  t.match(JSON.stringify(await registry.report(5000)), /"Ok"/)
})

void t.test('a wrong password is UNAUTHENTICATED', { skip }, async (t) => {
  const server = await startRedis(t, ['--requirepass', 'right'])
  const at = (password: string): string[] => [`redis://:${password}@127.0.0.1:${server.port}`]
  const options = { connection_timeout_ms: 1000, retry: NO_RETRY }
  const { bytes, digest } = blob(100, 'auth')
  const wrong = await openRedisStore(t, at('wrong'), options)
  // Before the first answer of Redis it is only offline.
  const refusal = () => put(wrong.store, digest, bytes).catch((error: StatusError) => error.code)
  await untilSo(async () => (await refusal()) === Code.UNAUTHENTICATED)
  await rejects(t, put(wrong.store, digest, bytes), 'UNAUTHENTICATED')
  const right = await openRedisStore(t, at('right'), { ...options, ...PATIENT })
  await put(right.store, digest, bytes)
  t.ok((await get(right.store, digest)).equals(bytes))
})

void t.test('cancelled uploads leave nothing, even if other connections are faster', { skip }, async (t) => {
  const server = await startRedis(t)
  const { store } = await openRedisStore(t, [server.address], { retry: NO_RETRY, ...PATIENT, connection_pool_size: 4 })
  const { bytes, digest } = blob(2 * MIB, 'given up')
  const giveUp = async (chunks: number): Promise<void> => {
    const controller = new AbortController()
    const feed = new PushedFeed()
    const putting = store.put(digest, Blob.ofFeed(feed), { ...call, signal: controller.signal })
    for (let at = 0; at < chunks; at++) await feed.push(bytes.subarray(at * 64 * KIB, (at + 1) * 64 * KIB))
    controller.abort()
    await rejects(t, putting, 'CANCELLED')
  }
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 8 }, (_, lane) => giveUp(2 + lane * 2)))
    t.same(await keysAt(server.port), [])
  }
})

void t.test('a connection lost in the middle loses no byte and shows no partial blob', { skip }, async (t) => {
  const server = await startRedis(t)
  const proxy = await TcpProxy.start(t, server.port)
  const retry = { max_retries: 8, delay: 0.05, jitter: 0, budget_s: 20 }
  const { store } = await openRedisStore(t, [`redis://127.0.0.1:${proxy.port}`], { retry })
  const { bytes, digest } = blob(3 * MIB, 'cut')
  for (const at of [1000, 300 * KIB, 2 * MIB]) {
    proxy.cutAfter(at)
    await put(store, digest, bytes)
    proxy.cutAfter(at)
    t.ok((await get(store, digest)).equals(bytes), `cut after ${at} bytes, and tried again`)
  }
  const plain = await openRedisStore(t, [`redis://127.0.0.1:${proxy.port}`], { retry: NO_RETRY, ...PATIENT })
  const other = blob(3 * MIB, 'never whole')
  for (const at of [1000, 300 * KIB, 2 * MIB]) {
    proxy.cutAfter(at)
    await rejects(t, put(plain.store, other.digest, other.bytes), 'UNAVAILABLE')
    await untilSo(async () => (await plain.store.health(call)).state === 'Ok')
    t.notOk(await isPresent(store, other.digest), `given up after ${at} bytes`)
  }
})

void t.test(
  'a Redis that does not answer is DEADLINE_EXCEEDED in time, and works again afterwards',
  { skip },
  async (t) => {
    const server = await startRedis(t)
    const options = { command_timeout_ms: 3000, retry: NO_RETRY, ...PATIENT }
    const { store } = await openRedisStore(t, [server.address], options)
    // While Redis works, nothing is asked of the store whose time limit is short.
    const lasting = await openRedisStore(t, [server.address], { retry: LASTING })
    const { bytes, digest } = blob(100, 'slow')
    await put(lasting.store, digest, bytes)
    server.pause()
    const error = await get(store, digest).catch((thrown: { code: number }) => thrown)
    server.resume()
    t.ok(
      'code' in error && [4, 14].includes(error.code as number),
      'DEADLINE_EXCEEDED, or UNAVAILABLE once the connection was given up',
    )
    await untilSo(async () => (await get(store, digest)).equals(bytes))
  },
)

void t.test('a full Redis is RESOURCE_EXHAUSTED and keeps no part of a blob', { skip }, async (t) => {
  const server = await startRedis(t, ['--maxmemory', '4mb', '--maxmemory-policy', 'noeviction'])
  const { store } = await openRedisStore(t, [server.address], { retry: NO_RETRY, ...PATIENT })
  const small = blob(1000, 'small')
  await put(store, small.digest, small.bytes)
  const { bytes, digest } = blob(8 * MIB, 'too large')
  await rejects(t, put(store, digest, bytes), 'RESOURCE_EXHAUSTED')
  t.notOk(await isPresent(store, digest))
  await untilSo(async () => (await keysAt(server.port)).length === 1)
  t.ok((await get(store, small.digest)).equals(small.bytes), 'what was there is still there')
})

void t.test('a blob whose parts are evicted during the upload is rejected as a whole', { skip }, async (t) => {
  const server = await startRedis(t, ['--maxmemory', '4mb', '--maxmemory-policy', 'allkeys-lru'])
  const { store } = await openRedisStore(t, [server.address], { retry: NO_RETRY, ...PATIENT })
  const { bytes, digest } = blob(12 * MIB, 'larger than all of it')
  const outcome = await put(store, digest, bytes).then(
    () => 'kept',
    (error: { code: number }) => error.code,
  )
  t.ok(outcome !== 'kept', `answered ${outcome}`)
  t.notOk(await isPresent(store, digest))
  await rejects(t, get(store, digest), 'NOT_FOUND')
})

void t.test('keys expire, and existence checks extend their life', { skip }, async (t) => {
  const server = await startRedis(t)
  const { store } = await openRedisStore(t, [server.address], { key_ttl_s: 100 })
  for (const sizeBytes of [100, 300 * KIB]) {
    const { bytes, digest } = blob(sizeBytes, `${sizeBytes}`)
    await put(store, digest, bytes)
    const [key = ''] = (await keysAt(server.port)).filter((name) => name.endsWith(digest.key))
    const left = async (): Promise<number> => Number(await ask(server.port, 'PTTL', key))
    t.ok((await left()) > 90_000 && (await left()) <= 100_000, `${sizeBytes} bytes expire`)
    await ask(server.port, 'PEXPIRE', key, '5000')
    t.ok(await isPresent(store, digest))
    t.ok((await left()) > 90_000, 'and live on when they are found')
    await ask(server.port, 'PEXPIRE', key, '1')
    await until(async () => Number(await ask(server.port, 'EXISTS', key)) === 0)
    t.notOk(await isPresent(store, digest))
    await rejects(t, get(store, digest), 'NOT_FOUND')
  }
})

void t.test('a key lives as long as anybody asked, however much less others ask afterwards', { skip }, async (t) => {
  const server = await startRedis(t)
  const { store } = await openRedisStore(t, [server.address], { key_ttl_s: 100 })
  const forADay = callWith(call, { keepForMs: 86_400_000 })
  for (const sizeBytes of [100, 300 * KIB]) {
    const { bytes, digest } = blob(sizeBytes, `kept ${sizeBytes}`)
    const left = async (): Promise<number> => {
      const [key = ''] = (await keysAt(server.port)).filter((name) => name.endsWith(digest.key))
      return Number(await ask(server.port, 'PTTL', key))
    }
    await put(store, digest, bytes)
    t.same(await missingOf(store, [digest], forADay), [])
    t.ok((await left()) > 86_000_000, 'found')
    t.ok(await isPresent(store, digest))
    t.ok((await left()) > 86_000_000, 'and not for less because another call asks for less')
    await put(store, digest, bytes)
    t.ok((await left()) > 86_000_000, 'nor because it is uploaded again')
    await store.remove(digest, 'unwanted', call)
    await store.put(digest, Blob.ofBytes(bytes), forADay)
    t.ok((await left()) > 86_000_000, 'uploaded')
    const key = digest.asKey()
    await store.put(key, Blob.ofBytes(bytes), forADay)
    await put(store, key, bytes)
    t.ok((await left()) > 86_000_000, 'under a key')
  }
})

void t.test('a missing Redis as the fast tier never fails a call', { skip }, async (t) => {
  const server = await startRedis(t)
  const options = { retry: NO_RETRY, ...PATIENT }
  const fast = (await openRedisStore(t, [server.address], options)).store
  const slow = await memoryStore()
  const tiers = await buildStore(
    fastSlow,
    {
      fast: given,
      slow: given,
      ...tierDefaults,
    },
    { children: { fast, slow } },
  )
  const before = blob(200 * KIB, 'before')
  await put(tiers, before.digest, before.bytes)
  t.ok(await isPresent(fast, before.digest))
  await server.kill()
  await works(t, tiers, 'while it is gone')
  t.ok((await get(tiers, before.digest)).equals(before.bytes), 'what was there is read from the slow one')
})

void t.test(
  'damaged bytes in Redis are never served, and those of a fast tier are fetched again',
  { skip },
  async (t) => {
    const server = await startRedis(t)
    const fast = (await openRedisStore(t, [server.address])).store
    const slow = new Watched(await memoryStore())
    const tiers = await buildStore(
      fastSlow,
      {
        fast: given,
        slow: given,
        ...tierDefaults,
      },
      { children: { fast, slow } },
    )
    const small = blob(1000, 'small')
    const large = blob(900 * KIB, 'large')
    const spoil = async (): Promise<void> => {
      for (const { bytes, digest } of [small, large]) {
        const wrong = Buffer.from(bytes)
        wrong.writeUInt8(wrong.readUInt8(500) ^ 1, 500)
        await fast.remove(digest, 'unwanted', call)
        await put(fast, digest.asKey(), wrong)
      }
    }
    for (const { bytes, digest } of [small, large]) await put(tiers, digest, bytes)

    await spoil()
    for (const { digest } of [small, large]) {
      await rejects(t, get(fast, digest), 'DATA_LOSS')
      t.notOk(await isPresent(fast, digest), 'what was corrupt is taken away')
    }

    await spoil()
    t.ok((await get(tiers, small.digest)).equals(small.bytes), 'a small one within the call')
    t.equal(slow.reads, 1)
    await until(async () => isPresent(fast, small.digest))
    t.ok((await get(fast, small.digest)).equals(small.bytes), 'and it is right in the fast tier again')
    await rejects(t, get(tiers, large.digest), 'DATA_LOSS')
    t.ok(
      (await get(tiers, large.digest)).equals(large.bytes),
      'a large one, of which a part was sent, by the next call',
    )
  },
)

const works = async (t: { ok(value: unknown, name: string): unknown }, store: Store, when: string): Promise<void> => {
  for (const sizeBytes of [100, 300 * KIB]) {
    const { bytes, digest } = blob(sizeBytes, `${when} ${sizeBytes}`)
    await put(store, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes), `${sizeBytes} bytes ${when}`)
  }
}

/** Puts and reads until it is stopped; returns the number of successes, and the codes of failures. */
const traffic = (store: Store, name: string) => {
  let isOver = false
  let worked = 0
  const run = async () => {
    const failures = new Map<number, number>()
    // biome-ignore lint/plugin: traffic until the test stops it
    for (let i = 0; !isOver && i < 20_000; i++) {
      const { bytes, digest } = blob(i % 10 === 0 ? 200 * KIB : 500, `${name} ${i}`)
      try {
        await put(store, digest, bytes)
        if (!(await get(store, digest)).equals(bytes)) throw new Error(`blob ${i} came back wrong`)
        worked += 1
      } catch (error) {
        const { code } = error as { code?: number }
        if (code === undefined) throw error
        failures.set(code, (failures.get(code) ?? 0) + 1)
        await setImmediate()
      }
    }
    return { worked, failures }
  }
  const running = run()
  return {
    untilItWorked: () => until(async () => worked > 0, 'traffic'),
    stop: () => {
      isOver = true
      return running
    },
  }
}

/** NOT_FOUND for blobs lost with the old server, DEADLINE_EXCEEDED and UNAVAILABLE until there is a new one. */
const EXPECTED = [4, 5, 14]

void t.test('sentinels switch the store to another server under load', { skip }, async (t) => {
  const set = await startSentinels(t)
  const options = { mode: 'sentinel', command_timeout_ms: 1500, retry: LASTING, ...PATIENT } as const
  const { store } = await openRedisStore(t, [set.address], options)
  await works(t, store, 'before')
  const use = traffic(store, 'failover')
  await use.untilItWorked()
  await set.master.kill()
  await untilSo(async () => /role:master/.test(String(await ask(set.replica.port, 'INFO', 'replication'))))
  await untilSo(async () => (await store.health(call)).state === 'Ok')
  const { worked, failures } = await use.stop()
  t.ok(worked > 0, `${worked} times it worked`)
  t.ok(
    [...failures.keys()].every((code) => EXPECTED.includes(code)),
    `it failed with ${JSON.stringify([...failures])}`,
  )
  await works(t, store, 'afterwards')
})

void t.test('servers and sentinels have different passwords', { skip }, async (t) => {
  const set = await startSentinels(t, { servers: 'of-the-servers', sentinels: 'of-the-sentinels' })
  const options = { mode: 'sentinel', connection_timeout_ms: 1000, retry: NO_RETRY } as const
  const { store } = await openRedisStore(t, [set.address], { ...options, ...PATIENT })
  await works(t, store, 'with both')
  const { bytes, digest } = blob(100, 'refused')
  for (const [right, wrong] of [
    ['of-the-servers', 'guessed'],
    ['of-the-sentinels', 'guessed'],
  ] as const) {
    const refused = await openRedisStore(t, [set.address.replace(right, wrong)], options)
    // Until a server has answered, the store says only that it has no connection.
    const codeOf = () => put(refused.store, digest, bytes).catch(({ code }) => code)
    await until(async () => (await codeOf()) === Code.UNAUTHENTICATED, `UNAUTHENTICATED instead of ${right}`)
    t.match(await refused.store.health(call), { state: 'Failed' })
  }
})

void t.test('a cluster that loses a node continues with its replica', { skip }, async (t) => {
  const nodes = await startCluster(t, 3, 3)
  const addresses = nodes.map(({ address }) => address)
  const options = { mode: 'cluster', command_timeout_ms: 1500, retry: LASTING, ...PATIENT } as const
  const { store } = await openRedisStore(t, addresses, options)
  const use = traffic(store, 'cluster')
  await use.untilItWorked()
  await nodes[0]?.kill()
  await untilSo(async () => /role:master/.test(String(await ask(nodes[3]?.port ?? 0, 'INFO', 'replication'))))
  const many = Array.from({ length: 60 }, (_, i) => blob(500, `after ${i}`))
  await untilSo(async () => {
    for (const { digest, bytes } of many) await put(store, digest, bytes)
    return true
  })
  const { worked, failures } = await use.stop()
  t.ok(worked > 0, `${worked} times it worked`)
  t.ok(
    [...failures.keys()].every((code) => EXPECTED.includes(code)),
    `it failed with ${JSON.stringify([...failures])}`,
  )
  for (const { digest, bytes } of many) t.ok((await get(store, digest)).equals(bytes))
})
