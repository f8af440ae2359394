/** The effect of single keys of a store on another server. */
import t, { type Test } from 'tap'
import { Code } from '../../../../src/base/status-error.js'
import type { GrpcOptions, ReadBatching } from '../../../../src/config/config.js'
import { untilSo } from '../../../until.js'
import { bytesOf, call, digestOf, get, put } from '../../blobs.js'
import { startFullHost } from '../../remote/full-host.js'
import { TcpProxy } from '../../remote/proxy.js'
import { endpoint, openGrpcStore, type Remexec, startRemexec } from './remexec.js'
import { startSilent, turns } from './silent-server.js'

// These tests wait for timers and programs, most of them for seconds: side by side they take as long as the longest.
t.jobs = 4

let shared: Promise<Remexec> | undefined
const sharedServer = (): Promise<Remexec> => {
  shared ??= startRemexec(t)
  return shared
}

const PLAIN = { experimental_remote_cache_compression: false } as const

/** The calls in flight at the same time while blobs of these sizes are read. */
const callsFor = async (t: Test, batching: Partial<ReadBatching>, sizes: readonly number[]) => {
  const silent = await startSilent(t)
  const defaults = { max_blob_size_bytes: 10_000, max_batch_bytes: 100_000, dispatch_slots: 4, max_queued_bytes: 1e6 }
  const experimental_read_batching = { ...defaults, ...batching }
  const endpoints = [endpoint(silent.port)]
  const { store, close } = await openGrpcStore(t, { endpoints, experimental_read_batching, ...PLAIN })
  const reading = sizes.map((sizeBytes, at) => get(store, digestOf(bytesOf(sizeBytes, `${at}`))).catch(() => {}))
  await untilSo(async () => silent.asked.length > 0)
  await turns()
  const asked = [...silent.asked]
  let isOver = false
  const all = Promise.all(reading).then(() => {
    isOver = true
  })
  await untilSo(async () => {
    silent.answer()
    return isOver
  })
  await all
  await close()
  return asked
}

void t.test('experimental_read_batching: each of its keys', async (t) => {
  const [batch, single] = ['BatchReadBlobs', 'Read']
  t.same(await callsFor(t, { max_blob_size_bytes: 1000 }, [1000]), [batch])
  t.same(await callsFor(t, { max_blob_size_bytes: 1000 }, [1001]), [single])
  t.same(await callsFor(t, { max_batch_bytes: 3000 }, [1000, 1000]), [batch])
  t.same(await callsFor(t, { max_batch_bytes: 2000 }, [1000, 1000]), [batch, batch])
  t.same(await callsFor(t, { max_batch_bytes: 1, dispatch_slots: 2 }, [1000, 1000, 1000]), [batch, batch])
  t.same(await callsFor(t, { max_batch_bytes: 1, dispatch_slots: 3 }, [1000, 1000, 1000]), [batch, batch, batch])
  t.same(await callsFor(t, { max_queued_bytes: 999 }, [1000]), [single])
  t.same((await callsFor(t, { max_queued_bytes: 1500 }, [1000, 1000])).sort(), [batch, single])
})

void t.test('connections_per_endpoint', async (t) => {
  const { port } = await sharedServer()
  for (const connections_per_endpoint of [1, 3]) {
    const proxy = await TcpProxy.start(t, port)
    const { store } = await openGrpcStore(t, { endpoints: [endpoint(proxy.port)], connections_per_endpoint })
    let count = 0
    const use = async (): Promise<boolean> => {
      const bytes = bytesOf(100, `connections ${count++}`)
      await put(store, digestOf(bytes), bytes)
      return count > 6 && proxy.connections === connections_per_endpoint
    }
    await untilSo(use)
    t.pass(`${connections_per_endpoint}, though one call came after the other`)
    proxy.cut()
    await untilSo(use)
    t.pass('and again when they were lost')
  }
})

void t.test('instance_name', async (t) => {
  const { port } = await sharedServer()
  const { store } = await openGrpcStore(t, { endpoints: [endpoint(port)], instance_name: 'another' })
  const bytes = bytesOf(100)
  await t.rejects(put(store, digestOf(bytes), bytes), { code: Code.INVALID_ARGUMENT, message: /another/ })
})

void t.test('connect_timeout_s', async (t) => {
  const port = await startFullHost(t)
  const { store } = await openGrpcStore(t, { endpoints: [{ ...endpoint(port), connect_timeout_s: 1 }] })
  const expected = { code: Code.UNAVAILABLE, message: /no connection after 1000 ms/ }
  await t.rejects(get(store, digestOf(bytesOf(10))), expected)
})

/** Which of two timers fires first; the one with the longer time was started first. */
const firstOf = (longer: Promise<unknown>, shorter: Promise<unknown>): Promise<string> =>
  Promise.race([longer.then(() => 'the longer one'), shorter.then(() => 'the shorter one')])

void t.test('http2_keepalive_interval_s', async (t) => {
  const pinged = async (http2_keepalive_interval_s: number): Promise<() => Promise<void>> => {
    const silent = await startSilent(t)
    const endpoints = [{ ...endpoint(silent.port), http2_keepalive_interval_s }]
    const { store } = await openGrpcStore(t, { endpoints, ...PLAIN })
    const reading = get(store, digestOf(bytesOf(300_000))).catch(() => {})
    await untilSo(async () => silent.asked.length > 0)
    t.teardown(() => {
      silent.answer()
      return reading
    })
    return () => untilSo(async () => silent.pings() > 0)
  }
  const longer = (await pinged(2))()
  const shorter = (await pinged(1))()
  t.equal(await firstOf(longer, shorter), 'the shorter one')
  await longer
})

void t.test('http2_keepalive_timeout_s', async (t) => {
  const { port } = await sharedServer()
  const lost = async (http2_keepalive_timeout_s: number): Promise<unknown> => {
    const proxy = await TcpProxy.start(t, port)
    const times: Partial<GrpcOptions['endpoints'][number]> = { http2_keepalive_interval_s: 1, connect_timeout_s: 1 }
    const endpoints = [{ ...endpoint(proxy.port), ...times, http2_keepalive_timeout_s }]
    const { store } = await openGrpcStore(t, { endpoints, ...PLAIN })
    t.match(await store.health(call), { state: 'Ok' })
    proxy.isStalled = true
    t.teardown(() => {
      proxy.isStalled = false
    })
    return t.rejects(get(store, digestOf(bytesOf(300_000))), { code: Code.UNAVAILABLE })
  }
  const longer = lost(3)
  t.equal(await firstOf(longer, lost(1)), 'the shorter one')
  await longer
})
